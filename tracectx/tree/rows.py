"""Leaf rows in bulk: put several tables under one another, take some rows, and make one row of each run of rows.

All sums are exact; rows made of runs are themselves leaf columns, so that each level of the tree has the same form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracectx.core.snapshot import Column, HistogramColumns, LeafColumns, SummaryColumns
from tracectx.stats.histogram_arrays import Ints, coarsen_all
from tracectx.tree.arrays import (
    frozen,
    ints,
    lengths_of,
    run_sums,
    run_sums_wide,
    slices,
    starts_of,
    words,
)

_BUCKET_BITS = 23  # the largest bucket of 16 precision bits has 22

KEYS = ("operation", "caller", "stack", "subtree", "trace", "position", "reason")
TOTALS = ("count", "resumptions", "suspended_ns", "outermost_total_ns")
_FIRST = ("first_start_ns", "first_response_ns", "first_self_ns")


def keys_of(leaves: LeafColumns) -> list[Ints]:
    """What tells leaves apart, most important first; in this order the contexts of every level are runs of rows."""
    return [ints(getattr(leaves, name)) for name in KEYS]


def run_starts(keys: Sequence[Ints]) -> Ints:
    """Where rows in order begin to differ from the row before in any of the keys."""
    rows = len(keys[0])
    if not rows:
        return np.zeros(0, np.int64)
    differs = np.ones(rows, bool)
    differs[1:] = False
    for key in keys:
        differs[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(differs)


def concatenated(tables: Sequence[LeafColumns]) -> LeafColumns:
    """The rows of all tables, one table under the other."""

    def joined(columns: Sequence[Column]) -> Column:
        return frozen(np.concatenate([ints(column) for column in columns]))

    endings = [joined([table.endings[kind] for table in tables]) for kind in range(5)]
    return LeafColumns(
        **{name: joined([getattr(table, name) for table in tables]) for name in (*KEYS, *TOTALS, *_FIRST, "since_ns")},
        endings=(endings[0], endings[1], endings[2], endings[3], endings[4]),
        response=_joined_summaries([table.response for table in tables]),
        self_time=_joined_summaries([table.self_time for table in tables]),
    )


def reduced(leaves: LeafColumns, order: Ints, starts: Ints) -> LeafColumns:
    """One row for each run of rows, once the rows are in `order`; its keys are those of the run's first row.

    `since_ns` is the latest; the first observation is the smallest.
    """
    firsts = order[starts]

    def total(column: Column) -> Column:
        return frozen(run_sums(ints(column)[order], starts))

    endings = [total(column) for column in leaves.endings]
    earliest = _earliest(leaves, order, starts)
    since = ints(leaves.since_ns)[order]
    return LeafColumns(
        **{name: frozen(ints(getattr(leaves, name))[firsts]) for name in KEYS},
        **{name: total(getattr(leaves, name)) for name in TOTALS},
        **{name: frozen(ints(getattr(leaves, name))[earliest]) for name in _FIRST},
        since_ns=frozen(np.maximum.reduceat(since, starts) if len(starts) else since),
        endings=(endings[0], endings[1], endings[2], endings[3], endings[4]),
        response=_reduced_summary(leaves.response, order, starts),
        self_time=_reduced_summary(leaves.self_time, order, starts),
    )


def reduced_histogram(histogram: HistogramColumns, order: Ints, starts: Ints) -> HistogramColumns:
    """As `reduced`, for histograms alone."""
    row_starts = ints(histogram.start)
    lengths = np.diff(row_starts)[order]
    entries = slices(row_starts[:-1][order], lengths)
    run_of_row = np.repeat(np.arange(len(starts)), lengths_of(starts, len(order)))
    run_of_entry = np.repeat(run_of_row, lengths)
    buckets, counts = ints(histogram.bucket)[entries], ints(histogram.count)[entries]
    keys = run_of_entry << _BUCKET_BITS | buckets
    by_key = np.argsort(keys, kind="stable")
    keys = keys[by_key]
    firsts = run_starts([keys])
    kept = keys[firsts]
    per_run = np.bincount(kept >> _BUCKET_BITS, minlength=len(starts))
    return HistogramColumns(
        frozen(starts_of(per_run)),
        frozen(kept & ((1 << _BUCKET_BITS) - 1)),
        frozen(run_sums(counts[by_key], firsts)),
    )


def row_bucket_keys(histogram: HistogramColumns, rows: Ints | None) -> Ints:
    """Row and bucket of each entry in one number; `rows` renames the rows. Ascending unless renamed."""
    lengths = np.diff(ints(histogram.start))
    named = np.arange(len(lengths)) if rows is None else rows
    keys: Ints = np.repeat(named, lengths) << _BUCKET_BITS | ints(histogram.bucket)
    return keys


def joined_histograms(histograms: Sequence[HistogramColumns]) -> HistogramColumns:
    """The rows of all histograms, one table under the other."""
    lengths = [np.diff(ints(histogram.start)) for histogram in histograms]
    return HistogramColumns(
        frozen(starts_of(np.concatenate(lengths))),
        frozen(np.concatenate([ints(histogram.bucket) for histogram in histograms])),
        frozen(np.concatenate([ints(histogram.count) for histogram in histograms])),
    )


def coarsened(histogram: HistogramColumns, precision_bits: int, lower_bits: int) -> HistogramColumns:
    """The same counts in buckets of lower precision; buckets of a row may occur more than once."""
    buckets = coarsen_all(ints(histogram.bucket), precision_bits, lower_bits)
    return HistogramColumns(histogram.start, frozen(buckets), histogram.count)


def _earliest(leaves: LeafColumns, order: Ints, starts: Ints) -> Ints:
    """The row with the smallest first observation of each run."""
    run_of_row = np.repeat(np.arange(len(starts)), lengths_of(starts, len(order)))
    start, response, self_time = (ints(getattr(leaves, name))[order] for name in _FIRST)
    earliest: Ints = order[np.lexsort((self_time, response, start, run_of_row))][starts]
    return earliest


def _joined_summaries(summaries: Sequence[SummaryColumns]) -> SummaryColumns:
    wide = ("sum_low", "sum_high", "square_low", "square_high")
    return SummaryColumns(
        **{name: frozen(np.concatenate([words(getattr(summary, name)) for summary in summaries])) for name in wide},
        minimum=frozen(np.concatenate([ints(summary.minimum) for summary in summaries])),
        maximum=frozen(np.concatenate([ints(summary.maximum) for summary in summaries])),
        histogram=joined_histograms([summary.histogram for summary in summaries]),
    )


def _reduced_summary(summary: SummaryColumns, order: Ints, starts: Ints) -> SummaryColumns:
    sums = run_sums_wide(words(summary.sum_low)[order], words(summary.sum_high)[order], starts)
    squares = run_sums_wide(words(summary.square_low)[order], words(summary.square_high)[order], starts)
    minimum, maximum = ints(summary.minimum)[order], ints(summary.maximum)[order]
    return SummaryColumns(
        sum_low=frozen(sums[0]),
        sum_high=frozen(sums[1]),
        square_low=frozen(squares[0]),
        square_high=frozen(squares[1]),
        minimum=frozen(np.minimum.reduceat(minimum, starts) if len(starts) else minimum),
        maximum=frozen(np.maximum.reduceat(maximum, starts) if len(starts) else maximum),
        histogram=reduced_histogram(summary.histogram, order, starts),
    )
