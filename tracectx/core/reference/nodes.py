"""Executions, traces and strands while they are open: what the assembler builds from events.

Owned by the fold, under the consumer's lock. Completion is local: an execution is complete when it has ended, all executions
below it are complete, and nothing that could still add one is alive. `live` counts what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracectx.core.reference.shapes import Shape

if TYPE_CHECKING:
    from tracectx.core.reference.contexts import StackNode
    from tracectx.core.reference.recordings import RecordingFold

OPEN = -1
"""The ending of an execution that has not ended."""


class Node:
    """One execution."""

    __slots__ = (
        "children",
        "ending",
        "entry_ns",
        "holed",
        "is_async",
        "live",
        "load",
        "operation",
        "parent",
        "response_ns",
        "resumptions",
        "self_ns",
        "shape",
        "size",
        "stack",
        "suspended_ns",
        "tasks",
        "trace",
        "wait_base_ns",
        "yield_base_ns",
    )

    def __init__(
        self, operation: int, trace: Trace, parent: Node | None, is_async: bool, stack: StackNode, load: int, now: int
    ) -> None:
        self.operation = operation
        self.trace = trace
        self.parent = parent
        self.is_async = is_async
        self.stack = stack
        self.load = load
        self.entry_ns = now
        self.response_ns = 0
        self.self_ns = 0
        self.suspended_ns = 0
        self.wait_base_ns = 0  # what its strand had waited, and been handed out, when it entered
        self.yield_base_ns = 0
        self.resumptions = 0
        self.ending = OPEN
        self.live = 1  # itself, children that are not complete, and holders of its position
        self.size = 1  # executions of its subtree that are complete
        self.holed = False  # executions below it are missing: it has no shape of its own
        self.children: list[Node] | None = None  # synchronous ones, in call order
        self.tasks: dict[Node, None] | None = None  # asynchronous ones; in structural order once complete
        self.shape: Shape | None = None  # once complete, unless holed


class Trace:
    """A root execution and all that it caused."""

    __slots__ = ("end_ns", "executions", "id", "reason", "recording", "root", "table")

    def __init__(self, recording: RecordingFold, id: int) -> None:
        self.recording = recording
        self.table = recording.table  # of its beginning: after a reset nobody reads it
        self.id = id
        self.root: Node | None = None
        self.end_ns: int | None = None  # when its root ended
        self.executions = 0
        self.reason = 0  # not 0: only subtrees are kept, each folded as it completes, and this says why


class StrandState:
    """The fold's half of a strand: its stack of open executions."""

    __slots__ = (
        "excess",
        "id",
        "inside",
        "is_async",
        "owner",
        "paused_at_ns",
        "paused_yielding",
        "recording",
        "segments",
        "stack",
        "up",
        "void",
        "waited_ns",
        "yielded_ns",
    )

    def __init__(self, id: int, recording: int) -> None:
        self.id = id
        self.recording = recording
        self.stack: list[Node] = []
        self.up: Node | None = None  # its outermost executions hang from it ...
        self.is_async = False  # ... asynchronously
        self.void = False  # what it hangs from was not kept: neither is what runs on it
        self.excess = 0  # open executions over the limit, not kept
        self.inside: StrandState | None = None  # ran on the thread when this one began to; goes on when it stops
        self.owner = False  # it is a resumable's
        self.segments = 0
        self.paused_at_ns = 0
        self.paused_yielding = False
        self.waited_ns = 0
        self.yielded_ns = 0


class Thread:
    """What one thread runs of one recording: the time between two of its events belongs to the top of `running`."""

    __slots__ = ("last_ns", "running")

    def __init__(self) -> None:
        self.last_ns: int | None = None
        self.running: StrandState | None = None
