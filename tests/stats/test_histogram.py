"""The log-linear buckets, one value at a time and for whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracectx.stats.histogram import bounds, bucket_of, coarsen, last_bucket, relative_error
from tracectx.stats.histogram_arrays import bounds_of, buckets_of, coarsen_all, middles_of

LARGEST = (1 << 63) - 1
values = (
    st.integers(0, LARGEST) | st.integers(0, 62).map(lambda bits: 1 << bits) | st.integers(1, 63).map(lambda b: (1 << b) - 1)
)
precisions = st.integers(1, 16)


@pytest.mark.parametrize(
    ("value", "bucket"),
    [
        (0, 0),
        (1, 1),
        (127, 127),  # below 2^7 a value is its own bucket
        (128, 128),  # b = 7 - 6 = 1: (1 << 6) + (128 >> 1)
        (129, 128),
        (130, 129),
        (255, 191),  # (1 << 6) + 127
        (256, 192),  # b = 2: (2 << 6) + (256 >> 2)
        (1_000_000, 954),  # b = 19 - 6 = 13: (13 << 6) + (1_000_000 >> 13) = 832 + 122
    ],
)
def test_a_value_is_in_the_bucket_that_the_formula_says(value: int, bucket: int) -> None:
    assert bucket_of(value) == bucket


def test_bounds_are_half_open_and_neighbours_touch() -> None:
    assert bounds(127) == (127, 128)
    assert bounds(128) == (128, 130)
    assert bounds(191) == (254, 256)
    assert bounds(192) == (256, 260)
    assert all(bounds(bucket)[1] == bounds(bucket + 1)[0] for bucket in range(last_bucket(6)))


def test_the_last_bucket_ends_where_times_end() -> None:
    assert bounds(last_bucket(6)) == (127 << 56, 1 << 63)


@settings(max_examples=100, deadline=None)
@given(values, precisions)
def test_a_value_is_within_the_bounds_of_its_bucket(value: int, bits: int) -> None:
    low, high = bounds(bucket_of(value, bits), bits)
    assert low <= value < high


@settings(max_examples=100, deadline=None)
@given(values)
def test_the_middle_of_a_bucket_is_at_most_0_78_percent_off(value: int) -> None:
    low, high = bounds(bucket_of(value))
    assert 256 * abs(low + high - 1 - 2 * value) <= 4 * value  # |middle - value| <= value / 128, in integers
    assert relative_error(6) == 1 / 128


@settings(max_examples=100, deadline=None)
@given(values, precisions, precisions)
def test_coarsening_gives_the_bucket_that_the_value_would_have_had(value: int, one: int, other: int) -> None:
    bits, lower = max(one, other), min(one, other)
    assert coarsen(bucket_of(value, bits), bits, lower) == bucket_of(value, lower)


@settings(max_examples=100, deadline=None)
@given(st.lists(values, min_size=1), precisions)
def test_arrays_agree_with_single_values(some: list[int], bits: int) -> None:
    array = np.array(some, dtype=np.int64)
    buckets = buckets_of(array, bits)
    low, last = bounds_of(buckets, bits)
    assert buckets.tolist() == [bucket_of(value, bits) for value in some]
    assert list(zip(low.tolist(), (last.astype(object) + 1).tolist(), strict=True)) == [
        bounds(bucket, bits) for bucket in buckets.tolist()
    ]
    assert coarsen_all(buckets, bits, 1).tolist() == [bucket_of(value, 1) for value in some]


def test_the_middle_of_a_bucket_with_one_value_is_that_value() -> None:
    assert middles_of(np.array([0, 127, 128, 192]), 6).tolist() == [0.0, 127.0, 128.5, 257.5]
