"""Columns as numpy arrays, and sums over runs of rows that are exact in 63 and in 128 bits. Numbers only; any thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tracectx.core.snapshot import NOT_KEPT, ROOT, Column
from tracectx.stats.histogram_arrays import Ints

Words: TypeAlias = NDArray[np.uint64]

LARGEST = (1 << 63) - 1
_HALF = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


def ints(column: Column) -> Ints:
    """A column of signed integers; not copied if it has 64 bits."""
    return np.asarray(column, dtype=np.int64)


def words(column: Column) -> Words:
    """A column of unsigned 64-bit words."""
    return np.asarray(column, dtype=np.uint64)


def frozen(array: Ints | Words) -> Column:
    """An array of ours as a column that nobody can change."""
    array.flags.writeable = False
    return cast("Column", array)


def lookup(new_ids: Sequence[int] | Ints) -> Ints:
    """Indexed by an old id gives the new one; ROOT and NOT_KEPT, being -1 and -2, index the end and stay what they are."""
    return np.concatenate([np.asarray(new_ids, dtype=np.int64), np.array([NOT_KEPT, ROOT])])


def lengths_of(starts: Ints, rows: int) -> Ints:
    """The length of each run of rows."""
    return np.diff(starts, append=rows)


def starts_of(lengths: Ints) -> Ints:
    """Where each of some consecutive slices starts, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def slices(starts: Ints, lengths: Ints) -> Ints:
    """The indices of some slices, one after the other."""
    offsets = starts - starts_of(lengths)[:-1]
    return np.repeat(offsets, lengths) + np.arange(lengths.sum())


def run_sums(values: Ints, starts: Ints) -> Ints:
    """The sum of each run of rows; as Python integers in an array of objects if the total exceeds 63 bits.

    Times add up to that: 10,000 requests that wait, each 100 calls deep, do so within hours.
    """
    if not len(starts):
        return np.zeros(0, np.int64)
    if exact_total(values) <= LARGEST:
        sums: Ints = np.add.reduceat(values, starts)
        return sums
    high, low = np.add.reduceat(values >> 32, starts), np.add.reduceat(values & 0xFFFFFFFF, starts)
    large: Ints = (high.astype(object) << 32) + low
    return large


def run_sums_wide(low: Words, high: Words, starts: Ints) -> tuple[Words, Words]:
    """As `run_sums` for 128-bit integers in two words. `OverflowError` for a sum above 128 bits."""
    if not len(starts):
        return low[:0], high[:0]
    quarters = [np.add.reduceat(part, starts) for part in (low & _HALF, low >> _SHIFT, high & _HALF, high >> _SHIFT)]
    for below in range(3):
        quarters[below + 1] += quarters[below] >> _SHIFT
        quarters[below] &= _HALF
    if (quarters[3] > _HALF).any():
        raise OverflowError("a sum of times exceeds 128 bits")
    return quarters[0] | quarters[1] << _SHIFT, quarters[2] | quarters[3] << _SHIFT


def exact_total(values: Ints) -> int:
    """The sum of a column, however large."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def wide(low: Column, high: Column, row: int) -> int:
    """One 128-bit integer of two columns."""
    return (int(high[row]) << 64) + int(low[row])


def wides(low: Column, high: Column) -> list[int]:
    """All 128-bit integers of two columns."""
    return [(h << 64) + lo for lo, h in zip(words(low).tolist(), words(high).tolist(), strict=True)]
