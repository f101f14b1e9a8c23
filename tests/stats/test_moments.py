"""Mean, standard deviation and rank from exact sums."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracectx.stats.moments import mean, rank_of, std


def test_the_standard_deviation_is_that_of_the_population() -> None:
    values = [2, 4, 4, 4, 5, 5, 7, 9]  # the usual example: mean 5, sd 2
    assert mean(8, sum(values)) == 5
    assert std(8, sum(values), sum(value * value for value in values)) == 2


def test_long_times_that_differ_little_keep_their_standard_deviation() -> None:
    values = [3_600_000_000_000, 3_600_000_000_002]  # an hour, and 2 ns more: in floats, s2 - s^2/n gives 0
    assert std(2, sum(values), sum(value * value for value in values)) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 1 << 62), min_size=1, max_size=30))
def test_the_standard_deviation_agrees_with_exact_fractions(values: list[int]) -> None:
    expected = statistics.pstdev(values)
    assert std(len(values), sum(values), sum(value * value for value in values)) == pytest.approx(expected, rel=1e-12)


def test_of_nothing_there_is_no_mean() -> None:
    assert math.isnan(mean(0, 0))
    assert math.isnan(std(0, 0, 0))


@pytest.mark.parametrize(
    ("q", "count", "rank"),
    [(0, 10, 1), (0.5, 10, 5), (0.5, 11, 6), (0.07, 100, 7), (0.29, 100, 29), (0.95, 100, 95), (0.951, 100, 96), (1, 10, 10)],
)
def test_a_quantile_is_the_first_with_that_share_at_or_below_it(q: float, count: int, rank: int) -> None:
    assert rank_of(q, count) == rank
