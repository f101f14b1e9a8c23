"""What a calling-context tree holds: a canonical snapshot, and views of it that are made when they are asked for.

Any thread: a view that two threads make at once is made twice, equal.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tracectx.core.snapshot import ENDINGS, Snapshot
from tracectx.tree.arrays import ints
from tracectx.tree.call_tree import CallTree
from tracectx.tree.levels import LevelTable
from tracectx.tree.numbering import Edges, edges_of


class Contents:
    """Shared by a tree and its contexts; pickled as the snapshot alone."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.operation_ids = {name: id for id, name in enumerate(snapshot.operations)}
        self._levels: dict[int, LevelTable] = {}
        self._call_trees: dict[tuple[int, int, int, int], CallTree] = {}

    def __reduce__(self) -> tuple[type[Contents], tuple[Snapshot]]:
        return Contents, (self.snapshot,)

    def level(self, index: int) -> LevelTable:
        """The contexts of a level."""
        if index not in self._levels:
            self._levels[index] = LevelTable(self.snapshot.leaves, index)
        return self._levels[index]

    def operation_name(self, id: int) -> str | None:
        """None for what has no id: a root's caller, or one that is not kept."""
        return self.snapshot.operations[id] if id >= 0 else None

    def stack_names(self, stack: int) -> tuple[str, ...]:
        """The path from the root to the operation itself."""
        stacks, names = self.snapshot.stacks, []
        while stack >= 0:
            names.append(self.snapshot.operations[int(stacks.operation[stack])])
            stack = int(stacks.parent[stack])
        return tuple(reversed(names))

    def call_tree(self, shape: int) -> CallTree:
        """The tree of a shape. Equal subtrees are one object, so that a tree costs no more than its shapes."""
        pending = [(shape, 0, 1, 1)]
        while pending:
            edge = pending[-1]
            if edge in self._call_trees:
                pending.pop()
                continue
            missing = [child for child in self._edges[edge[0]] if child not in self._call_trees]
            if missing:
                pending += missing
            else:
                self._call_trees[edge] = self._node(*edge)
                pending.pop()
        return self._call_trees[shape, 0, 1, 1]

    def _node(self, shape: int, is_async: int, low: int, high: int) -> CallTree:
        shapes = self.snapshot.shapes
        return CallTree(
            self.operation_name(int(shapes.operation[shape])),
            [self._call_trees[edge] for edge in self._edges[shape]],
            ending=ENDINGS[int(shapes.ending[shape])],
            is_async=bool(is_async),
            repeat=(low, high),
        )

    @cached_property
    def _edges(self) -> list[Edges]:
        return edges_of(self.snapshot.shapes)

    def leaf_of_root(self, shape: int) -> int | None:
        """The leaf of a trace class's root; None where it is not kept."""
        return self._root_leaves.get(shape)

    @cached_property
    def _root_leaves(self) -> dict[int, int]:
        traces = ints(self.snapshot.leaves.trace)
        rows = np.flatnonzero((traces >= 0) & (ints(self.snapshot.leaves.position) == 0))
        return dict(zip(traces[rows].tolist(), rows.tolist(), strict=True))
