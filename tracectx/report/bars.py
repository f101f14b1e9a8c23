"""Small histograms: the shape of a distribution in a line of characters, on a logarithmic axis that several share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracectx.tree.timing_model import TimingModel

BLOCKS = " ▁▂▃▄▅▆▇█"
_NANOSECOND = 1e-9
_ROUNDING = 1e-6
"""Keeps what lies on the border of two cells, but for the rounding of logarithms, in the upper one."""


def axis(models: Sequence[TimingModel]) -> tuple[float, float]:
    """From the smallest to the largest time of all, in seconds, widened so that it has an extent."""
    low = min(model.min_ns for model in models) / 1e9
    high = max(model.max_ns for model in models) / 1e9
    low = max(low, _NANOSECOND)
    return low, max(high, low * 1.1)


def bars(model: TimingModel, bounds: tuple[float, float], width: int) -> str:
    """`width` characters; the fullest cell is a full block, and what holds anything shows something."""
    low, high = (math.log(bound) for bound in bounds)
    cells = [0] * width
    for part in model.histogram():
        middle = min(max((part.low + part.high - _NANOSECOND) / 2, model.min), model.max)
        place = (math.log(max(middle, _NANOSECOND)) - low) / (high - low) * width
        cells[min(max(int(place + _ROUNDING), 0), width - 1)] += part.count
    most = max(cells, default=0) or 1
    return "".join(BLOCKS[0 if not cell else max(1, round(cell / most * (len(BLOCKS) - 1)))] for cell in cells)
