"""Generated recordings: traces of a few shapes with random times, and where each of them is kept.

What the tree layer must find is computed here from the executions one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.tree.literal_snapshots import INFO, LEVELS, Kept, Leaf, leaves_of, snapshot_of, trace_id
from tracectx.core.snapshot import RecordingInfo, Snapshot
from tracectx.stats.mixing import sample_priority
from tracectx.tree.call_tree import call_tree
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

SHAPES = (
    "a",
    "a!",
    "a(b)",
    "a(b, b)",
    "a(b*2-3, ~c)",
    "b(a(b))",
    "b(a(b!), ~a)",
    'c("(other)", b(c))',  # an operation that was over the limit
)
TIMES = st.integers(0, 300) | st.integers(0, 1 << 57)  # four years: sums of outermost times stay below 2^63


@dataclass(frozen=True)
class Trace:
    """One trace and where its executions are kept: `keeps` as in `Leaf`, with reason and since when."""

    number: int
    shape: str
    times: tuple[int, ...]
    keeps: str = "trace"
    reason: str = ""
    since_ns: int = 0


@st.composite
def traces(draw: st.DrawFn, numbers_from: int = 1, largest: int = 8) -> list[Trace]:
    """Some traces, all of a shape kept alike."""
    kept: dict[str, tuple[str, str]] = {}
    found = []
    for number in range(draw(st.integers(0, largest))):
        shape = draw(st.sampled_from(SHAPES))
        if shape not in kept:
            keeps = draw(st.sampled_from(("trace", "trace", "subtree", "stack", "caller", "operation")))
            kept[shape] = keeps, "" if keeps == "trace" else draw(st.sampled_from(("limit", "late", "truncated")))
        times = tuple(draw(st.lists(TIMES, min_size=(size := len(call_tree(shape))), max_size=size)))
        found.append(Trace(numbers_from + number, shape, times, *kept[shape]))
    return found


def snapshot_of_traces(some: Iterable[Trace], info: RecordingInfo = INFO) -> Snapshot:
    """Their snapshot: one leaf for each set of keys."""
    some = list(some)
    times: dict[Leaf, list[tuple[int, int]]] = defaultdict(list)
    for trace in some:
        for leaf, own in _kept_leaves(trace):
            times[leaf].append((trace.number, own))
    leaves = [
        replace(leaf, times=tuple(time for _, time in sorted(own)), first_start_ns=min(own)[0]) for leaf, own in times.items()
    ]
    loads: dict[tuple[str, int], tuple[int, ...]] = {}
    for leaf in leaves:
        key = (leaf.path.split(" ")[-1], 0)
        loads[key] = loads.get(key, ()) + leaf.times
    counters = {"traces": len(some), "recorded": sum(map(len, loads.values()))}
    return snapshot_of(leaves, _classes(some), loads, replace(info, counters=counters))


def tree_of_traces(some: Iterable[Trace], info: RecordingInfo = INFO) -> CallingContextTree:
    return CallingContextTree(snapshot_of_traces(some, info))


def executions(some: Iterable[Trace], level: str) -> dict[tuple[object, ...], list[int]]:
    """The response times of all executions, by the keys that a context of a level has (`keys_of_context`)."""
    found: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for trace in some:
        for leaf, own in _kept_leaves(trace):
            found[_keys(leaf, level)].append(own)
    return found


def keys_of_contexts(tree: CallingContextTree, level: str) -> dict[tuple[object, ...], list[int]]:
    """Count, sum, sum of squares, minimum and maximum of each context of a level, by the same keys."""
    found: dict[tuple[object, ...], list[int]] = {}
    for context in tree.contexts(level=level):
        own = context.parent.shape if level == "trace" and context.parent is not None else None
        keys = (context.caller, context.stack, own, context.shape, context.position)
        key = (context.operation, _levels_known(context), *keys, context.other_reason)
        model = context.response_time
        assert key not in found
        found[key] = [context.count, model.total_ns, model.squares_ns, model.min_ns, model.max_ns]
    return found


def figures(times: Sequence[int]) -> list[int]:
    return [len(times), sum(times), sum(time * time for time in times), min(times), max(times)]


def _levels_known(context: Context) -> int:
    known = 0
    above: Context | None = context
    while above is not None:
        known += not above.is_other
        above = above.parent
    return known


def _kept_leaves(trace: Trace) -> list[tuple[Leaf, int]]:
    found = []
    for leaf in leaves_of(trace.shape, [trace.times]):
        kept = LEVELS.index(trace.keeps)
        plain = replace(
            leaf,
            times=(),
            keeps=trace.keeps,
            reason=trace.reason,
            since_ns=trace.since_ns,
            subtree=leaf.subtree if kept >= 3 else "",
            trace=leaf.trace if kept >= 4 else "",
            position=leaf.position if kept >= 4 else 0,
            outermost=leaf.path.split(" ").count(leaf.path.split(" ")[-1]) == 1,
        )
        found.append((_without_unkept_path(plain, kept), leaf.times[0]))
    return found


def _without_unkept_path(leaf: Leaf, kept: int) -> Leaf:
    path = leaf.path.split(" ")
    return replace(leaf, path=" ".join(path[-1:] if kept == 0 else path[-2:] if kept == 1 else path))


def _keys(leaf: Leaf, level: str) -> tuple[object, ...]:
    path = tuple(leaf.path.split(" "))
    depth, kept = LEVELS.index(level), LEVELS.index(leaf.keeps)
    shape = {3: leaf.subtree, 4: leaf.trace}.get(depth, "") if kept >= depth else ""
    return (
        path[-1],
        min(kept, depth) + 1,
        path[-2] if len(path) > 1 and kept >= 1 and depth >= 1 else None,
        path if kept >= 2 and depth >= 2 else None,
        call_tree(leaf.subtree) if kept >= 3 and depth == 4 else None,
        call_tree(shape) if shape else None,
        (leaf.position if depth == 4 else 0) if shape else None,
        leaf.reason if kept < depth else None,
    )


def _classes(some: Iterable[Trace]) -> list[Kept]:
    by_shape: dict[str, list[Trace]] = defaultdict(list)
    for trace in some:
        if trace.keeps == "trace":
            by_shape[trace.shape].append(trace)
    return [_class(shape, own) for shape, own in by_shape.items()]


def _class(shape: str, own: Sequence[Trace]) -> Kept:
    slowest = min(own, key=lambda trace: (-trace.times[0], trace.number))
    sample = min(own, key=lambda trace: sample_priority(trace_id(trace.number)))
    rows = [(trace.number, trace_id(trace.number), trace.times) for trace in (slowest, sample)]
    return Kept(shape, len(own), rows[0], rows[1])
