"""Small histograms: the shape of a distribution in a line of characters, on a logarithmic axis that several share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracectx.tree.timing_model import TimingModel

BLOCKS = " ▁▂▃▄▅▆▇█"


def axis(models: Sequence[TimingModel]) -> tuple[float, float]:
    """From the smallest to the largest time of all, in seconds, widened so that it has an extent."""
    low = min(model.min_ns for model in models) / 1e9
    high = max(model.max_ns for model in models) / 1e9
    low = max(low, 1e-9)
    return low, max(high, low * 1.1)


def bars(model: TimingModel, bounds: tuple[float, float], width: int) -> str:
    """`width` characters; the fullest cell is a full block, and what holds anything shows something."""
    low, high = (math.log(bound) for bound in bounds)
    cells = [0.0] * width
    for part in model.histogram():
        first = (math.log(max(part.low, bounds[0])) - low) / (high - low) * width
        last = (math.log(max(part.high, bounds[0])) - low) / (high - low) * width
        _spread(cells, first, last, part.count)
    most = max(cells, default=0.0) or 1.0
    return "".join(BLOCKS[0 if not cell else max(1, round(cell / most * (len(BLOCKS) - 1)))] for cell in cells)


def _spread(cells: list[float], first: float, last: float, count: int) -> None:
    """Adds a bin to the cells it covers, in proportion."""
    first_cell = min(max(int(first), 0), len(cells) - 1)
    last_cell = min(max(math.ceil(last) - 1, first_cell), len(cells) - 1)
    for cell in range(first_cell, last_cell + 1):
        cells[cell] += count / (last_cell - first_cell + 1)
