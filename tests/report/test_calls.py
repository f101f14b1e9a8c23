"""Which calls tell contexts apart."""

from __future__ import annotations

from tracectx.report.calls import Call, Calls, calls_inside, depths, telling_calls
from tracectx.testing import call_tree


def told(*contexts: tuple[str, int, float], shown: int | None = None) -> list[Call]:
    """Each context: its tree, how many executions it has, and their mean."""
    trees = [call_tree(literal) for literal, _, _ in contexts]
    known: dict[int, Calls] = {}
    weighed = [(calls_inside(tree, known), count, mean) for tree, (_, count, mean) in zip(trees, contexts, strict=True)]
    return telling_calls(weighed, len(trees) if shown is None else shown, depths(trees))


def test_what_all_contexts_call_equally_often_is_not_told() -> None:
    assert told(("a(x, y)", 10, 2.0), ("a(x)", 10, 1.0)) == [Call("y")]


def test_the_call_that_goes_with_the_largest_difference_of_times_comes_first() -> None:
    assert told(("a", 10, 1.0), ("a(x)", 10, 1.1), ("a(y)", 10, 9.0), ("a(x, y)", 10, 9.1)) == [Call("y"), Call("x")]


def test_of_calls_that_go_together_the_nearest_is_told() -> None:
    assert told(("a(x(y(z)))", 10, 2.0), ("a", 10, 1.0)) == [Call("x")]
    assert told(("a(w(z), x)", 10, 2.0), ("a(w)", 10, 1.0)) == [Call("x")]


def test_nothing_is_told_once_all_contexts_are_told_apart() -> None:
    assert told(("a(x)", 10, 3.0), ("a(y)", 10, 2.0)) == [Call("x")]


def test_how_often_a_call_is_made_tells_contexts_apart() -> None:
    assert told(("a(x*2-3)", 10, 2.0), ("a(x)", 10, 1.0)) == [Call("x")]


def test_how_a_call_ends_tells_contexts_apart() -> None:
    assert told(("a(x!)", 10, 2.0), ("a(x)", 10, 1.0)) == [Call("x", "raised")]


def test_contexts_that_are_not_shown_help_to_find_what_matters() -> None:
    # Of the two shown, x and y differ alike; the third shows that it is y that takes time.
    contexts = (("a(x, y)", 10, 9.0), ("a", 10, 1.0), ("a(x)", 1_000, 1.0))
    assert told(*contexts, shown=2) == [Call("y")]


def test_at_most_three_calls_are_told() -> None:
    contexts = [(f"a({', '.join(f'{name}*{n + 1}' for name in 'vwxyz'[: n % 5 + 1])})", 10, float(n)) for n in range(9)]
    assert len(told(*contexts)) <= 3


def test_contexts_without_calls_are_told_apart_by_none() -> None:
    assert told(("a", 10, 1.0), ("a!", 10, 2.0)) == []
    assert told() == []


def test_an_operation_is_as_deep_as_its_nearest_call() -> None:
    assert depths([call_tree("a(b(c(d)), c)"), call_tree("a(d)")]) == {"b": 1, "c": 1, "d": 1}
    assert depths([call_tree("a(b(c(d)))")]) == {"b": 1, "c": 2, "d": 3}


def test_deep_trees_are_walked_without_recursion() -> None:
    deep = call_tree("(".join(["a"] * 5_000) + ")" * 4_999)
    assert calls_inside(deep, {}) == {Call("a"): (4_999, 4_999)}
