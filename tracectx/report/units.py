"""Figures as people read them: three digits and a unit."""

from __future__ import annotations

import math

_TIMES = ((86_400.0, "d"), (3_600.0, "h"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def human_time(seconds: float) -> str:
    """Three significant digits: `1.23 ms`; `-` where there is no time."""
    if math.isnan(seconds):
        return "-"
    if seconds == 0:
        return "0"
    for scale, unit in _TIMES:
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


def human_count(count: int) -> str:
    """As it is up to 9,999, then in thousands, millions, ...: `25.3k`."""
    if count < 10_000:
        return str(count)
    scale, unit = next((scale, unit) for scale, unit in _COUNTS if float(f"{count / scale:.3g}") >= 1)
    return f"{count / scale:.3g}{unit}"


def counted(number: int, noun: str) -> str:
    """`1 trace`, `1,200 traces`."""
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{plural}"


def _three_digits(value: float) -> str:
    value = float(f"{value:.3g}")
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"
