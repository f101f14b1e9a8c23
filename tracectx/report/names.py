"""Short names of operations that are never ambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable


def shortener(names: Iterable[str]) -> Callable[[str], str]:
    """A function that drops leading parts which no other of the names needs to be told apart; two parts stay."""
    known = list(names)
    shortest: dict[str, str] = {}
    for keep in (2, 3, 4, 5):
        tails = Counter(_tail(name, keep) for name in known)
        for name in known:
            if name not in shortest and tails[_tail(name, keep)] == 1:
                shortest[name] = _tail(name, keep)
    return lambda name: shortest.get(name, name)


def _tail(name: str, parts: int) -> str:
    """The last parts of a dotted name; dots in a label (`shop.search[a.b]`) do not count."""
    head, bracket, label = name.partition("[")
    pieces = head.replace("<locals>.", "").split(".")
    return ".".join(pieces[-parts:]) + bracket + label
