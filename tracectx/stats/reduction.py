"""How much of the standard deviation a split into contexts takes away, beside what a split at random would take away.

The paper's measure (Rohr et al. 2008) falls for any split, so it never stands alone: its null comes from shuffles, and the
adjusted value is what is left. Numbers only, in numpy; any thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tracectx.stats.histogram_arrays import Floats, Ints
from tracectx.stats.shuffling import Pool, ratios

MOST_OBSERVATIONS = 1_000_000
_FEWEST_OF_AN_OPERATION = 2_000
_FEW_OBSERVATIONS = 5_000
_SHUFFLES, _SHUFFLES_FOR_FEW = 20, 40


@dataclass(frozen=True, slots=True)
class StdReduction:
    """The reduction of standard deviation by one level; 0 nothing, 1 all of it."""

    raw: float
    """The paper's measure: 1 - (sum over contexts of n sd) / (sum over operations of N sd)."""
    null: float
    """Its mean for random splits into contexts of the same sizes."""
    adjusted: float
    """What the contexts explain beyond that; contexts of one observation explain nothing."""
    error: float
    """The standard error of `adjusted` if the split were random."""
    p: float
    """The share of random splits that reduce at least as much, this one included; at best 1 / (shuffles + 1)."""
    z: float
    """`adjusted` in units of `error`."""
    omega_squared: float
    """The share of variance explained, unbiased, without draws; 0 if every context is a single observation."""
    n: int
    """Observations."""
    operations: int
    """Operations whose times differ at all; the others say nothing."""
    contexts: int
    shuffles: int


@dataclass(frozen=True, slots=True)
class Split:
    """The contexts of one operation at one level: their sizes and standard deviations."""

    sizes: Ints
    stds: Floats


@dataclass(frozen=True, slots=True)
class Observed:
    """The observations of one operation with their exact standard deviation, and how each level splits them."""

    pool: Pool
    std: float
    splits: tuple[Split, ...]


def std_reductions(operations: Sequence[Observed], levels: int, by_operation: bool) -> list[StdReduction]:
    """The reduction for each level, over all operations: pooled, or as the mean over operations.

    Deterministic: the shuffles follow from the seeds of the pools.
    """
    average = _Average(operations, by_operation)
    n = sum(operation.pool.size for operation in operations)
    shuffles = _SHUFFLES_FOR_FEW if n < _FEW_OBSERVATIONS else _SHUFFLES
    left = [_left_by_shuffles(operation, shuffles, n) for operation in average.varied]
    return [_reduction(average, level, [shuffled[level] for shuffled in left], shuffles) for level in range(levels)]


def _left_by_shuffles(operation: Observed, shuffles: int, n: int) -> Floats:
    """For each level and shuffle the share of an operation's standard deviation that is left.

    All its observations are shuffled, unless all operations have too many together.
    """
    size = operation.pool.size
    most = size if n <= MOST_OBSERVATIONS else min(size, max(_FEWEST_OF_AN_OPERATION, MOST_OBSERVATIONS * size // n))
    return ratios(operation.pool, [split.sizes for split in operation.splits], shuffles, most)


class _Average:
    """The mean of a figure over those operations whose times differ.

    Sums are rounded once, so that a mean of ones is 1 and a mean of zeros is 0.
    """

    def __init__(self, operations: Sequence[Observed], by_operation: bool) -> None:
        self.operations = operations
        self.varied = [operation for operation in operations if operation.std > 0]
        self.by_operation = by_operation
        self._weights = [1.0 if by_operation else operation.pool.size * operation.std for operation in self.varied]

    def of(self, figures: Iterable[float]) -> float:
        """0 if there is no such operation."""
        weighted = math.fsum(weight * figure for weight, figure in zip(self._weights, figures, strict=True))
        return weighted / math.fsum(self._weights) if self._weights else 0.0


def _reduction(average: _Average, level: int, left: Sequence[Floats], shuffles: int) -> StdReduction:
    varied = average.varied
    raw = average.of(1 - _ratio(operation, level) for operation in varied)
    at_random = np.array([average.of(1 - float(ratio[shuffle]) for ratio in left) for shuffle in range(shuffles)])
    null = float(at_random.mean())
    shared = average.of(_shared(operation, level) for operation in varied)
    scale = shared / (1 - null) if null < 1 else 0.0
    adjusted = scale * (raw - null)
    error = scale * float(at_random.std(ddof=1)) * math.sqrt(1 + 1 / shuffles)
    return StdReduction(
        raw=raw,
        null=null,
        adjusted=adjusted,
        error=error,
        p=(1 + int((at_random >= raw).sum())) / (shuffles + 1),
        z=adjusted / error if error else math.copysign(math.inf, adjusted) if adjusted else 0.0,
        omega_squared=_omega_squared(average, level),
        n=sum(operation.pool.size for operation in average.operations),
        operations=len(varied),
        contexts=sum(len(operation.splits[level].sizes) for operation in average.operations),
        shuffles=shuffles,
    )


def _shared(operation: Observed, level: int) -> float:
    """The share of an operation's observations that are not alone in their context."""
    sizes = operation.splits[level].sizes
    return int(sizes[sizes > 1].sum()) / operation.pool.size


def _ratio(operation: Observed, level: int) -> float:
    split = operation.splits[level]
    if len(split.sizes) == 1:
        return 1.0
    return float((split.sizes * split.stds).sum()) / (operation.pool.size * operation.std)


def _omega_squared(average: _Average, level: int) -> float:
    """Source: Hays, Statistics for Psychologists (1963): (SSB - dfB MSW) / (SST + MSW)."""
    parts = [_squares(operation, level) for operation in average.varied]
    if average.by_operation:
        return average.of(_omega(*part) for part in parts)
    return _omega(*(sum(column) for column in zip(*parts, strict=True))) if parts else 0.0


def _squares(operation: Observed, level: int) -> tuple[float, float, float, float]:
    """Sums of squares in all and within contexts, degrees of freedom between and within."""
    split, size = operation.splits[level], operation.pool.size
    within = float((split.sizes * split.stds**2).sum())
    return size * operation.std**2, within, len(split.sizes) - 1, size - len(split.sizes)


def _omega(total: float, within: float, between_freedom: float, within_freedom: float) -> float:
    if not within_freedom or not between_freedom:
        return 0.0
    mean_within = within / within_freedom
    return (total - within - between_freedom * mean_within) / (total + mean_within)
