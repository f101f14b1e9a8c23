"""Every execution in one context of each level; each context the sum of its children, exactly."""

from __future__ import annotations

from functools import reduce
from operator import add

from hypothesis import given, settings

from tests.tree.literal_snapshots import LEVELS
from tests.tree.recordings import Trace, executions, figures, keys_of_contexts, traces, tree_of_traces
from tracectx.tree.timing_model import TimingModel


@settings(max_examples=60, deadline=None)
@given(traces())
def test_every_level_holds_exactly_the_executions_with_its_keys(some: list[Trace]) -> None:
    tree = tree_of_traces(some)
    for level in LEVELS:
        expected = {key: figures(times) for key, times in executions(some, level).items()}
        assert keys_of_contexts(tree, level) == expected
        assert sum(context.count for context in tree.contexts(level=level)) == tree.executions


@settings(max_examples=60, deadline=None)
@given(traces())
def test_a_context_is_the_sum_of_its_children(some: list[Trace]) -> None:
    tree = tree_of_traces(some)
    for level in LEVELS[:-1]:
        for context in tree.contexts(level=level):
            below = context.children
            for time in ("response_time", "self_time"):
                models: list[TimingModel] = [getattr(child, time) for child in below]
                assert reduce(add, models) == getattr(context, time)
            for figure in ("count", "raised", "resumptions", "suspended_ns", "outermost_total_ns"):
                assert sum(getattr(child, figure) for child in below) == getattr(context, figure)
            assert all(child.parent == context and child.operation == context.operation for child in below)


@settings(max_examples=60, deadline=None)
@given(traces())
def test_the_order_of_rows_and_ids_means_nothing(some: list[Trace]) -> None:
    tree, other = tree_of_traces(some), tree_of_traces(reversed(some))
    assert [repr(context) for context in tree.contexts()] == [repr(context) for context in other.contexts()]
