"""A map from objects, by identity, that does not keep them alive.

Code objects compare equal by content and proxies by what they wrap, so neither can be the key of an ordinary weak
dictionary.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class WeakIdentityMap(Generic[V]):
    """Entries die with their object, before its address can be used again."""

    def __init__(self, on_death: Callable[[V], None] | None = None) -> None:
        self.by_id: dict[int, V] = {}
        self._references: dict[int, weakref.ref[object]] = {}
        self._on_death = on_death

    def __len__(self) -> int:
        return len(self.by_id)

    def get(self, owner: object) -> V | None:
        return self.by_id.get(id(owner))

    def add(self, owner: object, value: V) -> None:
        key = id(owner)

        def died(_: object) -> None:
            self._references.pop(key, None)
            dead = self.by_id.pop(key, None)
            if dead is not None and self._on_death is not None:
                self._on_death(dead)

        self._references[key] = weakref.ref(owner, died)
        self.by_id[key] = value

    def owners(self) -> list[object]:
        """Those still alive."""
        alive = [reference() for reference in list(self._references.values())]
        return [owner for owner in alive if owner is not None]
