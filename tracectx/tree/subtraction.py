"""Rows minus rows: which would shrink, and what is left. For tables in canonical order; exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tracectx.core.snapshot import HistogramColumns, LeafColumns, LoadColumns, SummaryColumns
from tracectx.stats.histogram_arrays import Ints, bounds_of
from tracectx.tree.arrays import Words, frozen, ints, starts_of, words
from tracectx.tree.rows import TOTALS, keys_of, row_bucket_keys

_Bools = NDArray[np.bool_]


def rows_of(above: LeafColumns, below: LeafColumns) -> Ints:
    """For each row of `below` the row of `above` with the same keys; -1 where there is none."""
    return _matches(keys_of(above), keys_of(below))


def shrinking(above: LeafColumns, below: LeafColumns) -> _Bools:
    """Which rows of `below` hold more of anything than `above` does."""
    rows = rows_of(above, below)
    found = rows < 0
    if not len(ints(above.count)):
        return found
    for more, less in zip(_totals(above), _totals(below), strict=True):
        found |= more[rows] < less
    for more_time, less_time in ((above.response, below.response), (above.self_time, below.self_time)):
        for low, high in (("sum_low", "sum_high"), ("square_low", "square_high")):
            found |= _is_less(more_time, less_time, rows, low, high)
        found |= _shrinking_histograms(more_time.histogram, less_time.histogram, rows)
    return found


def unchanged(above: LeafColumns, below: LeafColumns) -> _Bools:
    """Which rows of `below` hold the same executions in `above`, as far as their sums and the first of them tell."""
    rows = rows_of(above, below)
    found = rows >= 0
    if not len(ints(above.count)):
        return found
    for name in ("count", "first_start_ns", "first_response_ns", "first_self_ns"):
        found &= ints(getattr(above, name))[rows] == ints(getattr(below, name))
    for more, less in ((above.response, below.response), (above.self_time, below.self_time)):
        for name in ("sum_low", "sum_high", "square_low", "square_high"):
            found &= words(getattr(more, name))[rows] == words(getattr(less, name))
    return found


def subtracted(above: LeafColumns, below: LeafColumns, precision_bits: int) -> LeafColumns:
    """`above` minus `below`, none of whose rows may be shrinking. Rows may be left without executions."""
    rows = rows_of(above, below)

    def less(more: Ints, part: Ints) -> Ints:
        left: Ints = more.copy()
        left[rows] -= part
        return left

    unknown = np.zeros(len(ints(above.count)), bool)
    unknown[rows] = True
    totals = [frozen(less(more, part)) for more, part in zip(_totals(above), _totals(below), strict=True)]
    endings = totals[len(TOTALS) :]
    first = ("first_start_ns", "first_response_ns", "first_self_ns")
    return replace(
        above,
        **dict(zip(TOTALS, totals[: len(TOTALS)], strict=True)),
        **{name: frozen(np.where(unknown, -1, ints(getattr(above, name)))) for name in first},
        endings=(endings[0], endings[1], endings[2], endings[3], endings[4]),
        response=_subtracted_summary(above.response, below.response, rows, unknown, precision_bits),
        self_time=_subtracted_summary(above.self_time, below.self_time, rows, unknown, precision_bits),
    )


def shrinking_loads(above: LoadColumns, below: LoadColumns) -> _Bools:
    """As `shrinking`, for loads."""
    rows = _load_rows(above, below)
    if not len(ints(above.operation)):
        return rows < 0
    return (rows < 0) | _shrinking_histograms(above.histogram, below.histogram, rows)


def subtracted_loads(above: LoadColumns, below: LoadColumns) -> LoadColumns:
    """As `subtracted`, for loads; rows in which nothing is left are left out."""
    histogram = _subtracted_histogram(above.histogram, below.histogram, _load_rows(above, below))
    starts = ints(histogram.start)
    kept = np.diff(starts) > 0
    lengths = np.diff(starts)[kept]
    return LoadColumns(
        frozen(ints(above.operation)[kept]),
        frozen(ints(above.bucket)[kept]),
        HistogramColumns(frozen(starts_of(lengths)), histogram.bucket, histogram.count),
    )


def _load_rows(above: LoadColumns, below: LoadColumns) -> Ints:
    return _matches(
        [ints(above.operation), ints(above.bucket)],
        [ints(below.operation), ints(below.bucket)],
    )


def _matches(above: Sequence[Ints], below: Sequence[Ints]) -> Ints:
    """For each row of keys in `below`, the equal one in `above` (of which there is one at most), else -1."""
    size = len(above[0])
    keys = [np.concatenate(pair) for pair in zip(above, below, strict=True)]
    order = np.lexsort(keys[::-1])  # stable: the row of `above` comes first
    same = np.zeros(len(order), bool)
    same[1:] = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    found = np.full(len(below[0]), -1, np.int64)
    places = np.flatnonzero(same)
    found[order[places] - size] = order[places - 1]
    return found


def _totals(leaves: LeafColumns) -> list[Ints]:
    return [*(ints(getattr(leaves, name)) for name in TOTALS), *(ints(column) for column in leaves.endings)]


def _is_less(more: SummaryColumns, less: SummaryColumns, rows: Ints, low: str, high: str) -> _Bools:
    """Where a 128-bit sum of `more` is below that of `less`."""
    more_high, less_high = words(getattr(more, high))[rows], words(getattr(less, high))
    found: _Bools = more_high < less_high
    found |= (more_high == less_high) & (words(getattr(more, low))[rows] < words(getattr(less, low)))
    return found


def _places(more: HistogramColumns, less: HistogramColumns, rows: Ints) -> tuple[Ints, _Bools]:
    """Where in `more` each entry of `less` is, and whether it is there at all."""
    more_keys, less_keys = row_bucket_keys(more, None), row_bucket_keys(less, rows)
    places = np.minimum(np.searchsorted(more_keys, less_keys), max(0, len(more_keys) - 1))
    there = more_keys[places] == less_keys if len(more_keys) else np.zeros(len(less_keys), bool)
    return places, there


def _shrinking_histograms(more: HistogramColumns, less: HistogramColumns, rows: Ints) -> _Bools:
    places, there = _places(more, less, rows)
    enough = there.copy()
    enough[there] = ints(more.count)[places[there]] >= ints(less.count)[there]
    row_of_entry = np.repeat(np.arange(len(rows)), np.diff(ints(less.start)))
    found: _Bools = np.bincount(row_of_entry[~enough], minlength=len(rows)) > 0
    return found


def _subtracted_histogram(more: HistogramColumns, less: HistogramColumns, rows: Ints) -> HistogramColumns:
    places, _ = _places(more, less, rows)
    counts = ints(more.count).copy()
    counts[places] -= ints(less.count)
    starts = ints(more.start)
    row_of_entry = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = counts > 0
    lengths = np.bincount(row_of_entry[kept], minlength=len(starts) - 1)
    return HistogramColumns(frozen(starts_of(lengths)), frozen(ints(more.bucket)[kept]), frozen(counts[kept]))


def _subtracted_summary(
    more: SummaryColumns, less: SummaryColumns, rows: Ints, unknown: _Bools, precision_bits: int
) -> SummaryColumns:
    histogram = _subtracted_histogram(more.histogram, less.histogram, rows)
    minimum, maximum = _extremes(histogram, more, unknown, precision_bits)
    sums = _less_wide(more, less, rows, "sum_low", "sum_high")
    squares = _less_wide(more, less, rows, "square_low", "square_high")
    return SummaryColumns(
        frozen(sums[0]),
        frozen(sums[1]),
        frozen(squares[0]),
        frozen(squares[1]),
        frozen(minimum),
        frozen(maximum),
        histogram,
    )


def _less_wide(more: SummaryColumns, less: SummaryColumns, rows: Ints, low: str, high: str) -> tuple[Words, Words]:
    left_low, left_high = words(getattr(more, low)).copy(), words(getattr(more, high)).copy()
    part = words(getattr(less, low))
    borrow = (left_low[rows] < part).astype(np.uint64)
    left_low[rows] -= part
    left_high[rows] -= words(getattr(less, high)) + borrow
    return left_low, left_high


def _extremes(histogram: HistogramColumns, more: SummaryColumns, unknown: _Bools, precision_bits: int) -> tuple[Ints, Ints]:
    """Minimum and maximum; where some executions were taken away, as near as the outermost buckets tell."""
    minimum, maximum = ints(more.minimum).copy(), ints(more.maximum).copy()
    starts, buckets = ints(histogram.start), ints(histogram.bucket)
    changed = np.flatnonzero(unknown & (np.diff(starts) > 0))
    low, _ = bounds_of(buckets[starts[changed]], precision_bits)
    _, last = bounds_of(buckets[starts[changed + 1] - 1], precision_bits)
    minimum[changed] = np.maximum(low, minimum[changed])
    maximum[changed] = np.minimum(last, maximum[changed])
    return minimum, maximum
