"""Canonical ids of operations, stacks and shapes: the same for the same contents, however many snapshots they come from.

Operations are numbered by name (`(other)` last), stacks by their paths in lexicographic order, shapes by height and then
by structure, never by a hash. Only what a row refers to has a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tracectx.core.snapshot import OTHER_NAME, LeafColumns, ShapeColumns, Snapshot, StackColumns
from tracectx.stats.histogram_arrays import Ints
from tracectx.tree.arrays import frozen, ints, lookup, starts_of

Edges = tuple[tuple[int, int, int, int], ...]
"""(child shape, asynchronous, low, high) of each edge."""


@dataclass(frozen=True, slots=True)
class Maps:
    """From the ids of one snapshot to the canonical ones; ROOT and NOT_KEPT stay."""

    operation: Ints
    stack: Ints
    shape: Ints

    def leaf_keys(self, leaves: LeafColumns) -> dict[str, Ints]:
        """The keys of leaves with canonical ids."""
        return {
            "operation": self.operation[ints(leaves.operation)],
            "caller": self.operation[ints(leaves.caller)],
            "stack": self.stack[ints(leaves.stack)],
            "subtree": self.shape[ints(leaves.subtree)],
            "trace": self.shape[ints(leaves.trace)],
        }


@dataclass(frozen=True, slots=True)
class Numbering:
    """The canonical tables, and how each snapshot's ids map to them."""

    operations: tuple[str, ...]
    components: tuple[str, ...]
    stacks: StackColumns
    shapes: ShapeColumns
    maps: tuple[Maps, ...]


def numbered(snapshots: Sequence[Snapshot]) -> Numbering:
    """One numbering for all snapshots."""
    union = _Union()
    first_maps = [union.add(snapshot) for snapshot in snapshots]
    for snapshot, maps in zip(snapshots, first_maps, strict=True):
        union.use(snapshot, maps)
    return union.numbering(first_maps)


class _Union:
    """All tables in one, with provisional ids in which parents and child shapes still come first."""

    def __init__(self) -> None:
        self._components: dict[str, str] = {}  # by name, in order of provisional ids
        self._operation_ids: dict[str, int] = {}
        self._stack_ids: dict[tuple[int, int], int] = {}
        self._shape_ids: dict[tuple[int, int, Edges], int] = {}
        self._used_operations: set[int] = set()
        self._used_stacks: set[int] = set()
        self._used_shapes: set[int] = set()

    def add(self, snapshot: Snapshot) -> Maps:
        for name, component in zip(snapshot.operations, snapshot.components, strict=True):
            self._operation_ids.setdefault(name, len(self._operation_ids))
            self._components[name] = max(self._components.get(name, ""), component)
        operations = lookup([self._operation_ids[name] for name in snapshot.operations])
        stacks: list[int] = []
        for parent, operation in zip(
            ints(snapshot.stacks.parent).tolist(), operations[ints(snapshot.stacks.operation)].tolist(), strict=True
        ):
            key = (stacks[parent] if parent >= 0 else parent, operation)
            stacks.append(self._stack_ids.setdefault(key, len(self._stack_ids)))
        return Maps(operations, lookup(stacks), lookup(self._add_shapes(snapshot.shapes, operations)))

    def _add_shapes(self, shapes: ShapeColumns, operations: Ints) -> list[int]:
        new_ids: list[int] = []
        names = operations[ints(shapes.operation)].tolist()
        for operation, ending, edges in zip(names, ints(shapes.ending).tolist(), edges_of(shapes), strict=True):
            renamed = tuple((new_ids[child], is_async, low, high) for child, is_async, low, high in edges)
            new_ids.append(self._shape_ids.setdefault((operation, ending, renamed), len(self._shape_ids)))
        return new_ids

    def use(self, snapshot: Snapshot, maps: Maps) -> None:
        """Marks what the rows of a snapshot refer to; a row without executions does not count."""
        present = ints(snapshot.leaves.count) > 0
        keys = {name: key[present] for name, key in maps.leaf_keys(snapshot.leaves).items()}
        loads = maps.operation[ints(snapshot.loads.operation)]
        classes = maps.shape[ints(snapshot.classes.shape)[ints(snapshot.classes.count) > 0]]
        self._used_operations |= _kept(keys["operation"], keys["caller"], loads)
        self._used_stacks |= _kept(keys["stack"])
        self._used_shapes |= _kept(keys["subtree"], keys["trace"], classes)

    def numbering(self, first_maps: Iterable[Maps]) -> Numbering:
        self._spread_use()
        names = [name for name, id in self._operation_ids.items() if id in self._used_operations]
        names.sort(key=lambda name: (name == OTHER_NAME, name))
        operations = lookup(_numbers([self._operation_ids[name] for name in names], len(self._operation_ids)))
        stacks, stack_map = self._stacks(operations)
        shapes, shape_map = self._shapes(operations)
        maps = [Maps(operations[m.operation], stack_map[m.stack], shape_map[m.shape]) for m in first_maps]
        return Numbering(tuple(names), tuple(self._components[name] for name in names), stacks, shapes, tuple(maps))

    def _spread_use(self) -> None:
        """What is used uses its ancestors, its child shapes and its operation."""
        for (parent, operation), id in reversed(self._stack_ids.items()):
            if id in self._used_stacks:
                self._used_operations.add(operation)
                if parent >= 0:
                    self._used_stacks.add(parent)
        for (operation, _, edges), id in reversed(self._shape_ids.items()):
            if id in self._used_shapes:
                self._used_shapes.update(edge[0] for edge in edges)
                if operation >= 0:
                    self._used_operations.add(operation)

    def _stacks(self, operations: Ints) -> tuple[StackColumns, Ints]:
        callees: dict[int, list[tuple[int, int]]] = {}
        for (parent, operation), id in self._stack_ids.items():
            if id in self._used_stacks:
                callees.setdefault(parent, []).append((int(operations[operation]), id))
        order: list[int] = []
        named: list[int] = []
        pending = sorted(callees.get(-1, ()), reverse=True)
        while pending:
            operation, id = pending.pop()
            order.append(id)
            named.append(operation)
            pending += sorted(callees.get(id, ()), reverse=True)
        stack_map = lookup(_numbers(order, len(self._stack_ids)))
        parents = np.fromiter((parent for parent, _ in self._stack_ids), np.int64, len(self._stack_ids))
        parent_of = stack_map[parents[np.asarray(order, dtype=np.int64)]]
        return StackColumns(frozen(parent_of), frozen(np.asarray(named, dtype=np.int64))), stack_map

    def _shapes(self, operations: Ints) -> tuple[ShapeColumns, Ints]:
        by_height: dict[int, list[tuple[int, int, Edges, int]]] = {}
        heights: list[int] = []
        for (operation, ending, edges), id in self._shape_ids.items():
            heights.append(1 + max((heights[edge[0]] for edge in edges), default=0))
            if id in self._used_shapes:
                by_height.setdefault(heights[id], []).append((int(operations[operation]), ending, edges, id))
        new_ids = [-1] * len(heights)
        ordered: list[tuple[int, int, Edges]] = []
        for height in sorted(by_height):
            renamed = [
                (operation, ending, len(edges), tuple((new_ids[edge[0]], *edge[1:]) for edge in edges), id)
                for operation, ending, edges, id in by_height[height]
            ]
            for operation, ending, _, new_edges, id in sorted(renamed):
                new_ids[id] = len(ordered)
                ordered.append((operation, ending, new_edges))
        return _shape_columns(ordered), lookup(new_ids)


def edges_of(shapes: ShapeColumns) -> list[Edges]:
    """The edges of each shape."""
    columns = (shapes.edge_child, shapes.edge_async, shapes.edge_low, shapes.edge_high)
    edges = list(zip(*(ints(column).tolist() for column in columns), strict=True))
    starts = ints(shapes.edge_start).tolist()
    return [tuple(edges[start:end]) for start, end in pairwise(starts)]


def _shape_columns(ordered: Sequence[tuple[int, int, Edges]]) -> ShapeColumns:
    edges = np.array([edge for _, _, edges in ordered for edge in edges], dtype=np.int64).reshape(-1, 4)
    lengths = np.array([len(edges) for _, _, edges in ordered], dtype=np.int64)
    return ShapeColumns(
        operation=frozen(np.array([operation for operation, _, _ in ordered], dtype=np.int64)),
        ending=frozen(np.array([ending for _, ending, _ in ordered], dtype=np.int64)),
        edge_start=frozen(starts_of(lengths)),
        edge_child=frozen(edges[:, 0].copy()),
        edge_async=frozen(edges[:, 1].copy()),
        edge_low=frozen(edges[:, 2].copy()),
        edge_high=frozen(edges[:, 3].copy()),
    )


def _numbers(order: Sequence[int], size: int) -> Ints:
    """By old id, its place in `order`; ids that are not in it have none."""
    numbers = np.full(size, -1, np.int64)
    numbers[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return numbers


def _kept(*columns: Ints) -> set[int]:
    found: set[int] = set()
    for column in columns:
        found.update(np.unique(column[column >= 0]).tolist())
    return found
