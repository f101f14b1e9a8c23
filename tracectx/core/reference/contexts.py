"""Contexts that the table keeps: stacks, subtrees and trace classes. Owned by the fold, under the consumer's lock."""

from __future__ import annotations

from array import array

from tracectx.core.keys import NOT_KEPT
from tracectx.core.reference.shapes import Shape
from tracectx.core.reference.summary import Leaf


class StackNode:
    """A path from a root to an operation. One over the limit is not kept (`id` is NOT_KEPT) and lives with its executions."""

    __slots__ = ("above", "callees", "id", "operation", "outermost", "parent")

    def __init__(self, parent: StackNode | None, operation: int, id: int) -> None:
        self.parent = parent
        self.operation = operation
        self.id = id
        above: frozenset[int] = parent.above if parent is not None else frozenset()
        self.outermost = operation not in above  # no execution of the same operation is above
        self.above: frozenset[int] = above if operation in above else above | {operation}
        self.callees: dict[int, StackNode] = {}

    @property
    def kept(self) -> bool:
        return self.id != NOT_KEPT


class SubtreeContext:
    """Executions of equal stack and own subtree. Pinned while a trace class that is kept has leaves below it."""

    __slots__ = ("cost", "gone", "order", "others", "pins", "shape", "since_ns", "stack", "weight")

    def __init__(self, stack: StackNode, shape: Shape, since_ns: int) -> None:
        self.stack = stack
        self.shape = shape
        self.others: dict[int, Leaf] = {}  # by reason
        self.pins = 0
        self.since_ns = since_ns
        self.cost = 1 + len(shape.edges) // 8
        self.weight = 0
        self.order = 0
        self.gone = False

    def other(self, reason: int) -> Leaf:
        leaf = self.others.get(reason)
        if leaf is None:
            leaf = self.others[reason] = Leaf(self.since_ns)
        return leaf


class Exemplar:
    """One trace of a class: when it began (the recording's clock), its number, and response times per position."""

    __slots__ = ("number", "response_ns", "start_ns", "times_ns")

    def __init__(self, number: int, start_ns: int, response_ns: int, times_ns: array[int]) -> None:
        self.number = number
        self.start_ns = start_ns
        self.response_ns = response_ns
        self.times_ns = times_ns


class TraceClass:
    """Traces of one shape, with a leaf for each position of the preorder (None where its stack is not kept)."""

    __slots__ = (
        "contexts", "cost", "count", "gone", "leaves", "order", "sample", "sample_priority", "shape", "since_ns", "slowest",
        "weight",
    )  # fmt: skip

    def __init__(self, shape: Shape, since_ns: int) -> None:
        self.shape = shape
        self.since_ns = since_ns
        self.count = 0
        self.leaves: list[Leaf | None] = [None] * shape.size
        self.contexts: list[SubtreeContext | None] = [None] * shape.size
        self.slowest: Exemplar | None = None
        self.sample: Exemplar | None = None
        self.sample_priority = 0
        self.cost = shape.size
        self.weight = 0
        self.order = 0
        self.gone = False
