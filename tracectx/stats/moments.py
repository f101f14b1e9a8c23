"""Mean, standard deviation and rank from exact sums. Numbers only, no numpy; any thread."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

NS_PER_SECOND = 1_000_000_000


def mean(count: int, total: int) -> float:
    """The mean, rounded once; nan of nothing."""
    return total / count if count else math.nan


def std(count: int, total: int, squares: int) -> float:
    """The population standard deviation; nan of nothing.

    The difference is taken in integers: `squares - total**2 / count` in floats was 40 times off for times that are long
    and differ little.
    """
    return math.sqrt(count * squares - total * total) / count if count else math.nan


def rank_of(q: float, count: int) -> int:
    """Which of `count` sorted observations is the q-quantile, from 1: the first with at least a share q at or below it.

    Reckoned with the decimal that was written (0.07 of 100 is the 7th), not with the binary fraction just above it.
    """
    numerator, denominator = _decimal(float(q))
    return max(1, -(-numerator * count // denominator))


@lru_cache(maxsize=256)
def _decimal(q: float) -> tuple[int, int]:
    return Fraction(str(q)).as_integer_ratio()
