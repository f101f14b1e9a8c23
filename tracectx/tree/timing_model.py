"""`TimingModel`: the distribution of the times of one context, from exact sums and a histogram. Immutable; any thread."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracectx.core.snapshot import SummaryColumns
from tracectx.errors import ConfigError
from tracectx.stats import histogram
from tracectx.stats.histogram_arrays import Ints, bounds_of, coarsen_all
from tracectx.stats.moments import NS_PER_SECOND, mean, rank_of, std
from tracectx.tree.arrays import ints, wide

_DECIMAL_SLACK = 1 + 2.0**-51
"""Makes up for the rounding of seconds, so that the largest time is not taken for a little less than itself."""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many times lie from `low` to below `high`, in seconds."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class TimingModel:
    """Times of the executions of one context. Seconds as floats; exact integers in nanoseconds end in `_ns`.

    Count, total, mean, standard deviation, minimum and maximum are exact. Quantiles come from the histogram: at most
    `relative_error` off, exact where a bucket holds one value. Models of equal precision add; of different precision they
    add with the lower.
    """

    count: int
    total_ns: int
    squares_ns: int
    """The sum of squares, in square nanoseconds."""
    min_ns: int
    max_ns: int
    buckets: Ints
    """Ascending; see `tracectx.stats.histogram`."""
    counts: Ints
    precision_bits: int
    tick_ns: int

    @property
    def total(self) -> float:
        return self.total_ns / NS_PER_SECOND

    @property
    def mean(self) -> float:
        return mean(self.count * NS_PER_SECOND, self.total_ns)

    @property
    def std(self) -> float:
        """The population standard deviation."""
        return std(self.count, self.total_ns, self.squares_ns) / NS_PER_SECOND

    @property
    def min(self) -> float:
        return self.min_ns / NS_PER_SECOND if self.count else math.nan

    @property
    def max(self) -> float:
        return self.max_ns / NS_PER_SECOND if self.count else math.nan

    @property
    def p50(self) -> float:
        return self.quantile(0.5)

    @property
    def p90(self) -> float:
        return self.quantile(0.9)

    @property
    def p95(self) -> float:
        return self.quantile(0.95)

    @property
    def p99(self) -> float:
        return self.quantile(0.99)

    @property
    def relative_error(self) -> float:
        """How far a quantile is off at most, as a share of it."""
        return histogram.relative_error(self.precision_bits)

    def quantile(self, q: float) -> float:
        """The smallest time with at least a share `q` of the executions at or below it; nan of none."""
        if isinstance(q, bool) or not isinstance(q, (int, float)) or not 0 <= q <= 1:
            raise ConfigError(f"a quantile must be between 0 and 1, got {q!r}")
        if not self.count:
            return math.nan
        rank = rank_of(q, self.count)
        if rank == 1:
            return self.min
        if rank == self.count:
            return self.max
        entry = int(np.searchsorted(np.cumsum(self.counts), rank))
        low, high = histogram.bounds(int(self.buckets[entry]), self.precision_bits)
        middle = (low + high - 1) / 2
        return min(max(middle, self.min_ns), self.max_ns) / NS_PER_SECOND

    def cdf(self, x: float) -> float:
        """The share of executions that took at most `x` seconds; nan of none."""
        if not self.count or math.isnan(x):
            return math.nan
        if x >= self.max:
            return 1.0
        if x < self.min:
            return 0.0
        x_ns = math.floor(x * NS_PER_SECOND * _DECIMAL_SLACK)
        entry = int(np.searchsorted(self.buckets, histogram.bucket_of(x_ns, self.precision_bits)))
        below = float(self.counts[:entry].sum())
        if entry < len(self.buckets):
            low, high = histogram.bounds(int(self.buckets[entry]), self.precision_bits)
            below += float(self.counts[entry]) * min(1.0, max(0.0, (x_ns + 1 - low) / (high - low)))
        return below / self.count

    def histogram(self) -> list[Bin]:
        """The bins that hold something, ascending."""
        low, last = bounds_of(self.buckets, self.precision_bits)
        bounds = zip(low.tolist(), last.tolist(), self.counts.tolist(), strict=True)
        return [Bin(a / NS_PER_SECOND, (z + 1) / NS_PER_SECOND, count) for a, z, count in bounds]

    def __add__(self, other: TimingModel) -> TimingModel:
        if not isinstance(other, TimingModel):
            return NotImplemented
        if not self.count or not other.count:
            return self if self.count else other
        bits = min(self.precision_bits, other.precision_bits)
        buckets, counts = _added(
            [(coarsen_all(model.buckets, model.precision_bits, bits), model.counts) for model in (self, other)]
        )
        return TimingModel(
            count=self.count + other.count,
            total_ns=self.total_ns + other.total_ns,
            squares_ns=self.squares_ns + other.squares_ns,
            min_ns=min(self.min_ns, other.min_ns),
            max_ns=max(self.max_ns, other.max_ns),
            buckets=buckets,
            counts=counts,
            precision_bits=bits,
            tick_ns=max(self.tick_ns, other.tick_ns),
        )

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, TimingModel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        figures = f"count={self.count}, mean={self.mean:.6g}, std={self.std:.6g}, p50={self.p50:.6g}, max={self.max:.6g}"
        return f"TimingModel({figures})"

    def _values(self) -> tuple[object, ...]:
        exact = (self.count, self.total_ns, self.squares_ns, self.min_ns, self.max_ns)
        histogram = (self.precision_bits, self.tick_ns, tuple(self.buckets.tolist()), tuple(self.counts.tolist()))
        return exact + histogram


def empty_model(precision_bits: int, tick_ns: int) -> TimingModel:
    """The model of no execution."""
    nothing = np.zeros(0, np.int64)
    return TimingModel(0, 0, 0, 0, 0, nothing, nothing, precision_bits, tick_ns)


def model_of_row(summary: SummaryColumns, row: int, count: int, precision_bits: int, tick_ns: int) -> TimingModel:
    """The model of one row of a table."""
    starts = summary.histogram.start
    entries = slice(int(starts[row]), int(starts[row + 1]))
    return TimingModel(
        count=count,
        total_ns=wide(summary.sum_low, summary.sum_high, row),
        squares_ns=wide(summary.square_low, summary.square_high, row),
        min_ns=int(summary.minimum[row]),
        max_ns=int(summary.maximum[row]),
        buckets=ints(summary.histogram.bucket)[entries],
        counts=ints(summary.histogram.count)[entries],
        precision_bits=precision_bits,
        tick_ns=tick_ns,
    )


def _added(histograms: Iterable[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    buckets, counts = (np.concatenate(column) for column in zip(*histograms, strict=True))
    merged, places = np.unique(buckets, return_inverse=True)
    sums = np.zeros(len(merged), np.int64)
    np.add.at(sums, places, counts)
    return merged, sums
