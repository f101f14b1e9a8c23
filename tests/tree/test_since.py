"""Differences of two snapshots: exact where nothing moved, exact one level up where something did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tree.literal_snapshots import INFO, LEVELS, Kept, Leaf, snapshot_of, trace_id
from tests.tree.recordings import SHAPES, Trace, executions, keys_of_contexts, traces, tree_of_traces
from tracectx.core.snapshot import RecordingInfo
from tracectx.errors import ConfigError
from tracectx.stats.histogram import bounds, bucket_of
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.file_format import encoded
from tracectx.tree.merge import merge

LATER = replace(INFO, taken_at_ns=15_000)


def tree(*leaves: Leaf, later: bool = False) -> CallingContextTree:
    return CallingContextTree(snapshot_of(leaves, info=LATER if later else INFO))


def total_of(keys: tuple[object, ...], some: dict[tuple[object, ...], list[int]]) -> tuple[int, int]:
    return len(some.get(keys, ())), sum(some.get(keys, ()))


@settings(max_examples=60, deadline=None)
@given(traces(largest=12), st.integers(0, 12))
def test_without_moves_a_difference_is_the_tree_of_what_was_added(some: list[Trace], cut: int) -> None:
    window = tree_of_traces(some, LATER).since(tree_of_traces(some[:cut]))
    assert encoded(merge([window]).snapshot) == encoded(window.snapshot)
    for level in LEVELS:
        added = executions(some[cut:], level)
        found = keys_of_contexts(window, level)
        assert {key: row[:3] for key, row in found.items()} == {
            key: [len(times), sum(times), sum(time * time for time in times)] for key, times in added.items()
        }
        for key, (*_, low, high) in found.items():
            assert bounds(bucket_of(min(added[key])))[0] <= low <= min(added[key])
            assert max(added[key]) <= high < bounds(bucket_of(max(added[key])))[1]
    assert window.traces == len(some[cut:])


@settings(max_examples=60, deadline=None)
@given(traces(largest=12), st.integers(0, 12), st.integers(0, 12))
def test_windows_merge_to_the_whole(some: list[Trace], one: int, other: int) -> None:
    first, second = sorted((one, other))
    early, middle, late = tree_of_traces(some[:first]), tree_of_traces(some[:second], LATER), tree_of_traces(some, LATER)
    windows = merge([early, middle.since(early), late.since(middle)])
    for level in LEVELS:
        whole = keys_of_contexts(late, level)
        assert {key: row[:3] for key, row in keys_of_contexts(windows, level).items()} == {
            key: row[:3] for key, row in whole.items()
        }
    assert windows.info.counters == late.info.counters


Place = tuple[str, str, int]
"""Where a trace is kept: `keeps`, reason, since when."""

TRACE, SUBTREE, EVICTED, STACK = ("trace", "", 0), ("subtree", "limit", 0), ("subtree", "evicted", 0), ("stack", "evicted", 0)
AGAIN = ("trace", "", 7_000)
OPEN_PLACES = st.sampled_from([("subtree", "open", 0), ("stack", "open", 0), ("caller", "open", 0)])


@st.composite
def moves(draw: st.DrawFn) -> tuple[list[Trace], list[Trace], list[Trace]]:
    """Traces as an earlier snapshot keeps them, the same as a later one does, and those that are added.

    Traces that were open complete, or stay. A class is evicted, or all subtrees at once are, and may come back.
    """
    opened = {shape: draw(OPEN_PLACES) for shape in SHAPES if draw(st.integers(0, 3)) == 0}
    dissolved = draw(st.booleans())
    later: dict[str, tuple[Place, Place]] = {}

    def places(trace: Trace) -> tuple[Place, Place]:
        """Where a trace of the earlier snapshot is in the later one, and where one that is added is."""
        place = (trace.keeps, trace.reason, 0)
        if trace.reason == "open":
            return draw(st.sampled_from([(place, place), (TRACE, TRACE), (TRACE, place), (SUBTREE, SUBTREE), (place, TRACE)]))
        if place == TRACE and dissolved:
            return (STACK, draw(st.sampled_from([AGAIN, STACK])))
        if place == TRACE:
            return draw(st.sampled_from([(place, place), (EVICTED, AGAIN), (EVICTED, EVICTED)]))
        return (STACK, STACK) if trace.keeps == "subtree" and dissolved else (place, place)

    def placed(trace: Trace, place: Place) -> Trace:
        # Open executions that have moved are told from those that replace them by their times, so no two are the same.
        times = tuple(time // 1024 * 1024 + trace.number for time in trace.times)
        return replace(trace, times=times, keeps=place[0], reason=place[1], since_ns=place[2])

    before = [placed(trace, opened.get(trace.shape, (trace.keeps, trace.reason, 0))) for trace in draw(traces(largest=6))]
    for trace in before:
        later.setdefault(trace.shape, places(trace))
    after = [placed(trace, later[trace.shape][0]) for trace in before]
    new = AGAIN if dissolved else TRACE
    added = [placed(trace, later.get(trace.shape, (new, new))[1]) for trace in draw(traces(101, 6))]
    return before, after, added


@settings(max_examples=60, deadline=None)
@given(moves())
def test_whatever_moved_a_difference_is_exact_at_the_levels_that_are_left(
    moved: tuple[list[Trace], list[Trace], list[Trace]],
) -> None:
    before, after, added = moved
    window = tree_of_traces(after + added, LATER).since(tree_of_traces(before))
    assert encoded(merge([window]).snapshot) == encoded(window.snapshot)
    assert window.executions == sum(map(len, executions(added, "operation").values()))
    for level in LEVELS:
        expected = executions(added, level)
        assert sum(context.count for context in window.contexts(level=level)) == window.executions
        for keys, (count, total, *_rest) in keys_of_contexts(window, level).items():
            if keys[-1] is None:  # not an (other) context
                assert (count, total) == total_of(keys, expected)


def test_a_leaf_that_grew_is_reduced_by_what_it_held() -> None:
    earlier = tree(Leaf("a", (10, 2_000), subtree="a", trace="a"))
    later = tree(Leaf("a", (10, 2_000, 1_000, 1_500), subtree="a", trace="a"), later=True)
    window = later.since(earlier)
    (context,) = window.contexts("a")
    model = context.response_time
    assert (model.count, model.total_ns, model.squares_ns) == (2, 2_500, 1_000**2 + 1_500**2)
    assert (model.min_ns, model.max_ns) == (bounds(bucket_of(1_000))[0], bounds(bucket_of(1_500))[1] - 1)
    assert window.snapshot.leaves.first_start_ns[0] == -1
    assert (window.info.started_at_ns, window.info.taken_at_ns) == (9_000, 15_000)


def test_a_leaf_that_is_new_keeps_its_exact_extremes_and_first_observation() -> None:
    later = tree(Leaf("a", (1_001, 1_503), subtree="a", trace="a", first_start_ns=9_500), later=True)
    window = later.since(tree(Leaf("b", (1,), keeps="caller", reason="limit")) if False else tree())
    model = window["a"].response_time
    assert (model.min_ns, model.max_ns, window.snapshot.leaves.first_start_ns[0]) == (1_001, 1_503, 9_500)


def shapes(window: CallingContextTree, level: str = "trace") -> Sequence[tuple[str | None, int]]:
    return [(context.other_reason, context.count) for context in window.contexts(level=level)]


def test_a_trace_that_completed_is_counted_once() -> None:
    waiting = Leaf("a b", (5, 6), subtree="b", keeps="subtree", reason="open")
    done = Leaf("a b", (5, 6, 7), subtree="b", trace="a(b)", position=1)
    window = tree(done, later=True).since(tree(waiting))
    assert shapes(window) == [("open", 1)]
    assert shapes(window, "subtree") == [(None, 1)]
    assert window["b"].response_time.total_ns == 7


def test_executions_of_open_traces_may_have_moved_though_as_many_are_open_now() -> None:
    done = Leaf("a b", (5, 6), subtree="b", trace="a(b)", position=1)
    earlier = tree(Leaf("a b", (5, 6), subtree="b", keeps="subtree", reason="open"))
    later = tree(done, Leaf("a b", (5, 9), subtree="b", keeps="subtree", reason="open", first_start_ns=3_000), later=True)
    window = later.since(earlier)
    assert shapes(window) == [("open", 2)]
    assert window["b"].response_time.total_ns == 5 + 9


def test_a_trace_that_stays_open_disturbs_nobody() -> None:
    waiting = Leaf("a b", (5, 6), subtree="b", keeps="subtree", reason="open")
    done = Leaf("a b", (7,), subtree="b", trace="a(b)", position=1)
    window = tree(waiting, replace(done, times=(7, 8)), later=True).since(tree(waiting, done))
    assert [(c.other_reason, c.response_time.total_ns) for c in window.contexts("b")] == [(None, 8)]


def test_a_leaf_that_was_evicted_and_came_back_is_not_compared_with_itself() -> None:
    earlier = tree(Leaf("a", (5, 6), subtree="a", trace="a"))
    again = Leaf("a", (7, 8, 9), subtree="a", trace="a", since_ns=12_000)
    evicted = Leaf("a", (5, 6), subtree="a", keeps="subtree", reason="evicted")
    window = tree(again, evicted, later=True).since(earlier)
    assert shapes(window) == [("evicted", 3)]
    assert shapes(window, "subtree") == [(None, 3)]
    assert window["a"].response_time.total_ns == 24


def test_a_subtree_that_was_evicted_and_came_back_leaves_only_its_stack() -> None:
    earlier = tree(Leaf("a", (5, 6), subtree="a", trace="a"))
    again = Leaf("a", (7, 8, 9), subtree="a", trace="a", since_ns=12_000)
    window = tree(again, Leaf("a", (5, 6), keeps="stack", reason="evicted"), later=True).since(earlier)
    assert shapes(window, "subtree") == [("evicted", 3)]
    assert shapes(window, "stack") == [(None, 3)]


def test_other_parents_keep_their_children() -> None:
    steady, grown = (Leaf("c", times, subtree="c", trace="c") for times in ((1,), (1, 2)))
    window = tree(grown, Leaf("a", (5,), keeps="stack", reason="evicted"), later=True).since(
        tree(steady, Leaf("a", (5,), subtree="a", trace="a"))
    )
    assert [(context.operation, context.other_reason, context.count) for context in window.contexts()] == [("c", None, 1)]


def test_exemplars_are_told_where_they_belong_to_the_window() -> None:
    def classes(count: int, slowest: int, sample: int, later: bool) -> CallingContextTree:
        rows = [(number, trace_id(number), (number,)) for number in (slowest, sample)]
        leaf = Leaf("a", tuple(range(1, count + 1)), subtree="a", trace="a")
        return CallingContextTree(snapshot_of([leaf], [Kept("a", count, rows[0], rows[1])], info=LATER if later else INFO))

    earlier = classes(2, 2, 1, False)
    (kept,) = classes(5, 5, 1, True).since(earlier).trace_classes
    assert (kept.count, kept.sample) == (3, None)
    assert kept.slowest is not None
    assert kept.slowest.times_ns == (5,)
    assert classes(2, 2, 1, True).since(earlier).trace_classes == []


def test_counters_and_loads_are_differences_too() -> None:
    earlier = CallingContextTree(
        snapshot_of(
            [Leaf("a", (5,), subtree="a", trace="a")],
            loads={("a", 0): (5,)},
            info=replace(INFO, counters={"traces": 1, "open": 4}),
        )
    )
    later = CallingContextTree(
        snapshot_of(
            [Leaf("a", (5, 6, 7), subtree="a", trace="a")],
            loads={("a", 0): (5, 6), ("a", 1): (7,)},
            info=replace(LATER, counters={"traces": 3, "open": 1, "clock_steps": 2}),
        )
    )
    window = later.since(earlier)
    assert window.info.counters == {"traces": 2, "open": -3, "clock_steps": 2}
    loads = window.snapshot.loads
    assert list(zip(loads.bucket, loads.histogram.bucket, loads.histogram.count, strict=True)) == [(0, 6, 1), (1, 7, 1)]


def test_a_difference_can_be_merged_and_saved_like_any_tree() -> None:
    some = [Trace(number, "a(b)", (number + 9, number)) for number in range(1, 5)]
    window = tree_of_traces(some, LATER).since(tree_of_traces(some[:2]))
    assert encoded(merge([window]).snapshot) == encoded(window.snapshot)


@pytest.mark.parametrize(
    ("info", "problem"),
    [
        (
            replace(INFO, recordings=("00000000000000bb",)),
            "recordings is ('00000000000000aa',) here, ('00000000000000bb',) there",
        ),
        (replace(INFO, started_at_ns=7), "started_at_ns is 1000 here, 7 there"),
        (replace(INFO, precision_bits=3), "precision_bits is 6 here, 3 there"),
    ],
)
def test_only_snapshots_of_one_recording_have_a_difference(info: RecordingInfo, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tree_of_traces([]).since(tree_of_traces([], info))
    assert str(caught.value) == f"since() takes an earlier snapshot of the same recording: {problem}"


def test_the_order_must_be_right() -> None:
    with pytest.raises(ConfigError, match="this one was taken at 9000 ns, the other later, at 15000 ns"):
        tree_of_traces([]).since(tree_of_traces([], LATER))
    with pytest.raises(ConfigError, match="the earlier snapshot holds executions that the later one does not"):
        tree_of_traces([]).since(tree_of_traces([Trace(1, "a", (1,))]))
    with pytest.raises(ConfigError, match=r"since\(\) takes an earlier tree of the same recording, got 7"):
        tree_of_traces([]).since(7)  # type: ignore[arg-type]  # wrong on purpose
