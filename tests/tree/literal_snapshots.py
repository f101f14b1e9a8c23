"""Snapshots from literal leaves, summed by a few lines of plain Python: what the code under test is compared with."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tracectx.core.snapshot import (
    ENDINGS,
    NOT_KEPT,
    REASONS,
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
from tracectx.stats.histogram import bucket_of
from tracectx.tree.call_tree import CallTree, call_tree

LEVELS = ("operation", "caller", "stack", "subtree", "trace")
INFO = RecordingInfo(
    recordings=("00000000000000aa",),
    clock="manual",
    tick_ns=1,
    loops="exact",
    precision_bits=6,
    started_at_ns=1_000,
    taken_at_ns=9_000,
    cores=("python",),
    pythons=("3.13.0",),
    attachments=("monitoring",),
    probe_cost_ns=50,
    counters={},
)


@dataclass(frozen=True)
class Leaf:
    """One leaf: `path` is its stack, `A B C`; `keeps` the finest level whose key it has."""

    path: str
    times: tuple[int, ...]
    self_times: tuple[int, ...] | None = None
    subtree: str = ""
    trace: str = ""
    position: int = 0
    keeps: str = "trace"
    reason: str = ""
    since_ns: int = 0
    first_start_ns: int = 2_000
    ending: str = "returned"
    resumptions: int = 0
    suspended_ns: int = 0
    outermost: bool | None = None  # None: as the path says


@dataclass(frozen=True)
class Kept:
    """One trace class with the start, id and times of its exemplars."""

    shape: str
    count: int
    slowest: tuple[int, str, tuple[int, ...]]
    sample: tuple[int, str, tuple[int, ...]]


def leaves_of(trace: str, times: Sequence[Sequence[int]], **keys: object) -> list[Leaf]:
    """The leaves of some traces of one shape; `times`: for each trace the response times in preorder, self times alike."""
    root = call_tree(trace)
    paths = _paths(root)
    return [
        replace(
            Leaf(
                path,
                tuple(own[position] for own in times),
                subtree=_as_root(node).literal(),
                trace=trace,
                position=position,
            ),
            **keys,  # type: ignore[arg-type]  # fields of Leaf, each of its own type
        )
        for position, (node, path) in enumerate(zip(root.walk(), paths, strict=True))
    ]


def snapshot_of(
    leaves: Iterable[Leaf],
    classes: Iterable[Kept] = (),
    loads: dict[tuple[str, int], tuple[int, ...]] | None = None,
    info: RecordingInfo = INFO,
) -> Snapshot:
    """The columns of some leaves, in the order and with the ids in which they come."""
    tables = _Tables()
    leaves, classes, loads = list(leaves), list(classes), loads or {}
    keys = [tables.keys(leaf) for leaf in leaves]
    shapes = [tables.shape(call_tree(kept.shape)) for kept in classes]
    load_operations = [tables.operation(name) for name, _ in loads]
    return Snapshot(
        info=info,
        operations=tuple(tables.operations),
        components=tuple(name.rpartition(".")[0] for name in tables.operations),
        stacks=StackColumns(
            array("i", [parent for parent, _ in tables.stacks]), array("i", [operation for _, operation in tables.stacks])
        ),
        shapes=tables.shape_columns(),
        leaves=_leaf_columns(leaves, keys, info.precision_bits),
        classes=ClassColumns(
            array("i", shapes),
            array("q", [kept.count for kept in classes]),
            _exemplars([kept.slowest for kept in classes]),
            _exemplars([kept.sample for kept in classes]),
        ),
        loads=LoadColumns(
            array("i", load_operations),
            array("i", [bucket for _, bucket in loads]),
            _histograms(list(loads.values()), info.precision_bits),
        ),
    )


def trace_id(number: int) -> str:
    return f"{0xAA:016x}{number:016x}"


def _as_root(node: CallTree) -> CallTree:
    return CallTree(node.operation, node.children, ending=node.ending)


def _paths(root: CallTree) -> list[str]:
    paths, pending = [], [(root, "")]
    while pending:
        node, above = pending.pop()
        path = f"{above} {node.operation}".strip()
        paths.append(path)
        pending.extend((child, path) for child in reversed(node.children))
    return paths


class _Tables:
    """Ids of operations, stacks and shapes, first come, first numbered."""

    def __init__(self) -> None:
        self.operations: dict[str, int] = {}
        self.stacks: dict[tuple[int, int], int] = {}
        self.shapes: dict[CallTree, int] = {}

    def operation(self, name: str) -> int:
        return self.operations.setdefault(name, len(self.operations))

    def stack(self, path: Sequence[str]) -> int:
        stack = ROOT
        for name in path:
            stack = self.stacks.setdefault((stack, self.operation(name)), len(self.stacks))
        return stack

    def shape(self, tree: CallTree) -> int:
        tree = _as_root(tree)
        if tree not in self.shapes:
            self.operation(tree.operation or "")
            for child in tree.children:
                self.shape(child)
            self.shapes[tree] = len(self.shapes)
        return self.shapes[tree]

    def keys(self, leaf: Leaf) -> tuple[int, ...]:
        path = leaf.path.split(" ")
        operation, caller = self.operation(path[-1]), self.operation(path[-2]) if len(path) > 1 else ROOT
        kept = LEVELS.index(leaf.keeps)
        return (
            operation,
            caller if kept >= 1 else NOT_KEPT,
            self.stack(path) if kept >= 2 else NOT_KEPT,
            self.shape(call_tree(leaf.subtree)) if kept >= 3 else NOT_KEPT,
            self.shape(call_tree(leaf.trace)) if kept >= 4 else NOT_KEPT,
            leaf.position if kept >= 4 else NOT_KEPT,
            REASONS.index(leaf.reason),
        )

    def shape_columns(self) -> ShapeColumns:
        edges = [edge for tree in self.shapes for edge in tree.children]
        return ShapeColumns(
            operation=array("i", [self.operations[tree.operation or ""] for tree in self.shapes]),
            ending=array("b", [ENDINGS.index(tree.ending) for tree in self.shapes]),
            edge_start=_starts([len(tree.children) for tree in self.shapes]),
            edge_child=array("i", [self.shapes[_as_root(edge)] for edge in edges]),
            edge_async=array("b", [edge.is_async for edge in edges]),
            edge_low=array("q", [edge.repeat[0] for edge in edges]),
            edge_high=array("q", [edge.repeat[1] for edge in edges]),
        )


def _leaf_columns(leaves: Sequence[Leaf], keys: Sequence[tuple[int, ...]], bits: int) -> LeafColumns:
    operation, caller, stack, subtree, trace, position, reason = (
        array("q", [key[index] for key in keys]) for index in range(7)
    )
    endings = [array("q", [len(leaf.times) * (leaf.ending == kind) for leaf in leaves]) for kind in ENDINGS]
    self_times = [leaf.times if leaf.self_times is None else leaf.self_times for leaf in leaves]
    return LeafColumns(
        operation=operation,
        caller=caller,
        stack=stack,
        subtree=subtree,
        trace=trace,
        position=position,
        reason=reason,
        since_ns=array("q", [leaf.since_ns for leaf in leaves]),
        count=array("q", [len(leaf.times) for leaf in leaves]),
        endings=(endings[0], endings[1], endings[2], endings[3], endings[4]),
        resumptions=array("q", [leaf.resumptions for leaf in leaves]),
        suspended_ns=array("q", [leaf.suspended_ns for leaf in leaves]),
        outermost_total_ns=array("q", [_outermost(leaf) for leaf in leaves]),
        first_start_ns=array("q", [leaf.first_start_ns for leaf in leaves]),
        first_response_ns=array("q", [leaf.times[0] if leaf.times else 0 for leaf in leaves]),
        first_self_ns=array("q", [own[0] if own else 0 for own in self_times]),
        response=_summaries([leaf.times for leaf in leaves], bits),
        self_time=_summaries(self_times, bits),
    )


def _outermost(leaf: Leaf) -> int:
    *above, own = leaf.path.split(" ")
    return sum(leaf.times) if (own not in above if leaf.outermost is None else leaf.outermost) else 0


def _summaries(times: Sequence[Sequence[int]], bits: int) -> SummaryColumns:
    sums, squares = [sum(own) for own in times], [sum(time * time for time in own) for own in times]
    word = (1 << 64) - 1
    return SummaryColumns(
        sum_low=array("Q", [total & word for total in sums]),
        sum_high=array("Q", [total >> 64 for total in sums]),
        square_low=array("Q", [total & word for total in squares]),
        square_high=array("Q", [total >> 64 for total in squares]),
        minimum=array("q", [min(own, default=0) for own in times]),
        maximum=array("q", [max(own, default=0) for own in times]),
        histogram=_histograms(times, bits),
    )


def _histograms(times: Sequence[Sequence[int]], bits: int) -> HistogramColumns:
    counts = [sorted(Counter(bucket_of(time, bits) for time in own).items()) for own in times]
    return HistogramColumns(
        _starts([len(row) for row in counts]),
        array("i", [bucket for row in counts for bucket, _ in row]),
        array("q", [number for row in counts for _, number in row]),
    )


def _exemplars(exemplars: Sequence[tuple[int, str, tuple[int, ...]]]) -> ExemplarColumns:
    return ExemplarColumns(
        started_at_ns=array("q", [start for start, _, _ in exemplars]),
        trace_id=[id for _, id, _ in exemplars],
        time_start=_starts([len(times) for _, _, times in exemplars]),
        time_ns=array("q", [time for _, _, times in exemplars for time in times]),
    )


def _starts(lengths: Sequence[int]) -> array[int]:
    starts = array("q", [0])
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts
