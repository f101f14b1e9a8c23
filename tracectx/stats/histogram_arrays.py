"""The buckets of `histogram` for whole arrays at once. Loads numpy: for those who read snapshots, never for a recording."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def buckets_of(values_ns: Ints, precision_bits: int) -> Ints:
    """The bucket of each value of 0 or more."""
    b = np.maximum(_bit_lengths(values_ns) - 1 - precision_bits, 0)
    buckets: Ints = (b << precision_bits) + (values_ns >> b)
    return buckets


def bounds_of(buckets: Ints, precision_bits: int) -> tuple[Ints, Ints]:
    """The smallest and the largest value of each bucket, both inside: the bound above the last would not fit in 64 bits."""
    b = np.maximum((buckets >> precision_bits) - 1, 0)
    low = (buckets - (b << precision_bits)) << b
    return low, low + ((np.int64(1) << b) - 1)


def coarsen_all(buckets: Ints, precision_bits: int, lower_bits: int) -> Ints:
    """The bucket of lower precision that holds all of each bucket."""
    return buckets_of(bounds_of(buckets, precision_bits)[0], lower_bits)


def middles_of(buckets: Ints, precision_bits: int) -> Floats:
    """The middle of each bucket; the value itself where the bucket holds only one."""
    low, last = bounds_of(buckets, precision_bits)
    middles: Floats = low + (last - low) / 2
    return middles


def _bit_lengths(values: Ints) -> Ints:
    """`int.bit_length` of each value, by halving: a float logarithm is wrong next to large powers of two."""
    lengths = np.zeros(values.shape, np.int64)
    rest = values.copy()
    for step in (32, 16, 8, 4, 2, 1):
        above = (rest >> step) > 0
        lengths[above] += step
        rest = np.where(above, rest >> step, rest)
    lengths += rest > 0
    return lengths
