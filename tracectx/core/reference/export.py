"""From the table to a `Snapshot`: the columns of what is folded, with what open traces have completed so far on top.

Runs under the consumer's lock and only reads; the columns share nothing with the table.
"""

from __future__ import annotations

import platform
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tracectx.core.reference.contexts import Exemplar, StackNode, TraceClass
from tracectx.core.reference.nodes import OPEN
from tracectx.core.reference.recordings import RecordingFold, tree_of
from tracectx.core.reference.shapes import Shape
from tracectx.core.reference.summary import Leaf, Summary
from tracectx.core.reference.table import OPEN_TRACE, ContextTable
from tracectx.core.snapshot import (
    NOT_KEPT,
    PRECISION_BITS,
    ROOT,
    ClassColumns,
    ExemplarColumns,
    HistogramColumns,
    LeafColumns,
    LoadColumns,
    RecordingInfo,
    ShapeColumns,
    Snapshot,
    StackColumns,
    SummaryColumns,
)
from tracectx.stats.mixing import MASK_64


@dataclass(frozen=True, slots=True)
class LeafRow:
    """A leaf with its keys, as objects."""

    operation: int
    caller: int
    stack: StackNode | None
    subtree: Shape | None
    trace: Shape | None
    position: int
    reason: int
    leaf: Leaf


def export(recording: RecordingFold, counters: dict[str, int], attachment: str, probe_cost_ns: int) -> Snapshot:
    """Everything that the recording knows now."""
    table = recording.table
    rows = [row for row in _rows(table) if row.leaf.count]
    open_rows, open_loads = _open(recording)
    rows += open_rows
    shapes = _ShapeIds(rows, table.classes)
    offset = recording.setup.wall_offset_ns
    return Snapshot(
        info=_info(recording, counters, attachment, probe_cost_ns),
        operations=tuple(recording.operations.names),
        components=tuple(recording.operations.components),
        stacks=StackColumns(
            array("i", [node.parent.id if node.parent is not None else ROOT for node in table.stacks]),
            array("i", [node.operation for node in table.stacks]),
        ),
        shapes=shapes.columns(),
        leaves=_leaf_columns(rows, shapes, offset),
        classes=_class_columns(list(table.classes.values()), shapes, recording),
        loads=_load_columns(table, open_loads),
    )


def _info(recording: RecordingFold, counters: dict[str, int], attachment: str, probe_cost_ns: int) -> RecordingInfo:
    setup = recording.setup
    return RecordingInfo(
        recordings=(f"{setup.id:016x}",),
        clock=setup.clock.name,
        tick_ns=setup.clock.tick_ns,
        loops=setup.loops,
        precision_bits=PRECISION_BITS,
        started_at_ns=setup.started_at_ns,
        taken_at_ns=recording.handle.clock_read() + setup.wall_offset_ns,
        cores=("python",),
        pythons=(platform.python_version(),),
        attachments=(attachment,),
        probe_cost_ns=probe_cost_ns,
        counters=counters,
    )


def _rows(table: ContextTable) -> Iterator[LeafRow]:
    for (operation, caller, reason), leaf in table.by_caller.items():
        yield LeafRow(operation, caller, None, None, None, NOT_KEPT, reason, leaf)
    for (stack, reason), leaf in table.by_stack.items():
        yield _row(stack, None, reason, leaf)
    for context in table.subtrees.values():
        for reason, leaf in context.others.items():
            yield _row(context.stack, context.shape, reason, leaf)
    for kept in table.classes.values():
        for position, (kept_leaf, above) in enumerate(zip(kept.leaves, kept.contexts, strict=True)):
            if kept_leaf is not None and above is not None:
                stack = above.stack
                caller = _caller(stack)
                yield LeafRow(stack.operation, caller, stack, above.shape, kept.shape, position, 0, kept_leaf)


def _row(stack: StackNode, subtree: Shape | None, reason: int, leaf: Leaf) -> LeafRow:
    return LeafRow(stack.operation, _caller(stack), stack, subtree, None, NOT_KEPT, reason, leaf)


def _caller(stack: StackNode) -> int:
    return stack.parent.operation if stack.parent is not None else ROOT


def _open(recording: RecordingFold) -> tuple[list[LeafRow], dict[tuple[int, int], Summary]]:
    """What open traces have completed: as deep as it is known, and at trace level marked open."""
    leaves: dict[tuple[StackNode | tuple[int, int], Shape | None], Leaf] = {}
    loads: dict[tuple[int, int], Summary] = {}
    for trace in recording.open_traces.values():
        if trace.root is None or trace.table is not recording.table:
            continue
        for node in tree_of(trace.root):
            folded = trace.reason and node.live == 0
            if node.ending != OPEN and not folded:
                key = node.stack if node.stack.kept else (node.operation, _caller(node.stack))
                shape = node.shape if node.live == 0 and node.stack.kept else None
                leaves.setdefault((key, shape), Leaf()).add(node)
                loads.setdefault((node.operation, node.load.bit_length() - 1), Summary()).add(node.response_ns)
    rows = []
    for (key, shape), leaf in leaves.items():
        if isinstance(key, StackNode):
            rows.append(_row(key, shape, OPEN_TRACE, leaf))
        else:
            rows.append(LeafRow(*key, None, None, None, NOT_KEPT, OPEN_TRACE, leaf))
    return rows, loads


class _ShapeIds:
    """Numbers the shapes that rows refer to, children first."""

    def __init__(self, rows: Iterable[LeafRow], classes: Iterable[Shape]) -> None:
        self._ids: dict[Shape, int] = {}
        self._shapes: list[Shape] = []
        for row in rows:
            for shape in (row.subtree, row.trace):
                if shape is not None:
                    self._number(shape)
        for shape in classes:
            self._number(shape)

    def id(self, shape: Shape | None) -> int:
        return NOT_KEPT if shape is None else self._ids[shape]

    def _number(self, shape: Shape) -> None:
        pending = [shape]
        while pending:
            last = pending[-1]
            if last in self._ids:
                pending.pop()
                continue
            missing = [edge.shape for edge in last.edges if edge.shape not in self._ids]
            if missing:
                pending.extend(missing)
            else:
                self._ids[last] = len(self._shapes)
                self._shapes.append(last)
                pending.pop()

    def columns(self) -> ShapeColumns:
        edges = [edge for shape in self._shapes for edge in shape.edges]
        return ShapeColumns(
            operation=array("i", [shape.operation for shape in self._shapes]),
            ending=array("b", [shape.ending for shape in self._shapes]),
            edge_start=_starts(len(shape.edges) for shape in self._shapes),
            edge_child=array("i", [self._ids[edge.shape] for edge in edges]),
            edge_async=array("b", [edge.is_async for edge in edges]),
            edge_low=array("q", [edge.low for edge in edges]),
            edge_high=array("q", [edge.high for edge in edges]),
        )


def _starts(lengths: Iterable[int]) -> array[int]:
    starts = array("q", [0])
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts


def _leaf_columns(rows: list[LeafRow], shapes: _ShapeIds, offset: int) -> LeafColumns:
    leaves = [row.leaf for row in rows]
    first = [leaf.first or (0, 0, 0) for leaf in leaves]
    endings = [array("q", [leaf.endings[kind] for leaf in leaves]) for kind in range(5)]
    return LeafColumns(
        operation=array("i", [row.operation for row in rows]),
        caller=array("i", [row.caller for row in rows]),
        stack=array("i", [row.stack.id if row.stack is not None else NOT_KEPT for row in rows]),
        subtree=array("i", [shapes.id(row.subtree) for row in rows]),
        trace=array("i", [shapes.id(row.trace) for row in rows]),
        position=array("i", [row.position for row in rows]),
        reason=array("b", [row.reason for row in rows]),
        since_ns=array("q", [leaf.since_ns + offset if leaf.since_ns else 0 for leaf in leaves]),
        count=array("q", [leaf.count for leaf in leaves]),
        endings=(endings[0], endings[1], endings[2], endings[3], endings[4]),
        resumptions=array("q", [leaf.resumptions for leaf in leaves]),
        suspended_ns=array("q", [leaf.suspended_ns for leaf in leaves]),
        outermost_total_ns=array("q", [leaf.outermost_ns for leaf in leaves]),
        first_start_ns=array("q", [start + offset for start, _, _ in first]),
        first_response_ns=array("q", [response for _, response, _ in first]),
        first_self_ns=array("q", [self_ns for _, _, self_ns in first]),
        response=_summary_columns([leaf.response for leaf in leaves]),
        self_time=_summary_columns([leaf.self_time for leaf in leaves]),
    )


def _summary_columns(summaries: list[Summary]) -> SummaryColumns:
    for summary in summaries:
        summary.settle()
    return SummaryColumns(
        sum_low=array("Q", [summary.total & MASK_64 for summary in summaries]),
        sum_high=array("Q", [summary.total >> 64 for summary in summaries]),
        square_low=array("Q", [summary.squares & MASK_64 for summary in summaries]),
        square_high=array("Q", [summary.squares >> 64 & MASK_64 for summary in summaries]),
        minimum=array("q", [max(0, summary.minimum) for summary in summaries]),
        maximum=array("q", [summary.maximum for summary in summaries]),
        histogram=_histogram_columns(summaries),
    )


def _histogram_columns(summaries: list[Summary]) -> HistogramColumns:
    buckets, counts = array("i"), array("q")
    for summary in summaries:
        for bucket in sorted(summary.settle().histogram):
            buckets.append(bucket)
            counts.append(summary.histogram[bucket])
    return HistogramColumns(_starts(len(summary.histogram) for summary in summaries), buckets, counts)


def _class_columns(classes: list[TraceClass], shapes: _ShapeIds, recording: RecordingFold) -> ClassColumns:
    kept = [(c, c.slowest, c.sample) for c in classes if c.slowest is not None and c.sample is not None]
    return ClassColumns(
        shape=array("i", [shapes.id(c.shape) for c, _, _ in kept]),
        count=array("q", [c.count for c, _, _ in kept]),
        slowest=_exemplar_columns([slowest for _, slowest, _ in kept if slowest is not None], recording),
        sample=_exemplar_columns([sample for _, _, sample in kept if sample is not None], recording),
    )


def _exemplar_columns(exemplars: list[Exemplar], recording: RecordingFold) -> ExemplarColumns:
    times = array("q")
    for exemplar in exemplars:
        times.extend(exemplar.times_ns)
    return ExemplarColumns(
        started_at_ns=array("q", [exemplar.start_ns + recording.setup.wall_offset_ns for exemplar in exemplars]),
        trace_id=[f"{recording.setup.id:016x}{exemplar.number:016x}" for exemplar in exemplars],
        time_start=_starts(len(exemplar.times_ns) for exemplar in exemplars),
        time_ns=times,
    )


def _load_columns(table: ContextTable, open_loads: dict[tuple[int, int], Summary]) -> LoadColumns:
    loads = dict(table.loads)
    for key, summary in open_loads.items():
        both = Summary()
        both.merge(summary)
        if key in loads:
            both.merge(loads[key])
        loads[key] = both
    keys = sorted(loads)
    return LoadColumns(
        operation=array("i", [operation for operation, _ in keys]),
        bucket=array("i", [bucket for _, bucket in keys]),
        histogram=_histogram_columns([loads[key] for key in keys]),
    )
