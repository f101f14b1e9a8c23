"""Lines of columns within a width, and names that are shortened where they say least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_NARROWEST_NAME = 12


def columns(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """One line for each row: the first cell at the left, in what the others leave of `width`; the others at the right.

    Columns stand two blanks apart, or one where it would be at the cost of the first.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    first = min(widths[0], max(_NARROWEST_NAME, width - sum(len(gap) + each for each in widths[1:])))
    for name, *cells in rows:
        figures = (f"{cell:>{each}}" for cell, each in zip(cells, widths[1:], strict=True))
        yield gap.join([f"{tail(name, first):{first}}", *figures])


def tail(name: str, width: int) -> str:
    """A dotted name in `width` characters: the end of a name tells most."""
    return name if len(name) <= width else "…" + name[len(name) - width + 1 :]
