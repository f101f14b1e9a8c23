"""Shapes of dynamic call trees, hash-consed: equal structure is the same object, so that comparing costs nothing.

Used by the fold alone, under the consumer's lock. A shape lives as long as something refers to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from tracectx.stats.mixing import combine64


class Edge(NamedTuple):
    """A child, or with bucketed loops a run of `low` to `high` equal ones: one position of the preorder."""

    shape: Shape
    is_async: bool
    low: int
    high: int


class Shape:
    """The structure below one execution, its own ending included. `digest` depends on structure and names alone."""

    __slots__ = ("__weakref__", "digest", "edges", "ending", "name", "operation", "size")

    def __init__(self, operation: int, name: str, ending: int, edges: tuple[Edge, ...], name_digest: int) -> None:
        self.operation = operation
        self.name = name
        self.ending = ending
        self.edges = edges
        self.size: int = 1 + sum(edge.shape.size for edge in edges)  # positions of the preorder
        digest = combine64(name_digest, ending)
        for edge in edges:
            digest = combine64(combine64(digest, edge.shape.digest), edge.low << 1 | edge.is_async)
        self.digest: int = digest


class ShapeTable:
    """Makes shapes, each once."""

    def __init__(self, bucketed: bool) -> None:
        self.bucketed = bucketed
        self._shapes: WeakValueDictionary[tuple[int, int, tuple[Edge, ...]], Shape] = WeakValueDictionary()

    def shape(self, operation: int, name: str, name_digest: int, ending: int, edges: tuple[Edge, ...]) -> Shape:
        key = (operation, ending, edges)
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = Shape(operation, name, ending, edges, name_digest)
        return known

    def edges(self, children: Sequence[tuple[Shape, bool]]) -> tuple[Edge, ...]:
        """The edges to children in their order; runs of equal ones become one when loops are bucketed."""
        if not self.bucketed:
            return tuple(Edge(shape, is_async, 1, 1) for shape, is_async in children)
        edges: list[Edge] = []
        run = 0
        for position, (shape, is_async) in enumerate(children):
            run += 1
            following = children[position + 1] if position + 1 < len(children) else None
            if following is None or following[0] is not shape or following[1] != is_async:
                low = 1 << (run.bit_length() - 1)
                edges.append(Edge(shape, is_async, low, 2 * low - 1))
                run = 0
        return tuple(edges)


def structural_order(shape: Shape) -> tuple[tuple[str, int, int, bool, int], ...]:
    """A key that sorts shapes by name, then structure: the preorder of (name, ending, children, asynchronous, repeat)."""
    key: list[tuple[str, int, int, bool, int]] = []
    pending: list[Edge] = [Edge(shape, False, 1, 1)]
    while pending:
        edge = pending.pop()
        key.append((edge.shape.name, edge.shape.ending, len(edge.shape.edges), edge.is_async, edge.low))
        pending.extend(reversed(edge.shape.edges))
    return tuple(key)
