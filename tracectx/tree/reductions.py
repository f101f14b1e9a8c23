"""The contexts of a tree as what `tracectx.stats.reduction` computes with."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracectx.core.snapshot import LeafColumns, RecordingInfo, SummaryColumns
from tracectx.errors import ConfigError
from tracectx.stats.histogram_arrays import Floats, middles_of
from tracectx.stats.moments import std
from tracectx.stats.reduction import Observed, Split, StdReduction, std_reductions
from tracectx.stats.shuffling import Pool
from tracectx.tree.arrays import ints, wides
from tracectx.tree.contents import Contents
from tracectx.tree.levels import OPERATION

_AVERAGES = ("pooled", "operations")
_TIMES = ("response", "self")


def reductions(
    contents: Contents, levels: Sequence[int], operation: int | None, *, average: str, time: str, log: bool
) -> list[StdReduction]:
    """One for each level; the levels share their shuffles. `operation` (a context of its level) None: over all."""
    if average not in _AVERAGES:
        raise ConfigError(f"average must be 'pooled' or 'operations', got {average!r}")
    if time not in _TIMES:
        raise ConfigError(f"time must be 'response' or 'self', got {time!r}")
    question = _Question(time, contents.snapshot.info, log)
    wanted = range(len(contents.level(OPERATION))) if operation is None else [operation]
    observed = [_observed(contents, levels, row, question) for row in wanted]
    return std_reductions(observed, len(levels), average == "operations")


@dataclass(frozen=True, slots=True)
class _Question:
    """Which times, and whether of their logarithms."""

    time: str
    info: RecordingInfo
    log: bool

    @property
    def offset(self) -> int:
        """What is added to a time before its logarithm is taken, since a time can be 0."""
        return max(self.info.tick_ns, 1)

    def summary(self, rows: LeafColumns) -> SummaryColumns:
        return rows.response if self.time == "response" else rows.self_time

    def stds(self, rows: LeafColumns, first: int, end: int) -> Floats:
        """The standard deviation of some rows in ns, exact; of logarithms, from the histogram."""
        summary, counts = self.summary(rows), ints(rows.count)[first:end]
        if self.log:
            return self._log_stds(summary, first, end) * (counts > 1)  # of one observation exactly 0, whatever was rounded
        totals = wides(summary.sum_low[first:end], summary.sum_high[first:end])
        squares = wides(summary.square_low[first:end], summary.square_high[first:end])
        return np.array([std(*row) for row in zip(counts.tolist(), totals, squares, strict=True)], dtype=np.float64)

    def _log_stds(self, summary: SummaryColumns, first: int, end: int) -> Floats:
        starts = ints(summary.histogram.start)[first : end + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        counts, buckets = ints(summary.histogram.count)[entries], ints(summary.histogram.bucket)[entries]
        row = np.repeat(np.arange(end - first), np.diff(starts))
        low, high = ints(summary.minimum)[first:end][row], ints(summary.maximum)[first:end][row]
        values = np.log(np.clip(middles_of(buckets, self.info.precision_bits), low, high) + self.offset)
        sizes = np.bincount(row, counts)
        means = np.bincount(row, counts * values) / sizes
        found: Floats = np.sqrt(np.bincount(row, counts * (values - means[row]) ** 2) / sizes)
        return found


def _observed(contents: Contents, levels: Sequence[int], operation: int, question: _Question) -> Observed:
    """One operation, split by each level: its contexts are neighbours."""
    table = contents.level(OPERATION)
    first, end = table.leaf_range(operation)
    splits = []
    for level in levels:
        rows, contexts = contents.level(level).rows, contents.level(level).of_leaves(first, end)
        sizes = ints(rows.count)[contexts.start : contexts.stop]
        splits.append(Split(sizes, question.stds(rows, contexts.start, contexts.stop)))
    own_std = float(question.stds(table.rows, operation, operation + 1)[0])
    return Observed(_pool(contents, operation, question), own_std, tuple(splits))


def _pool(contents: Contents, operation: int, question: _Question) -> Pool:
    rows = contents.level(OPERATION).rows
    summary = question.summary(rows)
    entries = slice(int(summary.histogram.start[operation]), int(summary.histogram.start[operation + 1]))
    name = contents.snapshot.operations[int(rows.operation[operation])]
    return Pool(
        ints(summary.histogram.bucket)[entries],
        ints(summary.histogram.count)[entries],
        int(summary.minimum[operation]),
        int(summary.maximum[operation]),
        question.info.precision_bits,
        zlib.crc32(name.encode("utf-8", "surrogatepass")),
        question.offset if question.log else None,
    )
