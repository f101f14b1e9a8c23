"""The seam between recording and asking: one immutable snapshot of a recording, in columns.

Both cores, every importer and the scale-out path produce a `Snapshot`; trees, models, reports and files only read it.
Nothing here needs numpy: columns are any object with the buffer protocol (`array.array` here, numpy arrays after a
merge). `tree` turns them into numpy arrays when a question is asked.

Layout (all ids are row numbers of the table they point into)

    operations    names, by operation id; `OTHER_NAME` where operations were over their limit
    stacks        calling-context tree by path: parent stack (-1: a root) and operation; a parent comes before its children
    shapes        dynamic call trees, hash-consed: operation, ending, and edges to child shapes in order (synchronous
                  ones in call order, then asynchronous ones in structural order). An edge says whether the child is
                  asynchronous and how often it repeats, (low, high): with loops="exact" one edge (1, 1) for each
                  execution, with loops="bucketed" one edge for a run of equal siblings: (1, 1), (2, 3), (4, 7), ...
                  A child shape comes before its parents. One edge is one position of the preorder.
    leaves        one row per leaf context: every completed execution is counted in exactly one
    classes       one row per trace class kept, with two exemplars
    loads         per operation and bucket of traces open at entry: a histogram of response times

Keys of a leaf: `operation`, `caller` (operation id; -1 for a root, -2 not kept), `stack` (stack id; -2 not kept),
`subtree` (shape id; -2 not kept), `trace` (shape id of the whole trace; -2 not kept), `position` (preorder index in it;
-2 where trace is not kept). Where a key is not kept, every finer one is not kept either, and `reason` says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tracectx.core.keys import ENDINGS, FORMAT_VERSION, NOT_KEPT, OTHER_NAME, PRECISION_BITS, REASONS, ROOT

__all__ = [
    "ENDINGS",
    "FORMAT_VERSION",
    "NOT_KEPT",
    "OTHER_NAME",
    "PRECISION_BITS",
    "REASONS",
    "ROOT",
    "ClassColumns",
    "Column",
    "ExemplarColumns",
    "HistogramColumns",
    "LeafColumns",
    "LoadColumns",
    "RecordingInfo",
    "ShapeColumns",
    "Snapshot",
    "StackColumns",
    "SummaryColumns",
]

Column: TypeAlias = "Sequence[int]"
"""Integers of one kind, with the buffer protocol."""


@dataclass(frozen=True, slots=True)
class HistogramColumns:
    """Sparse histograms of many rows, in compressed rows.

    Row i holds `bucket[start[i]:start[i + 1]]` (ascending) with the counts beside. Buckets are those of
    `tracectx.stats.histogram`.
    """

    start: Column
    bucket: Column
    count: Column


@dataclass(frozen=True, slots=True)
class SummaryColumns:
    """Exact sums and histogram of one time (response or self) per leaf, in nanoseconds.

    128-bit sums are two unsigned 64-bit words, low and high. The count is the leaf's.
    """

    sum_low: Column
    sum_high: Column
    square_low: Column
    square_high: Column
    minimum: Column
    maximum: Column
    histogram: HistogramColumns


@dataclass(frozen=True, slots=True)
class StackColumns:
    parent: Column
    operation: Column


@dataclass(frozen=True, slots=True)
class ShapeColumns:
    """`operation` is -1 for a trace of several roots (only foreign logs have them)."""

    operation: Column
    ending: Column
    edge_start: Column  # len(shapes) + 1
    edge_child: Column
    edge_async: Column
    edge_low: Column
    edge_high: Column


@dataclass(frozen=True, slots=True)
class LeafColumns:
    operation: Column
    caller: Column
    stack: Column
    subtree: Column
    trace: Column
    position: Column
    reason: Column
    since_ns: Column  # Unix time from which an admitted context counts; 0: from the start
    count: Column
    endings: tuple[Column, Column, Column, Column, Column]  # as ENDINGS
    resumptions: Column
    suspended_ns: Column
    outermost_total_ns: Column
    first_start_ns: Column  # Unix time of the first observation
    first_response_ns: Column
    first_self_ns: Column
    response: SummaryColumns
    self_time: SummaryColumns


@dataclass(frozen=True, slots=True)
class ExemplarColumns:
    """One trace per class. Times are response times per position, summed over the executions at that position."""

    started_at_ns: Column  # Unix time
    trace_id: Sequence[str]  # 32 hexadecimal digits, unique across recordings
    time_start: Column  # len(classes) + 1
    time_ns: Column


@dataclass(frozen=True, slots=True)
class ClassColumns:
    """`slowest`: largest response time of the root, then smallest (start, id). `sample`: smallest `sample_priority` of its
    trace id (`tracectx.stats.mixing`), which makes a uniform choice that merges in any order."""

    shape: Column
    count: Column
    slowest: ExemplarColumns
    sample: ExemplarColumns


@dataclass(frozen=True, slots=True)
class LoadColumns:
    operation: Column
    bucket: Column  # floor(log2(traces open at entry, its own included))
    histogram: HistogramColumns


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """What a snapshot is of. Merging keeps sets sorted and sums counters."""

    recordings: tuple[str, ...]  # ids of the recordings merged, 16 hexadecimal digits each, sorted
    clock: str
    tick_ns: int
    loops: str
    precision_bits: int
    started_at_ns: int  # Unix time
    taken_at_ns: int
    cores: tuple[str, ...]
    pythons: tuple[str, ...]
    attachments: tuple[str, ...]
    probe_cost_ns: int
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    info: RecordingInfo
    operations: tuple[str, ...]
    components: tuple[str, ...]  # of each operation
    stacks: StackColumns
    shapes: ShapeColumns
    leaves: LeafColumns
    classes: ClassColumns
    loads: LoadColumns
