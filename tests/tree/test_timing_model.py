"""Timing models: exact figures, quantiles within their error, sums."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracectx.errors import ConfigError
from tracectx.stats.histogram import bucket_of
from tracectx.tree.timing_model import Bin, TimingModel, empty_model

times_lists = st.lists(st.integers(0, 1 << 62) | st.integers(0, 10**7), min_size=1, max_size=40)


def model_of(times: Sequence[int], bits: int = 6) -> TimingModel:
    histogram = sorted(Counter(bucket_of(time, bits) for time in times).items())
    return TimingModel(
        count=len(times),
        total_ns=sum(times),
        squares_ns=sum(time * time for time in times),
        min_ns=min(times),
        max_ns=max(times),
        buckets=np.array([bucket for bucket, _ in histogram], dtype=np.int64),
        counts=np.array([number for _, number in histogram], dtype=np.int64),
        precision_bits=bits,
        tick_ns=1,
    )


def test_figures_are_seconds() -> None:
    model = model_of([2_000_000_000, 4_000_000_000, 9_000_000_000])
    assert (model.count, model.total, model.mean, model.min, model.max) == (3, 15.0, 5.0, 2.0, 9.0)
    assert model.std == pytest.approx(math.sqrt(26 / 3))  # (9 + 1 + 16) / 3
    assert (model.total_ns, model.min_ns, model.max_ns) == (15_000_000_000, 2_000_000_000, 9_000_000_000)


def test_small_times_have_exact_quantiles() -> None:
    model = model_of(range(1, 101))
    assert [model.p50, model.p90, model.p95, model.p99] == [50e-9, 90e-9, 95e-9, 99e-9]
    assert [model.quantile(0), model.quantile(0.07), model.quantile(1)] == [1e-9, 7e-9, 100e-9]


@settings(max_examples=60, deadline=None)
@given(times_lists, st.floats(0, 1))
def test_a_quantile_is_at_most_0_78_percent_off(times: list[int], q: float) -> None:
    model = model_of(times)
    exact = float(np.quantile(np.array(times, dtype=object), q, method="inverted_cdf"))
    if abs(q * len(times) - round(q * len(times))) > 1e-9:  # else numpy takes the binary fraction just above for more
        assert model.quantile(q) * 1e9 == pytest.approx(exact, rel=model.relative_error + 1e-12)
    assert model.min <= model.quantile(q) <= model.max


@settings(max_examples=60, deadline=None)
@given(times_lists)
def test_the_standard_deviation_is_exact(times: list[int]) -> None:
    assert model_of(times).std * 1e9 == pytest.approx(statistics.pstdev(times), rel=1e-12)


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, "0.5", None, True])
def test_a_quantile_outside_0_to_1_is_an_error(q: float) -> None:
    with pytest.raises(ConfigError, match="a quantile must be between 0 and 1, got "):
        model_of([1]).quantile(q)


def test_the_cdf_counts_what_took_at_most_so_long() -> None:
    model = model_of([10, 20, 20, 40])
    assert [model.cdf(x * 1e-9) for x in (9, 10, 19, 20, 39, 40, 41)] == [0, 0.25, 0.25, 0.75, 0.75, 1, 1]
    assert math.isnan(model.cdf(math.nan))


@settings(max_examples=60, deadline=None)
@given(times_lists)
def test_the_cdf_rises_from_0_to_1(times: list[int]) -> None:
    model = model_of(times)
    points = sorted({time / 1e9 for time in times} | {time / 2e9 for time in times})
    shares = [model.cdf(point) for point in points]
    assert shares == sorted(shares)
    assert model.cdf(model.max) == 1
    assert model.cdf(-1) == 0


def test_the_histogram_gives_half_open_bins_in_seconds() -> None:
    assert model_of([5, 5, 130]).histogram() == [Bin(5e-9, 6e-9, 2), Bin(130e-9, 132e-9, 1)]


def test_of_no_execution_there_are_no_figures() -> None:
    empty = empty_model(6, 1)
    assert (empty.count, empty.total, empty.histogram()) == (0, 0, [])
    for figure in (empty.mean, empty.std, empty.min, empty.max, empty.p50, empty.quantile(0), empty.cdf(1)):
        assert math.isnan(figure)
    assert empty + model_of([3]) == model_of([3]) == model_of([3]) + empty


@settings(max_examples=60, deadline=None)
@given(times_lists, times_lists)
def test_models_add(one: list[int], other: list[int]) -> None:
    assert model_of(one) + model_of(other) == model_of(one + other)
    assert hash(model_of(one) + model_of(other)) == hash(model_of(one + other))


@settings(max_examples=60, deadline=None)
@given(times_lists, times_lists)
def test_models_of_different_precision_add_with_the_lower(one: list[int], other: list[int]) -> None:
    assert model_of(one, 6) + model_of(other, 3) == model_of(one + other, 3)


def test_only_models_add() -> None:
    with pytest.raises(TypeError):
        model_of([1]) + 1  # type: ignore[operator]  # wrong on purpose
