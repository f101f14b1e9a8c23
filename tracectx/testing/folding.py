"""Trees folded from literal traces: what a recording would give for them, without running code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tracectx.clock import Clock
from tracectx.config import Limits, Options, options_with
from tracectx.core.choice import CHOICE
from tracectx.core.snapshot import ENDINGS
from tracectx.errors import ConfigError
from tracectx.testing.manual_clock import ManualClock
from tracectx.tree.call_tree import CallTree, call_tree
from tracectx.tree.calling_context_tree import CallingContextTree

Literal = tuple[str, Sequence[int]]


def fold(traces: Iterable[str | Literal], **options: Any) -> CallingContextTree:  # Any: checked by options_with
    """The tree of some traces: `fold([("A.a(C.c(D.d, E.e), F.f)", [10, 6, 1, 2, 3]), "B.b"])`.

    A trace is a literal of `call_tree`, alone (all times 0) or with the response time in nanoseconds of each execution in
    preorder. Synchronous children run one after the other at the end of their parent; asynchronous ones after the root.
    `options` are those of a recording (`loops` is "exact" unless given). `ConfigError` for times that do not fit.
    """
    chosen = options_with(Options(), {"loops": "exact", **options})
    clock = ManualClock()
    core = type(CHOICE.core)()
    recording = core.open_recording(
        0, Clock("custom", clock, 1), Limits.of(chosen), chosen.loops, int(chosen.trace_linger * 1e9), chosen.sample
    )
    core.recorder.recording = core.recorder.outermost = recording.handle
    core.recorder.max_operations = Limits.of(chosen).operations
    for trace in traces:
        literal, times = (trace, None) if isinstance(trace, str) else trace
        _Player(core.recorder, clock, call_tree(literal), times).play()
        core.drain()
    return CallingContextTree(core.snapshot(recording, "literal", 0))


class _Player:
    """Runs one literal trace through a recorder."""

    def __init__(self, recorder: Any, clock: ManualClock, root: CallTree, times: Sequence[int] | None) -> None:
        # Any: the recorder of whichever core is in use.
        nodes = list(root.walk())
        if times is None:
            times = [0] * len(nodes)
        if len(times) != len(nodes):
            raise ConfigError(f"{root} has {len(nodes)} executions in preorder, got {len(times)} times")
        if any(node.repeat != (1, 1) for node in nodes):
            raise ConfigError(f"a literal trace lists each execution by itself, got a repeat in {root}")
        self._recorder = recorder
        self._clock = clock
        self._root = root
        self._times = times
        self._later: list[tuple[object, CallTree, int]] = []  # position, and what hangs there with its preorder index

    def play(self) -> None:
        self._run(self._root, 0)
        while self._later:
            position, node, index = self._later.pop(0)
            adopted = self._recorder.adopt(position)
            del position  # else the trace would wait for it
            self._run(node, index)
            self._recorder.restore(adopted)
            del adopted

    def _run(self, root: CallTree, root_index: int) -> None:
        """One execution and what runs synchronously below it; a stack of its own, since traces may be deep."""
        pending: list[tuple[CallTree, int, Any]] = [(root, root_index, None)]  # Any: a token once it is entered
        while pending:
            node, index, token = pending.pop()
            if token is not None:
                self._recorder.leave(token, ENDINGS.index(node.ending))
                continue
            token = self._recorder.enter(self._recorder.operation(node.operation, ""))
            pending.append((node, index, token))
            pending.extend(reversed(self._enter_children(node, index)))

    def _enter_children(self, node: CallTree, index: int) -> list[tuple[CallTree, int, Any]]:
        """Spends the node's own time; gives its synchronous children, and puts off the others."""
        own_ns, below = self._times[index], index + 1
        children: list[tuple[CallTree, int, Any]] = []
        for child in node.children:
            if child.is_async:
                self._later.append((self._recorder.position(), child, below))
            else:
                own_ns -= self._times[below]
                children.append((child, below, None))
            below += len(child)
        if own_ns < 0:
            raise ConfigError(
                f"{node.operation} takes {self._times[index]} ns, less than its synchronous children together:"
                f" {self._times[index] - own_ns} ns"
            )
        self._clock.advance_ns(own_ns)
        return children
