"""`CallingContextTree`: the hierarchy of partitions of what a recording holds. Immutable, picklable; any thread."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tracectx.core.snapshot import RecordingInfo, Snapshot
from tracectx.errors import ConfigError, UnknownOperation
from tracectx.stats.reduction import StdReduction
from tracectx.tree.arrays import exact_total, ints, wides
from tracectx.tree.canonical import canonical
from tracectx.tree.contents import Contents
from tracectx.tree.context import Context
from tracectx.tree.dataframe import dataframe
from tracectx.tree.difference import difference
from tracectx.tree.levels import LEVELS, OPERATION, level_index
from tracectx.tree.reductions import reductions
from tracectx.tree.timing_model import empty_model, model_of_row
from tracectx.tree.trace_class import TraceClass, exemplar_of_row
from tracectx.tree.writing import write

if TYPE_CHECKING:
    import pandas as pd


class CallingContextTree:
    """The timing behaviour of a recording, in contexts of five levels: operation, caller, stack, subtree, trace.

    Made from any snapshot, which is brought into canonical form: equal contents give equal trees and files.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._contents = Contents(canonical([snapshot]))

    @property
    def snapshot(self) -> Snapshot:
        """The columns, in canonical form."""
        return self._contents.snapshot

    @property
    def info(self) -> RecordingInfo:
        """What was recorded, when and how, and the counters of its losses."""
        return self.snapshot.info

    @cached_property
    def operations(self) -> Mapping[str, Context]:
        """The context of each operation that has executions, by name."""
        table = self._contents.level(OPERATION)
        contexts = [Context(self._contents, OPERATION, index) for index in range(len(table))]
        return MappingProxyType({context.operation: context for context in contexts})

    def __getitem__(self, operation: str) -> Context:
        return self.operations[self._known(operation)]

    def contexts(self, operation: str | None = None, level: str = "trace") -> list[Context]:
        """The contexts of one operation, or of all, at a level.

        Sorted by operation, caller, stack, count descending, shape structure and position; `(other)` contexts last.
        """
        index = level_index(level)
        table = self._contents.level(index)
        wanted = range(len(table)) if operation is None else self._range(operation, index)
        return [Context(self._contents, index, context) for context in table.in_order(wanted)]

    def context_count(self, operation: str | None = None, level: str = "trace") -> int:
        """`len(contexts(...))`, without making them."""
        index = level_index(level)
        return len(self._contents.level(index) if operation is None else self._range(operation, index))

    def most_different(self, operation: str, level: str = "trace", most: int = 6, least_count: int = 1) -> list[Context]:
        """The contexts of an operation that move its times most: those with the largest count x (difference of means)^2.

        The largest first; those of less than `least_count` executions after all others. 100,000 contexts cost little, since
        only those that are given are made.
        """
        index = level_index(level)
        wanted = self._range(operation, index)
        rows, part = self._contents.level(index).rows, slice(wanted.start, wanted.stop)
        counts = ints(rows.count)[part]
        totals = np.array(wides(rows.response.sum_low[part], rows.response.sum_high[part]), dtype=np.float64)
        moved = counts * (totals / counts - totals.sum() / counts.sum()) ** 2
        places = np.lexsort((-moved, counts < least_count))[:most]
        return [Context(self._contents, index, wanted[place]) for place in places.tolist()]

    @cached_property
    def trace_classes(self) -> list[TraceClass]:
        """The classes of traces that are kept, the most frequent first, then by structure."""
        counts = ints(self.snapshot.classes.count)
        return [self._trace_class(row) for row in np.argsort(-counts, kind="stable").tolist()]

    @property
    def executions(self) -> int:
        """Completed executions, each counted once."""
        return exact_total(ints(self.snapshot.leaves.count))

    @property
    def traces(self) -> int:
        """Completed traces, those included that are not in a class that is kept."""
        return self.info.counters.get("traces", exact_total(ints(self.snapshot.classes.count)))

    def std_reduction(
        self,
        level: str,
        operation: str | None = None,
        *,
        average: str = "pooled",
        time: str = "response",
        log: bool = False,
    ) -> StdReduction:
        """By how much knowing the contexts of `level` reduces the standard deviation of times.

        Of one operation, or over all: pooled, or with `average="operations"` as the mean of theirs. `time`: "response" or
        "self". `log`: of the logarithms of times. The same tree always gives the same value.
        """
        return self._reductions([level], operation, average, time, log)[0]

    def std_reductions(
        self, operation: str | None = None, *, average: str = "pooled", time: str = "response", log: bool = False
    ) -> dict[str, StdReduction]:
        """`std_reduction` of each level, for little more than the cost of one: they share the shuffles."""
        return dict(zip(LEVELS, self._reductions(LEVELS, operation, average, time, log), strict=True))

    def since(self, earlier: CallingContextTree) -> CallingContextTree:
        """What was added after an earlier snapshot of the same recording, exactly: windows, rates, times over calendar time.

        Where a leaf moved in between (its trace completed, or it was evicted) its parent has one `(other)` context instead of
        its children. `ConfigError` for another recording, or one that is not earlier.
        """
        if not isinstance(earlier, CallingContextTree):
            raise ConfigError(f"since() takes an earlier tree of the same recording, got {earlier!r}")
        return _tree_of(difference(self.snapshot, earlier.snapshot))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a `.tctx` file, whole or not at all; equal trees give equal bytes. `tracectx.load(path)` reads it."""
        write(self.snapshot, path)

    def to_dataframe(self, level: str = "trace") -> pd.DataFrame:
        """One row for each context of a level, in the order of `contexts()`. Needs pandas: `tracectx[pandas]`."""
        return dataframe(self._contents, level_index(level))

    def __add__(self, other: CallingContextTree) -> CallingContextTree:
        """Both in one, as `tracectx.merge([a, b])`."""
        return merged_tree([self, other]) if isinstance(other, CallingContextTree) else NotImplemented

    def __repr__(self) -> str:
        return f"<CallingContextTree {self.executions} executions, {len(self.operations)} operations, {self.traces} traces>"

    def __reduce__(self) -> tuple[object, tuple[Snapshot]]:
        return _tree_of, (self.snapshot,)

    def _known(self, operation: str) -> str:
        if operation in self.operations:
            return operation
        nearest = _nearest(operation, list(self.operations))
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        raise UnknownOperation(f"no operation {operation!r} among {len(self.operations)} recorded{hint}")

    def _range(self, operation: str, level: int) -> range:
        table = self._contents.level(level)
        id = self._contents.operation_ids[self._known(operation)]
        first, end = np.searchsorted(table.operation, [id, id + 1])
        return range(int(first), int(end))

    def _reductions(
        self, levels: Sequence[str], operation: str | None, average: str, time: str, log: bool
    ) -> list[StdReduction]:
        indices = [level_index(level) for level in levels]
        row = None if operation is None else self._range(operation, OPERATION)[0]
        return reductions(self._contents, indices, row, average=average, time=time, log=log)

    def _trace_class(self, row: int) -> TraceClass:
        classes, info = self.snapshot.classes, self.info
        shape = int(classes.shape[row])
        leaf = self._contents.leaf_of_root(shape)
        leaves, bits = self.snapshot.leaves, info.precision_bits
        return TraceClass(
            shape=self._contents.call_tree(shape),
            count=int(classes.count[row]),
            response_time=empty_model(bits, info.tick_ns)
            if leaf is None
            else model_of_row(leaves.response, leaf, int(leaves.count[leaf]), bits, info.tick_ns),
            slowest=exemplar_of_row(classes.slowest, row),
            sample=exemplar_of_row(classes.sample, row),
        )


def merged_tree(trees: Sequence[CallingContextTree]) -> CallingContextTree:
    """One tree of at least one; see `tracectx.tree.merge`."""
    return _tree_of(canonical([tree.snapshot for tree in trees]))


def _tree_of(snapshot: Snapshot) -> CallingContextTree:
    """The tree of a snapshot that is canonical already."""
    tree = CallingContextTree.__new__(CallingContextTree)
    tree._contents = Contents(snapshot)
    return tree


def _nearest(operation: object, names: Sequence[str]) -> list[str]:
    """The names that end like it, then those that are spelled like it."""
    wanted = str(operation)
    same_end = [name for name in names if name.endswith(f".{wanted}")]
    alike = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    return list(dict.fromkeys([*same_end, *alike]))[:3]
