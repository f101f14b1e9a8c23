"""The levels of a calling-context tree over canonical leaves: each is a table of contexts, made when it is asked for.

A context of a level is a run of leaf rows, so that its figures are sums of theirs, exactly. Leaves that lack the key of a
level are an `(other)` context of their parent there, one for each reason.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracectx.core.snapshot import NOT_KEPT, LeafColumns
from tracectx.errors import ConfigError
from tracectx.stats.histogram_arrays import Ints
from tracectx.tree.arrays import ints
from tracectx.tree.rows import keys_of, reduced, run_starts

LEVELS = ("operation", "caller", "stack", "subtree", "trace")
OPERATION, CALLER, STACK, SUBTREE, TRACE = range(5)

_POSITION, _REASON = 5, 6
_LAST = np.iinfo(np.int64).max


def level_index(level: str) -> int:
    """The number of a level; `ConfigError` for what is none."""
    if not isinstance(level, str) or level not in LEVELS:
        raise ConfigError(f"level must be one of {', '.join(map(repr, LEVELS))}, got {level!r}")
    return LEVELS.index(level)


class LevelTable:
    """The contexts of one level. Row i is context i; `starts[i]` is its first leaf row."""

    def __init__(self, leaves: LeafColumns, level: int) -> None:
        self._leaves = leaves
        self.level = level
        keys = keys_of(leaves)
        own_key = keys[level]
        parts = [*keys[: level + 1], np.where(own_key == NOT_KEPT, keys[_REASON], 0)]
        if level == TRACE:
            parts.append(keys[_POSITION])
        self.starts: Ints = run_starts(parts)
        self.is_other: NDArray[np.bool_] = own_key[self.starts] == NOT_KEPT

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def rows(self) -> LeafColumns:
        """The figures of each context. Keys finer than the level are those of some leaf and mean nothing."""
        if self.level == TRACE:
            return self._leaves
        return reduced(self._leaves, np.arange(len(ints(self._leaves.count))), self.starts)

    @cached_property
    def operation(self) -> Ints:
        return ints(self._leaves.operation)[self.starts]

    @cached_property
    def since_ns(self) -> Ints:
        """Unix time from which each context counts; 0 from the start.

        Trace classes and subtrees can be admitted later and come back; what is coarser is kept from its first execution.
        """
        if self.level < SUBTREE or not len(self):
            return np.zeros(len(self), np.int64)
        earliest: Ints = np.minimum.reduceat(ints(self._leaves.since_ns), self.starts)
        return earliest

    @cached_property
    def order(self) -> Ints:
        """Contexts by operation, caller, stack, count descending, shape structure, position; `(other)` ones last."""
        rows = self.rows
        keys: list[Ints] = [self.is_other.astype(np.int64)]
        for name in ("operation", "caller", "stack")[: self.level + 1]:
            key = ints(getattr(rows, name))
            keys.append(np.where(key == NOT_KEPT, _LAST, key))
        keys.append(-ints(rows.count))
        if self.level >= SUBTREE:
            keys.append(ints(rows.trace if self.level == TRACE else rows.subtree))
            keys.append(ints(rows.position) if self.level == TRACE else keys[0])
        order: Ints = np.lexsort(keys[::-1])
        return order

    def of_leaves(self, first: int, end: int) -> range:
        """The contexts that hold the leaf rows from `first` to before `end`."""
        below = int(np.searchsorted(self.starts, first, side="right")) - 1
        return range(below, int(np.searchsorted(self.starts, end)))

    def leaf_range(self, context: int) -> tuple[int, int]:
        """The leaf rows of a context: the first, and the first that is not."""
        is_last = context + 1 == len(self.starts)
        end = len(ints(self._leaves.count)) if is_last else int(self.starts[context + 1])
        return int(self.starts[context]), end

    def in_order(self, contexts: range) -> list[int]:
        """Some consecutive contexts in the order of `order`."""
        if len(contexts) == len(self):
            return [int(context) for context in self.order]
        return sorted(contexts, key=self._places.__getitem__)

    @cached_property
    def _places(self) -> Ints:
        places = np.empty(len(self), np.int64)
        places[self.order] = np.arange(len(self))
        return places
