"""What tells contexts of one operation apart, in words."""

from __future__ import annotations

import pytest

from tests.report.trees import MS
from tracectx.report.calls import Call, calls_inside
from tracectx.report.wording import distinctions
from tracectx.testing import call_tree, fold


def words(traces: list[str], operation: str, level: str, **options: int) -> list[str]:
    """Of each context, sorted; the traces take 1 ms, 2 ms, ... so that their calls tell something."""
    timed = [(trace, [number * MS, *[0] * (len(call_tree(trace)) - 1)]) for number, trace in enumerate(traces, 1)]
    contexts = fold(timed, **options).contexts(operation, level)
    return sorted(distinctions(contexts, len(contexts), str.upper).words)


def test_callers_are_named_and_a_root_is_called_by_nobody() -> None:
    assert words(["a(h)", "b(h)", "h"], "h", "caller") == ["called by nobody (a root)", "called from A", "called from B"]


def test_of_a_stack_the_callers_are_named_up_to_the_one_that_tells_it_apart() -> None:
    assert words(["r(a(b(h)))", "s(a(b(h)))", "c(h)"], "h", "stack") == [
        "called from B ← A ← R",
        "called from B ← A ← S",
        "called from C",
    ]


def test_a_stack_that_is_the_beginning_of_another_ends_at_the_root() -> None:
    assert words(["b(h)", "c(b(h))"], "h", "stack") == ["called from B (a root)", "called from B ← C"]


def test_calls_that_only_some_make_are_named_and_a_context_without_says_so() -> None:
    assert words(["a(x)", "a(x, y)"], "a", "subtree") == ["calls Y", "does not call Y"]


def test_numbers_of_calls_are_told_where_several_call() -> None:
    assert words(["a(x)", "a(x, x)"], "a", "subtree") == ["calls X 2 times", "calls X once"]


def test_calls_at_any_depth_count() -> None:
    assert words(["a(x(y))", "a(x)"], "a", "subtree") == ["calls Y", "does not call Y"]


@pytest.mark.parametrize(
    ("mark", "ending"), [("!", "raises"), ("^", "is cancelled"), ("#", "is closed early"), ("?", "is abandoned")]
)
def test_endings_are_told_of_the_operation_and_of_calls_made_inside(mark: str, ending: str) -> None:
    assert words([f"a{mark}", "a"], "a", "subtree") == sorted([ending, "returns"])
    negation = {"raises": "does not raise"}.get(ending, ending.replace("is ", "is not "))
    assert words([f"a(x{mark})", "a(x)"], "a", "subtree") == sorted([f"X {ending}", f"X {negation}"])


def test_what_no_word_tells_apart_differs_in_order() -> None:
    assert words(["a(x, y)", "a(y, x)"], "a", "subtree") == ["the same calls in another order"] * 2


def test_contexts_that_are_not_kept_say_why() -> None:
    found = words([f"a(x{number})" for number in range(20)], "a", "trace", max_shapes=4)
    assert any("rare contexts that had to make room" in one or "over the limit of contexts" in one for one in found)


def test_calls_inside_are_counted_with_the_loops_around_them() -> None:
    tree = call_tree("a(b*2-3(c*4-7), ~c!)")
    assert calls_inside(tree, {}) == {
        Call("b"): (2, 3),
        Call("c"): (2 * 4 + 1, 3 * 7 + 1),
        Call("c", "raised"): (1, 1),
    }
