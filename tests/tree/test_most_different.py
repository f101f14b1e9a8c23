"""The contexts that move the times of an operation most."""

from __future__ import annotations

import pytest

from tracectx.errors import ConfigError, UnknownOperation
from tracectx.testing import fold
from tracectx.tree.calling_context_tree import CallingContextTree


def called() -> CallingContextTree:
    """`h` takes 10 ns from a (30 times), 18 from b (10 times), 52 from c (once): 532 ns in 41, about 13 each."""
    return fold([("a(h)", [10, 10])] * 30 + [("b(h)", [18, 18])] * 10 + [("c(h)", [52, 52])])


def callers(most: int = 6, least_count: int = 1) -> list[str | None]:
    return [context.caller for context in called().most_different("h", "caller", most, least_count)]


def test_they_are_sorted_by_count_times_the_squared_difference_of_means() -> None:
    # c: 39.0^2 = 1,523; a: 30 x 2.98^2 = 266; b: 10 x 5.02^2 = 252.
    assert callers() == ["c", "a", "b"]
    assert callers(most=2) == ["c", "a"]


def test_those_of_few_executions_come_last_if_so_asked() -> None:
    assert callers(least_count=5) == ["a", "b", "c"]


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(UnknownOperation):
        called().most_different("g")
    with pytest.raises(ConfigError, match="level must be one of"):
        called().most_different("h", "callers")
