"""The calling-context table: every completed execution in exactly one leaf, within the limits.

Owned by the fold, under the consumer's lock. Of the contexts' limit, seven tenths are for leaves of trace classes, two
for subtrees without such leaves, one for stacks (and pairs of caller and operation whose stack is not kept).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from tracectx.config import Limits
from tracectx.core.keys import NOT_KEPT, REASONS, ROOT
from tracectx.core.reference.admission import Pool
from tracectx.core.reference.contexts import Exemplar, StackNode, SubtreeContext, TraceClass
from tracectx.core.reference.nodes import Node, Trace
from tracectx.core.reference.shapes import Shape, ShapeTable
from tracectx.core.reference.summary import Leaf, Summary
from tracectx.stats.mixing import combine64

EVICTED, TRUNCATED, OPEN_TRACE, LATE, LIMIT = (REASONS.index(name) for name in REASONS[1:])


class ContextTable:
    """What one recording has folded."""

    def __init__(self, limits: Limits, bucketed: bool, recording_id: int) -> None:
        self.limits = limits
        self.recording_id = recording_id  # 64 bits: the first half of its trace ids
        self.shapes = ShapeTable(bucketed)
        self.stacks: list[StackNode] = []
        self.roots: dict[int, StackNode] = {}
        self.by_caller: dict[tuple[int, int, int], Leaf] = {}  # (operation, caller, reason): stack not kept
        self.by_stack: dict[tuple[StackNode, int], Leaf] = {}  # (stack, reason): subtree not kept
        self.subtrees: dict[tuple[StackNode, Shape], SubtreeContext] = {}
        self.classes: dict[Shape, TraceClass] = {}
        self.loads: dict[tuple[int, int], Summary] = {}  # (operation, bucket of open traces)
        self.traces = 0
        self.truncated_traces = 0
        self.late_executions = 0
        self.recorded = 0  # executions that entered
        self.ended = 0
        self.unfinished = 0
        self.over_limit = 0  # entered, but too many were open to follow them
        self.evicted_classes = 0
        self._class_pool: Pool[TraceClass] = Pool(max(1, limits.contexts * 7 // 10), limits.shapes)
        self._subtree_pool: Pool[SubtreeContext] = Pool(max(1, limits.contexts // 5), limits.contexts)
        self._most_stacks = max(1, limits.contexts // 10)

    def stack(self, parent: StackNode | None, operation: int) -> StackNode:
        """The context of an operation called on a path; first come, first kept."""
        callees = parent.callees if parent is not None else self.roots
        known = callees.get(operation)
        if known is not None:
            return known
        full = len(self.stacks) + len(self.by_caller) >= self._most_stacks
        if full or (parent is not None and not parent.kept):
            return StackNode(parent, operation, NOT_KEPT)
        node = callees[operation] = StackNode(parent, operation, len(self.stacks))
        self.stacks.append(node)
        return node

    def add_trace(self, trace: Trace, root: Node) -> None:
        """Counts every execution of a complete trace whose structure is known."""
        assert root.shape is not None
        self.traces += 1
        kept = self._class_of(root.shape, root.entry_ns)
        if kept is None:
            for node, _ in positions(root, self.shapes.bucketed):
                self.add_subtree(node, LIMIT)
            return
        kept.count += 1
        kept.weight += 1
        times = array("q", bytes(8 * kept.shape.size))
        for node, position in positions(root, self.shapes.bucketed):
            times[position] += node.response_ns
            leaf = kept.leaves[position]
            if leaf is None:
                leaf = self._class_leaf(kept, node, position)
            if leaf is None:
                self.add_subtree(node, LIMIT)
            else:
                self._count(leaf, node)
        self._keep_exemplars(kept, Exemplar(trace.id, root.entry_ns, root.response_ns, times))

    def add_subtree(self, node: Node, reason: int) -> None:
        """Counts one execution whose place in its trace is not kept."""
        if reason == LATE:
            self.late_executions += 1
        self._count(self._other(node, reason), node)

    def _count(self, leaf: Leaf, node: Node) -> None:
        leaf.add(node)
        load = (node.operation, node.load.bit_length() - 1)
        summary = self.loads.get(load)
        if summary is None:
            summary = self.loads[load] = Summary()
        summary.add(node.response_ns)

    def _other(self, node: Node, reason: int) -> Leaf:
        stack = node.stack
        if not stack.kept:
            return self._without_stack(stack)
        if node.shape is None:
            return self._without_subtree(stack, reason)
        context = self.subtrees.get((stack, node.shape))
        if context is None:
            context = self._admit_subtree(stack, node.shape, node.entry_ns)
        if context is None:
            return self._without_subtree(stack, LIMIT)
        context.weight += 1
        return context.other(reason)

    def _without_stack(self, stack: StackNode) -> Leaf:
        caller = stack.parent.operation if stack.parent is not None else ROOT
        key = (stack.operation, caller, LIMIT)
        if key not in self.by_caller and len(self.by_caller) >= self._most_stacks:
            key = (stack.operation, NOT_KEPT, LIMIT)
        leaf = self.by_caller.get(key)
        if leaf is None:
            leaf = self.by_caller[key] = Leaf()
        return leaf

    def _without_subtree(self, stack: StackNode, reason: int) -> Leaf:
        leaf = self.by_stack.get((stack, reason))
        if leaf is None:
            leaf = self.by_stack[stack, reason] = Leaf()
        return leaf

    def _admit_subtree(self, stack: StackNode, shape: Shape, now: int) -> SubtreeContext | None:
        context = SubtreeContext(stack, shape, now if self._subtree_pool.turned_away else 0)
        weight = 0
        admitted, evicted = self._subtree_pool.make_room(context.cost, combine64(shape.digest, stack.id))
        for old in evicted:
            weight = old.weight
            self._dissolve(old)
        if not admitted:
            return None
        self.subtrees[stack, shape] = context
        self._subtree_pool.add(context, weight)
        return context

    def _dissolve(self, context: SubtreeContext) -> None:
        """What an evicted subtree context held goes to its stack."""
        del self.subtrees[context.stack, context.shape]
        for leaf in context.others.values():
            self._without_subtree(context.stack, EVICTED).merge(leaf)

    def _class_of(self, shape: Shape, now: int) -> TraceClass | None:
        known = self.classes.get(shape)
        if known is not None:
            return known
        late = self._class_pool.turned_away
        admitted, evicted = self._class_pool.make_room(shape.size, shape.digest)
        weight = evicted[-1].weight if evicted else 0
        for old in evicted:
            self._dissolve_class(old)
        if not admitted:
            return None
        new = self.classes[shape] = TraceClass(shape, now if late or evicted else 0)
        self._class_pool.add(new, weight)
        return new

    def _class_leaf(self, kept: TraceClass, node: Node, position: int) -> Leaf | None:
        """The leaf of a position that has none yet; it pins the subtree context above it."""
        if not node.stack.kept or node.shape is None:
            return None
        context = self.subtrees.get((node.stack, node.shape))
        if context is None:
            since = kept.since_ns
            context = self.subtrees[node.stack, node.shape] = SubtreeContext(node.stack, node.shape, since)
        elif not context.pins:
            self._subtree_pool.remove(context)
        context.pins += 1
        kept.contexts[position] = context
        leaf = kept.leaves[position] = Leaf(kept.since_ns)
        return leaf

    def _dissolve_class(self, old: TraceClass) -> None:
        """What an evicted class held goes to the subtree contexts above, which lose their pins."""
        self.evicted_classes += 1
        del self.classes[old.shape]
        for leaf, context in zip(old.leaves, old.contexts, strict=True):
            if leaf is None or context is None:
                continue
            context.other(EVICTED).merge(leaf)
            context.pins -= 1
            if not context.pins:
                self._subtree_pool.add(context, sum(other.count for other in context.others.values()))
        for context in self._subtree_pool.shrink():
            self._dissolve(context)

    def _keep_exemplars(self, kept: TraceClass, trace: Exemplar) -> None:
        slowest = kept.slowest
        if slowest is None or (trace.response_ns, -trace.start_ns, -trace.number) > (
            slowest.response_ns, -slowest.start_ns, -slowest.number,
        ):  # fmt: skip
            kept.slowest = trace
        priority = combine64(self.recording_id, trace.number)
        if kept.sample is None or priority < kept.sample_priority:
            kept.sample, kept.sample_priority = trace, priority


def positions(root: Node, bucketed: bool) -> Iterator[tuple[Node, int]]:
    """Every execution of a complete tree with its position in the preorder of the shape; runs share their positions."""
    pending = [(root, 0)]
    while pending:
        node, position = pending.pop()
        yield node, position
        children = [*(node.children or ()), *(node.tasks or ())]
        placed = []
        position += 1
        for index, child in enumerate(children):
            if index:
                before = children[index - 1]
                assert before.shape is not None
                if not (bucketed and before.shape is child.shape and before.is_async == child.is_async):
                    position += before.shape.size
            placed.append((child, position))
        pending.extend(reversed(placed))
