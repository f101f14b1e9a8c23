"""How much of a standard deviation is left in blocks of a shuffled pool: what a split at random would do.

Numbers only, in numpy; any thread. Source: STATISTICS, section "Reduction of standard deviation".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracectx.stats.histogram_arrays import Floats, Ints, bounds_of

_LARGE_SHARE = 0.05
_MOST_COLOURS = 900_000_000  # numpy's multivariate hypergeometric takes fewer than 10^9


@dataclass(frozen=True, slots=True)
class Pool:
    """The observations of one operation, as a histogram. `offset` is what is added before taking logarithms; None: linear."""

    buckets: Ints
    counts: Ints
    minimum: int
    maximum: int
    precision_bits: int
    seed: int
    offset: int | None = None

    @property
    def size(self) -> int:
        return int(self.counts.sum())


def ratios(pool: Pool, splits: Sequence[Ints], shuffles: int, most: int) -> Floats:
    """For each split (sizes of its blocks) and each shuffle, sum of size times sd of the blocks, over that of the pool.

    All splits share the shuffles. A pool of more than `most` observations is thinned to `most`: blocks then overlap, and
    those of more than 5 % of the pool are drawn from the histogram.
    """
    rng = np.random.default_rng(pool.seed)
    values = _expanded(pool, most, rng)
    found = np.ones((len(splits), shuffles))
    worth_it = [index for index, sizes in enumerate(splits) if len(sizes) > 1]
    scale = values.std()
    if not worth_it or scale == 0:
        return found
    values = (values - values.mean()) / scale
    thinned = len(values) < pool.size
    for shuffle in range(shuffles):
        rng.shuffle(values)
        for index in worth_it:
            parts = _thinned_parts(pool, values, splits[index], rng) if thinned else _parts(values, splits[index])
            found[index, shuffle] = parts / pool.size
    return found


def _expanded(pool: Pool, most: int, rng: np.random.Generator) -> Floats:
    """The observations one by one, uniform inside their bucket, thinned systematically."""
    low, last = bounds_of(pool.buckets, pool.precision_bits)
    size = pool.size
    if size > most:
        ranks = ((np.arange(most) + 0.5) * (size / most)).astype(np.int64)
        places = np.searchsorted(np.cumsum(pool.counts), ranks, side="right")
    else:
        places = np.repeat(np.arange(len(pool.counts)), pool.counts)
    low, last = np.maximum(low, pool.minimum)[places], np.minimum(last, pool.maximum)[places]
    return _scaled(low + (last - low) * rng.random(len(places)), pool)


def _scaled(values: Floats, pool: Pool) -> Floats:
    return values if pool.offset is None else np.log(values + pool.offset)


def _parts(values: Floats, sizes: Ints) -> float:
    """The sum of size times sd over consecutive blocks."""
    starts = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(values, starts)
    squares = np.add.reduceat(values * values, starts)
    return _weighted(sums, squares, sizes, sizes)


def _weighted(sums: Floats, squares: Floats, sizes: Ints, weights: Ints) -> float:
    variance = np.maximum(squares / sizes - (sums / sizes) ** 2, 0)
    variance[sizes == 1] = 0  # exactly, whatever was rounded
    return float((weights * np.sqrt(variance)).sum())


def _thinned_parts(pool: Pool, values: Floats, sizes: Ints, rng: np.random.Generator) -> float:
    is_large = sizes > _LARGE_SHARE * pool.size
    small = sizes[~is_large]
    return _overlapping_parts(values, small) + sum(_drawn_part(pool, int(size), rng) for size in sizes[is_large])


def _overlapping_parts(values: Floats, weights: Ints) -> float:
    """As `_parts` for blocks that together hold more than the pool: they go round it, which the error only overstates."""
    if not len(weights):
        return 0.0
    size = len(values)
    sizes = np.minimum(weights, size // 2)
    starts = (np.cumsum(sizes) - sizes) % size
    ends = starts + sizes

    def block_sums(column: Floats) -> Floats:
        upto = np.concatenate([[0.0], np.cumsum(column)])
        found: Floats = upto[np.minimum(ends, size)] - upto[starts] + upto[np.maximum(ends - size, 0)]
        return found

    return _weighted(block_sums(values), block_sums(values * values), sizes, weights)


def _drawn_part(pool: Pool, size: int, rng: np.random.Generator) -> float:
    """Size times sd, over that of the pool, of observations drawn without replacement from the histogram."""
    thinning = -(-pool.size // _MOST_COLOURS)
    colours = pool.counts // thinning
    low, last = bounds_of(pool.buckets, pool.precision_bits)
    middles = _scaled((np.maximum(low, pool.minimum) + np.minimum(last, pool.maximum)) / 2, pool)
    whole = _histogram_std(middles, colours)
    drawn = rng.multivariate_hypergeometric(colours, min(size // thinning, int(colours.sum())), method="marginals")
    return size * _histogram_std(middles, drawn) / whole if whole else float(size)


def _histogram_std(values: Floats, counts: Ints) -> float:
    mean = np.average(values, weights=counts)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
