"""The fold's half of a recording: its table, its open traces, and the rules of when a trace is complete.

Owned by the fold, under the consumer's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tracectx.clock import Clock
from tracectx.config import Limits
from tracectx.core.reference.nodes import OPEN, Node, Thread, Trace
from tracectx.core.reference.ring import Ring
from tracectx.core.reference.shapes import structural_order
from tracectx.core.reference.strands import RecordingHandle
from tracectx.core.reference.table import LATE, TRUNCATED, ContextTable
from tracectx.stats.mixing import MASK_64, mix64


@dataclass(frozen=True, slots=True)
class RecordingSetup:
    """What a recording is made with."""

    id: int  # 64 bits, unique across processes
    clock: Clock
    limits: Limits
    loops: str
    linger_ns: int
    wall_offset_ns: int  # Unix time minus the clock's reading
    started_at_ns: int  # Unix time


class OperationNames:
    """Names and digests of operations by id, as the recorder registers them."""

    def __init__(self, names: list[str], components: list[str]) -> None:
        self.names = names
        self.components = components
        self._digests: dict[int, int] = {}

    def digest(self, operation: int) -> int:
        known = self._digests.get(operation)
        if known is None:
            known = 0
            for byte in self.names[operation].encode():
                known = mix64((known ^ byte) & MASK_64)
            self._digests[operation] = known
        return known


class RecordingFold:
    """One recording as the fold sees it."""

    def __init__(self, setup: RecordingSetup, handle: RecordingHandle, operations: OperationNames) -> None:
        self.setup = setup
        self.handle = handle
        self.operations = operations
        self.table = self._new_table()
        self.open_traces: dict[int, Trace] = {}
        self.lingering: list[Trace] = []  # their root has ended
        self.threads: dict[Ring, Thread] = {}
        self.live_nodes = 0  # executions held in memory
        self.most_nodes = 2 * setup.limits.trace_executions
        self.trace_number = 0
        self.clock_steps = 0
        self.vanished = 0  # executions of traces that were open across a reset
        self.errors_before = 0  # errors in probes that the process had counted when the recording was opened
        self.closed = False

    def _new_table(self) -> ContextTable:
        return ContextTable(self.setup.limits, self.setup.loops == "bucketed", self.setup.id)

    def new_trace(self) -> Trace:
        self.trace_number += 1
        trace = Trace(self, self.trace_number)
        self.open_traces[self.trace_number] = trace
        if self.closed:
            trace.reason = LATE
        return trace

    def late_trace(self) -> Trace:
        """For an execution whose trace has been folded already."""
        trace = self.new_trace()
        trace.reason = LATE
        return trace

    def ended(self, node: Node) -> None:
        """An execution has its times. It may still wait for others before it is complete."""
        trace = node.trace
        trace.table.ended += 1
        if trace.root is node:
            trace.end_ns = node.entry_ns + node.response_ns
        self.release(node)
        if trace.root is node and trace.end_ns is not None:
            self.lingering.append(trace)

    def release(self, node: Node) -> None:
        """One of the things that `node` waits for is there."""
        if node.live > 0:
            node.live -= 1
            self._complete(node)

    def _complete(self, node: Node) -> None:
        limit = self.setup.limits.trace_executions
        current: Node | None = node
        while current is not None and current.live == 0:
            trace, parent = current.trace, current.parent
            self._find_shape(current)
            if trace.reason:
                self._fold_subtree(current, trace.reason)
            if parent is None:
                self._complete_trace(trace)
                return
            parent.size += current.size
            parent.holed = parent.holed or current.holed
            if parent.size > limit:
                parent.holed = True
            if parent.holed and trace.reason:
                _remove(parent, current)
            parent.live -= 1
            current = parent

    def _find_shape(self, node: Node) -> None:
        """The shape of a complete execution, its asynchronous children brought into structural order."""
        if node.holed:
            return
        shapes, names = node.trace.table.shapes, self.operations
        if node.tasks:
            in_order = sorted(node.tasks, key=lambda task: structural_order(task.shape) if task.shape is not None else ())
            node.tasks = dict.fromkeys(in_order)
        children = [
            (child.shape, child.is_async) for child in (*(node.children or ()), *(node.tasks or ())) if child.shape is not None
        ]
        operation = node.operation
        edges = shapes.edges(children)
        node.shape = shapes.shape(operation, names.names[operation], names.digest(operation), node.ending, edges)

    def _fold_subtree(self, node: Node, reason: int) -> None:
        """Counts an execution whose trace is not kept, and forgets what is below it."""
        node.trace.table.add_subtree(node, reason)
        node.children = node.tasks = None
        self.live_nodes -= 1

    def _complete_trace(self, trace: Trace) -> None:
        root = trace.root
        trace.root = None
        self.open_traces.pop(trace.id, None)
        if trace.table is not self.table:
            self.vanished += trace.executions
        if root is None or trace.reason:
            trace.table.traces += trace.reason == TRUNCATED
            return
        trace.table.add_trace(trace, root)
        for node in list(tree_of(root)):
            self.live_nodes -= 1
            node.children = node.tasks = node.parent = None

    def truncate(self, trace: Trace, reason: int = TRUNCATED) -> None:
        """Gives up the trace level: complete subtrees are folded now, the others when they complete."""
        if trace.reason or trace.root is None:
            return
        trace.reason = reason
        if reason == TRUNCATED:
            trace.table.truncated_traces += 1
        for node in list(tree_of(trace.root)):
            if node.live == 0:
                self._fold_subtree(node, reason)
            elif node.holed:
                node.children = [child for child in node.children or () if child.live]
                node.tasks = {task: None for task in node.tasks or () if task.live}

    def make_holes(self, trace: Trace) -> None:
        """Executions below any of the open ones of a trace may be missing."""
        if trace.root is None:
            return
        for node in tree_of(trace.root):
            if node.ending == OPEN:
                node.holed = True
        self.truncate(trace)

    def abandon(self, node: Node) -> None:
        """An open execution will never end: its thread or task is gone."""
        trace, parent = node.trace, node.parent
        self.truncate(trace)
        trace.table.unfinished += 1
        self.live_nodes -= 1
        node.live = 0
        if parent is None:
            self._complete_trace(trace)
            return
        parent.holed = True
        _remove(parent, node)
        self.release(parent)

    def expire(self, now_ns: int) -> None:
        """Completes traces whose root ended longer ago than they may linger."""
        waiting = []
        for trace in self.lingering:
            if trace.root is None:
                continue
            if trace.end_ns is not None and now_ns - trace.end_ns >= self.setup.linger_ns:
                self._complete_without_late(trace, trace.root)
            else:
                waiting.append(trace)
        self.lingering = waiting

    def _complete_without_late(self, trace: Trace, root: Node) -> None:
        """What is still open in the trace is cut off and will be late; the rest is complete as it stands."""
        nodes = list(tree_of(root))
        for node in nodes:
            if node.ending == OPEN and node.trace is trace:
                self._cut_off(node)
        for node in reversed(list(tree_of(root))):
            if node.live:
                node.live = 0
                kept = [*(node.children or ()), *(node.tasks or ())]
                node.size = 1 + sum(child.size for child in kept)
                self._find_shape(node)
                if trace.reason:
                    self._fold_subtree(node, trace.reason)
        self._complete_trace(trace)

    def _cut_off(self, node: Node) -> None:
        """Makes an open execution the root of a late trace, with all that is below it."""
        if node.parent is not None:
            _remove(node.parent, node)
            node.parent = None
        late = self.new_trace()
        late.root = node
        for below in tree_of(node):
            below.trace = late
            late.executions += 1
        self.truncate(late, LATE)

    def close(self) -> None:
        """The block has ended: what is open now, and what still begins on its threads, is late."""
        self.closed = True
        for trace in list(self.open_traces.values()):
            self.truncate(trace, LATE)

    def reset(self) -> None:
        """Forgets everything; traces open now vanish when they end."""
        self.table = self._new_table()

    def open_executions(self) -> int:
        table = self.table
        return table.recorded - table.ended - table.unfinished - table.over_limit


def _remove(parent: Node, child: Node) -> None:
    if child.is_async:
        if parent.tasks is not None:
            parent.tasks.pop(child, None)
    elif parent.children:
        if parent.children[-1] is child:
            parent.children.pop()
        elif child in parent.children:
            parent.children.remove(child)


def tree_of(root: Node) -> Iterator[Node]:
    """Every execution held below a root, in preorder."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if node.tasks:
            pending.extend(reversed(node.tasks))
        if node.children:
            pending.extend(reversed(node.children))
