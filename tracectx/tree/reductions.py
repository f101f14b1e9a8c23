"""The contexts of a tree as what `tracectx.stats.reduction` computes with."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from tracectx.core.snapshot import LeafColumns, SummaryColumns
from tracectx.errors import ConfigError
from tracectx.stats.histogram_arrays import Floats, Ints, middles_of
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
    """One for each level; the levels share their shuffles. `operation` None: over all operations."""
    if average not in _AVERAGES:
        raise ConfigError(f"average must be 'pooled' or 'operations', got {average!r}")
    if time not in _TIMES:
        raise ConfigError(f"time must be 'response' or 'self', got {time!r}")
    wanted = range(len(contents.level(OPERATION))) if operation is None else [operation]
    observed = _observed(contents, levels, wanted, time, log)
    return std_reductions(observed, len(levels), average == "operations")


def _observed(contents: Contents, levels: Sequence[int], wanted: Sequence[int], time: str, log: bool) -> list[Observed]:
    info = contents.snapshot.info
    offset = max(info.tick_ns, 1) if log else None
    table = contents.level(OPERATION)
    rows, summary = table.rows, _summary(table.rows, time)
    starts, buckets, counts = (ints(column) for column in _entries(summary))
    stds = _stds(rows, time, info.precision_bits, offset)
    all_splits = [_splits(contents, level, time, offset) for level in levels]
    observed = []
    for row in wanted:
        entries = slice(starts[row], starts[row + 1])
        name = contents.snapshot.operations[int(rows.operation[row])]
        pool = Pool(
            buckets[entries],
            counts[entries],
            int(summary.minimum[row]),
            int(summary.maximum[row]),
            info.precision_bits,
            zlib.crc32(name.encode("utf-8", "surrogatepass")),
            offset,
        )
        observed.append(Observed(pool, float(stds[row]), tuple(splits[row] for splits in all_splits)))
    return observed


def _splits(contents: Contents, level: int, time: str, offset: int | None) -> list[Split]:
    """The split of each operation at a level: its contexts are neighbours."""
    table = contents.level(level)
    stds = _stds(table.rows, time, contents.snapshot.info.precision_bits, offset)
    sizes = ints(table.rows.count)
    cuts = np.searchsorted(table.starts, contents.level(OPERATION).starts)[1:]
    pairs = zip(np.split(sizes, cuts), np.split(stds, cuts), strict=True)
    return [Split(part_sizes, part_stds) for part_sizes, part_stds in pairs]


def _stds(rows: LeafColumns, time: str, precision_bits: int, offset: int | None) -> Floats:
    """The standard deviation of each row in ns, exact; of logarithms, from the histogram."""
    summary, counts = _summary(rows, time), ints(rows.count)
    if offset is not None:
        return _log_stds(summary, counts, precision_bits, offset)
    totals, squares = wides(summary.sum_low, summary.sum_high), wides(summary.square_low, summary.square_high)
    return np.array([std(*row) for row in zip(counts.tolist(), totals, squares, strict=True)], dtype=np.float64)


def _log_stds(summary: SummaryColumns, counts: Ints, precision_bits: int, offset: int) -> Floats:
    starts, buckets, per_bucket = (ints(column) for column in _entries(summary))
    row = np.repeat(np.arange(len(counts)), np.diff(starts))
    middles = np.clip(middles_of(buckets, precision_bits), ints(summary.minimum)[row], ints(summary.maximum)[row])
    values = np.log(middles + offset)
    means = np.bincount(row, per_bucket * values, len(counts)) / counts
    found: Floats = np.sqrt(np.bincount(row, per_bucket * (values - means[row]) ** 2, len(counts)) / counts)
    found[counts == 1] = 0  # exactly, whatever was rounded
    return found


def _summary(rows: LeafColumns, time: str) -> SummaryColumns:
    return rows.response if time == "response" else rows.self_time


def _entries(summary: SummaryColumns) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    return summary.histogram.start, summary.histogram.bucket, summary.histogram.count
