"""Rebuilds traces from events: the consumer's half of DESIGN.md section 5. Constant work per event.

Runs under the consumer's lock, on whichever thread folds. A handler gives False, and has changed nothing, when the event names
something that another ring has yet to tell.
"""

from __future__ import annotations

from collections.abc import Callable

from tracectx.core.events import POSITION_DEATH, STRAND_DEATH, Event
from tracectx.core.interface import ABANDONED
from tracectx.core.reference.nodes import Node, StrandState, Thread, Trace
from tracectx.core.reference.recordings import RecordingFold
from tracectx.core.reference.ring import Ring

Handler = Callable[[Ring, int, int, int, int], bool]


class Assembler:
    """Strands, positions and threads of one process."""

    def __init__(self) -> None:
        self.recordings: dict[int, RecordingFold] = {}
        self.strands: dict[int, StrandState] = {}
        self.positions: dict[int, Node | None] = {}  # None: hangs from nothing that is kept
        self.force = False  # what is missing will not come: do without it
        self.strays = 0  # events that fit nowhere
        self._handlers: tuple[Handler, ...] = (
            self._record, self._open, self._under, self._enter, self._exit, self._resume, self._suspend, self._finish,
            self._vanish, self._name, self._hole,
        )  # fmt: skip

    def apply(self, ring: Ring, event: Event) -> bool:
        kind, strand, operand, extra, value = event
        return self._handlers[kind](ring, strand, operand, extra, value)

    def bury(self, kind: int, id: int) -> None:
        """Something is gone, and all that was written before has been read."""
        if kind == STRAND_DEATH:
            self._bury_strand(id)
        elif kind == POSITION_DEATH:
            self._unhold(self.positions.pop(id, None))
        else:
            self.recordings.pop(id, None)

    def _record(self, ring: Ring, strand: int, recording: int, extra: int, value: int) -> bool:
        state = self.strands.get(strand)
        if state is None:
            state = self.strands[strand] = StrandState(strand, recording)
        state.recording = recording
        return True

    def _open(self, ring: Ring, strand: int, up: int, extra: int, value: int) -> bool:
        if strand in self.strands:  # written again by what interrupted the first
            return True
        state = StrandState(strand, 0)
        if up:
            if up not in self.positions and not self.force:
                return False
            node = self.positions.get(up)
            state.up, state.is_async, state.void = node, True, node is None
            self._hold(node)
        self.strands[strand] = state
        return True

    def _under(self, ring: Ring, strand: int, parent: int, kind: int, value: int) -> bool:
        above = self.strands.get(parent)
        if above is None and not self.force:
            return False
        state = StrandState(strand, above.recording if above is not None else 0)
        if above is None or above.void or above.excess:
            state.void = True
        elif above.stack:
            state.up = above.stack[-1]
        else:
            state.up, state.is_async = above.up, above.is_async
        state.owner = True
        self.strands[strand] = state
        return True

    def _enter(self, ring: Ring, strand: int, operation: int, load: int, now: int) -> bool:
        state, recording = self._on(strand)
        if state is None or recording is None:
            return True
        thread = self._thread(recording, ring)
        now = self._tick(recording, thread, now)
        if state.void or state.excess or recording.live_nodes >= recording.most_nodes:
            self._enter_over_limit(recording, state)
            return True
        node = self._new_node(recording, state, operation, load, now)
        if thread.running is not state:
            if not state.stack:
                state.inside = thread.running
            thread.running = state
        state.stack.append(node)
        trace = node.trace
        if trace.executions > recording.setup.limits.trace_executions:
            recording.truncate(trace)
        return True

    def _enter_over_limit(self, recording: RecordingFold, state: StrandState) -> None:
        recording.table.recorded += 1
        recording.table.over_limit += 1
        state.excess += 1
        above = state.stack[-1] if state.stack else state.up
        if above is not None and not above.holed:
            self._make_hole(above)

    def _new_node(self, recording: RecordingFold, state: StrandState, operation: int, load: int, now: int) -> Node:
        parent = state.stack[-1] if state.stack else state.up
        is_async = not state.stack and state.is_async
        trace: Trace
        if parent is None:
            trace = recording.new_trace()
            stack = trace.table.stack(None, operation)
        else:
            stack = parent.trace.table.stack(parent.stack, operation)
            trace = parent.trace
            if parent.live == 0:  # its trace has been folded: this comes too late
                trace, parent = recording.late_trace(), None
        node = Node(operation, trace, parent, is_async and parent is not None, stack, load, now)
        node.wait_base_ns, node.yield_base_ns = state.waited_ns, state.yielded_ns
        trace.executions += 1
        trace.table.recorded += 1
        recording.live_nodes += 1
        if parent is None:
            trace.root = node
        else:
            _add_child(parent, node)
        return node

    def _exit(self, ring: Ring, strand: int, ending: int, extra: int, now: int) -> bool:
        state, recording = self._on(strand)
        if state is None or recording is None:
            return True
        thread = self._thread(recording, ring)
        now = self._tick(recording, thread, now)
        if state.excess:
            state.excess -= 1
        elif state.stack:
            self._end(recording, state, ending, now)
            self._stopped(thread, state)
        else:
            self.strays += 1
        return True

    def _end(self, recording: RecordingFold, state: StrandState, ending: int, now: int) -> None:
        node = state.stack.pop()
        node.ending = ending
        node.suspended_ns = state.waited_ns - node.wait_base_ns
        node.response_ns = max(0, now - node.entry_ns - (state.yielded_ns - node.yield_base_ns))
        recording.ended(node)

    def _stopped(self, thread: Thread, state: StrandState) -> None:
        """The strand gave up the thread, or one of its executions ended: who runs on?"""
        if state.stack:
            thread.running = state
        elif thread.running is state:
            thread.running, state.inside = state.inside, None

    def _resume(self, ring: Ring, strand: int, segments: int, extra: int, now: int) -> bool:
        if self._must_wait(strand, segments):
            return False
        state, recording = self._on(strand)
        if state is None or recording is None:
            return True
        thread = self._thread(recording, ring)
        now = self._tick(recording, thread, now)
        self._pause_ended(recording, state, now)
        if state.stack:
            state.stack[0].resumptions += 1
        if thread.running is not state:
            state.inside, thread.running = thread.running, state
        return True

    def _pause_ended(self, recording: RecordingFold, state: StrandState, now: int) -> None:
        pause = now - state.paused_at_ns
        if pause < 0:  # two threads whose clocks disagree
            recording.clock_steps += 1
            pause = 0
        if state.paused_yielding:
            state.yielded_ns += pause
        else:
            state.waited_ns += pause

    def _suspend(self, ring: Ring, strand: int, yielded: int, extra: int, now: int) -> bool:
        state, recording = self._on(strand)
        if state is None or recording is None:
            return True
        thread = self._thread(recording, ring)
        state.paused_at_ns = self._tick(recording, thread, now)
        state.paused_yielding = bool(yielded)
        state.segments += 1
        if thread.running is state:
            thread.running, state.inside = state.inside, None
        return True

    def _finish(self, ring: Ring, strand: int, ending: int, extra: int, now: int) -> bool:
        state, recording = self._on(strand)
        self.strands.pop(strand, None)
        if state is None or recording is None:
            return True
        thread = self._thread(recording, ring)
        self._end_all(recording, state, ending, self._tick(recording, thread, now))
        self._stopped(thread, state)
        return True

    def _vanish(self, ring: Ring, strand: int, ending: int, segments: int, now: int) -> bool:
        if self._must_wait(strand, segments):
            return False
        state, recording = self._on(strand)
        self.strands.pop(strand, None)
        if state is None or recording is None:
            return True
        now = max(now, state.paused_at_ns)
        self._pause_ended(recording, state, now)
        self._end_all(recording, state, ending, now)
        return True

    def _end_all(self, recording: RecordingFold, state: StrandState, ending: int, now: int) -> None:
        """A resumable ends, and with it what it left open above itself (a span never closed)."""
        while len(state.stack) > 1:
            self._end(recording, state, ABANDONED, now)
        if state.stack:
            self._end(recording, state, ending, now)

    def _name(self, ring: Ring, strand: int, position: int, extra: int, value: int) -> bool:
        state = self.strands.get(strand)
        if state is None and not self.force:
            return False
        node: Node | None = None
        if state is not None and not state.void and not state.excess:
            node = state.stack[-1] if state.stack else state.up
        self.positions[position] = node
        self._hold(node)
        return True

    def _hole(self, ring: Ring, strand: int, lost: int, extra: int, value: int) -> bool:
        state = self.strands.get(strand)
        above = None
        if state is not None and not state.excess:
            above = state.stack[-1] if state.stack else state.up
        if above is not None:
            self._make_hole(above)
        return True

    def _make_hole(self, node: Node) -> None:
        """Executions below this one are missing."""
        node.holed = True
        node.trace.recording.truncate(node.trace)

    def _bury_strand(self, id: int) -> None:
        state = self.strands.pop(id, None)
        if state is None:
            return
        recording = self.recordings.get(state.recording)
        if recording is not None:
            while state.stack:
                recording.abandon(state.stack.pop())
        self._unhold(state.up if not state.owner else None)

    def _hold(self, node: Node | None) -> None:
        if node is not None and node.live > 0:
            node.live += 1

    def _unhold(self, node: Node | None) -> None:
        if node is not None:
            node.trace.recording.release(node)

    def _on(self, strand: int) -> tuple[StrandState | None, RecordingFold | None]:
        """The strand of an event and its recording; where either is not known (any more) the event is a stray."""
        state = self.strands.get(strand)
        recording = self.recordings.get(state.recording) if state is not None else None
        self.strays += recording is None
        return state, recording

    def _must_wait(self, strand: int, segments: int) -> bool:
        """Whether an earlier segment of a resumable has yet to be read from the ring of another thread."""
        state = self.strands.get(strand)
        return (state is None or state.segments != segments) and not self.force

    def _thread(self, recording: RecordingFold, ring: Ring) -> Thread:
        thread = recording.threads.get(ring)
        if thread is None:
            thread = recording.threads[ring] = Thread()
        return thread

    def _tick(self, recording: RecordingFold, thread: Thread, now: int) -> int:
        """Gives the time since the thread's last event to what was running; a clock that stepped back is held."""
        last = thread.last_ns
        if last is not None:
            if now < last:
                recording.clock_steps += 1
                now = last
            running = thread.running
            if running is not None and running.stack:
                running.stack[-1].self_ns += now - last
        thread.last_ns = now
        return now


def _add_child(parent: Node, node: Node) -> None:
    parent.live += 1
    if node.is_async:
        if parent.tasks is None:
            parent.tasks = {}
        parent.tasks[node] = None
    else:
        if parent.children is None:
            parent.children = []
        parent.children.append(node)
