"""Merging: associative, commutative, exact, the same bytes in every order; what does not belong together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tree.literal_snapshots import INFO, Kept, Leaf, snapshot_of, trace_id
from tests.tree.recordings import Trace, keys_of_contexts, traces, tree_of_traces
from tracectx.errors import ConfigError
from tracectx.stats.mixing import sample_priority
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.file_format import encoded
from tracectx.tree.merge import merge

OTHER = replace(INFO, recordings=("00000000000000bb",), started_at_ns=500, taken_at_ns=20_000, pythons=("3.10.0",), tick_ns=10)
COARSE = replace(INFO, recordings=("00000000000000cc",), precision_bits=3)


def saved(tree: CallingContextTree) -> bytes:
    return encoded(tree.snapshot)


@settings(max_examples=60, deadline=None)
@given(traces(), traces(101), traces(201), st.permutations(range(3)))
def test_trees_merge_to_the_same_bytes_in_every_order(
    one: list[Trace], two: list[Trace], three: list[Trace], order: list[int]
) -> None:
    trees = [tree_of_traces(one), tree_of_traces(two, OTHER), tree_of_traces(three, COARSE)]
    together = saved(merge(trees))
    assert saved(merge([trees[place] for place in order])) == together
    a, b, c = trees
    assert saved((a + b) + c) == saved(a + (b + c)) == saved(merge([c, merge([b, a])])) == together


@settings(max_examples=60, deadline=None)
@given(traces(), traces(101))
def test_a_merged_tree_is_the_tree_of_all_traces(one: list[Trace], two: list[Trace]) -> None:
    merged, whole = merge([tree_of_traces(one), tree_of_traces(two)]), tree_of_traces(one + two)
    assert saved(merged) == saved(whole)
    for level in ("operation", "trace"):
        assert keys_of_contexts(merged, level) == keys_of_contexts(whole, level)


@settings(max_examples=60, deadline=None)
@given(traces())
def test_merging_one_tree_changes_nothing(some: list[Trace]) -> None:
    tree = tree_of_traces(some)
    assert saved(merge([tree])) == saved(tree)


def test_what_was_recorded_is_told_for_all() -> None:
    info = merge([tree_of_traces([Trace(1, "a", (5,))]), tree_of_traces([Trace(2, "a(b)", (5, 6))], OTHER)]).info
    assert info.recordings == ("00000000000000aa", "00000000000000bb")
    assert (info.started_at_ns, info.taken_at_ns, info.tick_ns) == (500, 20_000, 10)
    assert info.pythons == ("3.10.0", "3.13.0")
    assert info.counters == {"traces": 2, "recorded": 3}


def test_the_first_observation_is_the_earliest_and_a_context_counts_from_when_all_do() -> None:
    one = Leaf("a", (5,), subtree="a", trace="a", first_start_ns=3_000, since_ns=2_000)
    other = Leaf("a", (7,), subtree="a", trace="a", first_start_ns=2_500, since_ns=1_000)
    leaves = merge([CallingContextTree(snapshot_of([leaf])) for leaf in (one, other)]).snapshot.leaves
    assert (leaves.first_start_ns[0], leaves.first_response_ns[0], leaves.since_ns[0]) == (2_500, 7, 2_000)


def test_exemplars_are_the_slowest_and_the_one_drawn_by_its_id() -> None:
    def tree(number: int, time: int) -> CallingContextTree:
        exemplar = (number, trace_id(number), (time,))
        leaf = Leaf("a", (time,), subtree="a", trace="a")
        return CallingContextTree(snapshot_of([leaf], [Kept("a", 1, exemplar, exemplar)]))

    (kept,) = merge([tree(1, 5), tree(2, 9), tree(3, 9)]).trace_classes
    drawn = min((1, 2, 3), key=lambda number: sample_priority(trace_id(number)))
    assert kept.count == 3
    assert kept.slowest is not None
    assert (kept.slowest.trace_id, kept.slowest.times_ns) == (trace_id(2), (9,))  # as slow as the third, but earlier
    assert kept.sample is not None
    assert kept.sample.trace_id == trace_id(drawn)


@pytest.mark.parametrize(("name", "value"), [("clock", "tsc"), ("loops", "bucketed")])
def test_recordings_that_measured_differently_do_not_merge(name: str, value: str) -> None:
    other = replace(INFO, clock=value) if name == "clock" else replace(INFO, loops=value)
    values = " and ".join(map(repr, sorted([value, getattr(INFO, name)])))
    with pytest.raises(ConfigError) as caught:
        merge([tree_of_traces([]), tree_of_traces([], other)])
    assert str(caught.value) == (
        f"recordings with different {name} cannot be merged: {values}; record them with the same {name}"
    )


def test_a_leaf_whose_sum_cannot_be_kept_is_an_error_not_a_wrong_number() -> None:
    most = (1 << 63) - 1
    tree = CallingContextTree(snapshot_of([Leaf("a a", (most,), subtree="a", trace="a(a)", position=1, suspended_ns=most)]))
    with pytest.raises(ConfigError, match="a sum of one context cannot be kept: "):
        tree + tree


def test_sums_of_a_level_may_exceed_63_bits() -> None:
    most = (1 << 63) - 1
    leaves = [Leaf("a", (most,), subtree=shape, trace=shape, suspended_ns=most) for shape in ("a", "a!", "a^")]
    context = CallingContextTree(snapshot_of(leaves))["a"]
    assert context.suspended_ns == context.outermost_total_ns == 3 * most


def test_wrong_arguments_say_what_was_expected() -> None:
    with pytest.raises(ConfigError, match="merge takes at least one tree, got none"):
        merge([])
    with pytest.raises(ConfigError, match="merge takes trees, got 7"):
        merge([7])  # type: ignore[list-item]  # wrong on purpose
    with pytest.raises(ConfigError, match=r"merge takes several trees, got one: merge\(\[a, b\]\)"):
        merge(tree_of_traces([]))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError):
        tree_of_traces([]) + 1  # type: ignore[operator]  # wrong on purpose
