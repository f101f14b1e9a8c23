"""`Context`: an equivalence class of executions of one operation, at one level. A view; immutable; any thread."""

from __future__ import annotations

from dataclasses import dataclass

from tracectx.core.snapshot import ENDINGS, REASONS, LeafColumns, SummaryColumns
from tracectx.stats.moments import NS_PER_SECOND
from tracectx.tree.call_tree import CallTree
from tracectx.tree.contents import Contents
from tracectx.tree.levels import CALLER, LEVELS, OPERATION, STACK, SUBTREE, TRACE, LevelTable
from tracectx.tree.timing_model import TimingModel, model_of_row


@dataclass(frozen=True, slots=True, repr=False)
class Context:
    """Executions of one operation that agree in all keys down to `level`, with their times.

    An `(other)` context (`is_other`) holds the executions of its parent whose key at this level is not kept: that key is
    None, and `other_reason` says why. Two contexts are equal if they are the same one of the same tree.
    """

    _contents: Contents
    _level: int
    _index: int

    @property
    def operation(self) -> str:
        return self._contents.snapshot.operations[int(self._table.operation[self._index])]

    @property
    def level(self) -> str:
        return LEVELS[self._level]

    @property
    def caller(self) -> str | None:
        """None for a root, at level "operation", and where it is not kept."""
        return self._contents.operation_name(int(self._rows.caller[self._index])) if self._level >= CALLER else None

    @property
    def stack(self) -> tuple[str, ...] | None:
        """Names from the root to the operation itself; None above level "stack", and where it is not kept."""
        stack = int(self._rows.stack[self._index]) if self._level >= STACK else -1
        return self._contents.stack_names(stack) if stack >= 0 else None

    @property
    def shape(self) -> CallTree | None:
        """At level "trace" the tree of the whole trace, at "subtree" the own subtree; else, and where not kept, None."""
        if self._level < SUBTREE:
            return None
        rows = self._rows
        shape = int((rows.trace if self._level == TRACE else rows.subtree)[self._index])
        return self._contents.call_tree(shape) if shape >= 0 else None

    @property
    def position(self) -> int | None:
        """The preorder index in `shape`: 0 at level "subtree", None where there is no shape."""
        if self._level < SUBTREE or self.is_other:
            return None
        return int(self._rows.position[self._index]) if self._level == TRACE else 0

    @property
    def count(self) -> int:
        return int(self._rows.count[self._index])

    @property
    def ended(self) -> dict[str, int]:
        """Executions by kind of ending; every kind is there."""
        return {kind: int(column[self._index]) for kind, column in zip(ENDINGS, self._rows.endings, strict=True)}

    @property
    def raised(self) -> int:
        return int(self._rows.endings[ENDINGS.index("raised")][self._index])

    @property
    def resumptions(self) -> int:
        return int(self._rows.resumptions[self._index])

    @property
    def suspended_ns(self) -> int:
        return int(self._rows.suspended_ns[self._index])

    @property
    def outermost_total_ns(self) -> int:
        """Response times without executions below one of the same operation."""
        return int(self._rows.outermost_total_ns[self._index])

    @property
    def is_other(self) -> bool:
        return bool(self._table.is_other[self._index])

    @property
    def other_reason(self) -> str | None:
        """One of "evicted", "truncated", "open", "late" and "limit"; None if this is not an `(other)` context."""
        return REASONS[int(self._rows.reason[self._index])] if self.is_other else None

    @property
    def since(self) -> float | None:
        """Unix time in seconds from which the context counts, if it was admitted late; None: from the start."""
        since_ns = int(self._table.since_ns[self._index])
        return since_ns / NS_PER_SECOND if since_ns else None

    @property
    def response_time(self) -> TimingModel:
        return self._model(self._rows.response)

    @property
    def self_time(self) -> TimingModel:
        return self._model(self._rows.self_time)

    @property
    def parent(self) -> Context | None:
        """The context that holds this one at the next coarser level; None at level "operation"."""
        if self._level == OPERATION:
            return None
        first, end = self._table.leaf_range(self._index)
        above = self._contents.level(self._level - 1).of_leaves(first, end)
        return Context(self._contents, self._level - 1, above[0])

    @property
    def children(self) -> list[Context]:
        """The contexts of the next finer level that split this one, in the order of `contexts()`."""
        if self._level == TRACE:
            return []
        below = self._contents.level(self._level + 1)
        found = below.of_leaves(*self._table.leaf_range(self._index))
        return [Context(self._contents, self._level + 1, index) for index in below.in_order(found)]

    def __repr__(self) -> str:
        known = [f"{self.operation!r}", f"level={self.level!r}"]
        if self._level >= CALLER and not self.is_other:
            known.append(f"caller={self.caller!r}")
        if self.is_other:
            known.append(f"other_reason={self.other_reason!r}")
        return f"<Context {' '.join(known)} count={self.count}>"

    def _model(self, summary: SummaryColumns) -> TimingModel:
        info = self._contents.snapshot.info
        return model_of_row(summary, self._index, self.count, info.precision_bits, info.tick_ns)

    @property
    def _table(self) -> LevelTable:
        return self._contents.level(self._level)

    @property
    def _rows(self) -> LeafColumns:
        return self._table.rows
