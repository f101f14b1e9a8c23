"""Which operations are explained, by which level, and which of them share an explanation."""

from __future__ import annotations

import random

import pytest

from tests.report.trees import MS, text_of
from tracectx.report.findings import Explained
from tracectx.testing import fold
from tracectx.tree.calling_context_tree import CallingContextTree


def nested() -> CallingContextTree:
    """`top` calls `middle`, which calls `x` (8 ms) every fourth time."""
    fast = ("top(middle)", [3 * MS, 1 * MS])
    slow = ("top(middle(x))", [11 * MS, 9 * MS, 8 * MS])
    return fold([fast] * 90 + [slow] * 30)


def questions(text: str) -> list[str]:
    return [line.split()[2] for line in text.splitlines() if line.startswith("Why is")]


def test_of_operations_with_one_cause_the_one_that_decides_it_is_explained_and_the_others_are_named() -> None:
    text = text_of(nested(), findings=1)
    assert questions(text) == ["middle"]
    assert "\n  Likewise: top (100 %).\n" in text


def test_where_there_is_room_every_operation_has_its_own_explanation() -> None:
    text = text_of(nested())
    assert questions(text) == ["middle", "top"]
    assert "Likewise" not in text


def test_the_coarsest_level_that_explains_nearly_all_is_named() -> None:
    # The callers explain everything; stacks, subtrees and traces, which refine them, as much.
    tree = fold([("a(h)", [3 * MS, 2 * MS]), ("b(h)", [9 * MS, 8 * MS])] * 40)
    (finding,) = Explained(tree).findings([tree["h"]])
    assert (finding.level, finding.is_log) == ("caller", False)
    assert finding.weight == pytest.approx(80 * 0.003)  # 80 executions, of a standard deviation of 3 ms


def test_an_outlier_does_not_hide_what_the_caller_explains() -> None:
    usual = [("a(h)", [2 * MS, 1 * MS]), ("b(h)", [3 * MS, 2 * MS])] * 100
    tree = fold([*usual, ("b(h)", [801 * MS, 800 * MS])])
    (finding,) = Explained(tree).findings([tree["h"]])
    assert (finding.level, finding.is_log) == ("caller", True)
    assert "of the spread of its times on a log scale" in " ".join(text_of(tree).split())


def test_contexts_that_say_nothing_about_times_are_not_reported() -> None:
    rng = random.Random(5)
    tree = fold([(f"{rng.choice('abcdefg')}(h)", [99 * MS, round(rng.lognormvariate(14, 0.7))]) for _ in range(400)])
    assert Explained(tree).findings([tree["h"]]) == []


def test_too_few_executions_say_nothing() -> None:
    tree = fold([("a(h)", [3 * MS, 2 * MS]), ("b(h)", [9 * MS, 8 * MS])] * 9)
    assert Explained(tree).findings([tree["h"]]) == []


def test_contexts_of_a_few_executions_are_not_shown_while_there_are_others() -> None:
    often = [("a(h)", [3 * MS, 2 * MS]), ("b(h)", [9 * MS, 8 * MS])] * 40
    text = text_of(fold([*often, ("c(h)", [91 * MS, 90 * MS])]), operation="h", level="caller", contexts=2)
    assert "called from c" not in text
    assert "\n    1 % … 1 more context with 1 execution, mean 90.0 ms\n" in text


def test_a_level_that_explains_nothing_can_be_looked_at_and_says_so() -> None:
    text = text_of(fold([("a(h)", [3 * MS, 2 * MS]), ("b(h)", [3 * MS, 2 * MS])] * 20), operation="h", level="caller")
    assert "\nh by caller: times differ by no more than chance.\n" in text
    assert "  called from a\n" in text
