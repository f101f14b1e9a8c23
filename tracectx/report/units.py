"""Figures as people read them."""

from __future__ import annotations

import math

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def human_time(seconds: float) -> str:
    """Three significant digits: `1.23 ms`; `-` where there is no time."""
    if math.isnan(seconds):
        return "-"
    if seconds == 0:
        return "0"
    for scale, unit in _UNITS:
        # What would round up to 1000 of a unit is one of the next.
        if float(f"{seconds / scale:.3g}") >= 1:
            return f"{_three_digits(seconds / scale)} {unit}"
    return f"{seconds * 1e9:.2g} ns"


def human_share(share: float) -> str:
    """Per cent; `<1 %` for what is there but small."""
    if math.isnan(share):
        return "-"
    percent = 100 * share
    return "<1 %" if 0 < percent < 1 else f"{percent:.0f} %"


def _three_digits(value: float) -> str:
    value = float(f"{value:.3g}")
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"
