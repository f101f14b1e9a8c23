"""Sentences in lines of a width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

TIED = "\0"
"""A blank at which no line ends."""


def wrapped(text: str, width: int, following: str = "  ") -> list[str]:
    """Lines of at most `width`, also where a name is longer; `following` begins the second and later ones.

    A figure stays with its per cent sign.
    """
    lines = textwrap.wrap(text.replace(" %", f"{TIED}%"), width, subsequent_indent=following, break_on_hyphens=False)
    return [line.replace(TIED, " ") for line in lines]


def enumerated(items: Sequence[str], most: int) -> str:
    """`a, b, c and 4 more`."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]]))
