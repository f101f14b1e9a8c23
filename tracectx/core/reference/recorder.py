"""The producer: what runs inside a probe, on the thread that is probed.

It may be interrupted at any point by a signal handler, a `__del__` or a weak reference's callback that records too. That is
harmless because every interruption is balanced (it leaves depths and current strands as it found them) and an event is
appended by one atomic operation. No method raises an `Exception`; what goes wrong is counted and told once.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from itertools import count

from tracectx.core.events import ENTER, EXIT, HOLE, OPEN, RECORD
from tracectx.core.keys import OTHER_NAME
from tracectx.core.reference.location import VARIABLE, Locator, ThreadState, nothing
from tracectx.core.reference.resumable import ReferenceResumable
from tracectx.core.reference.strands import DROPPED, SAMPLED_OUT, Muted, Position, RecordingHandle, Strand, Token
from tracectx.stats.mixing import mix64

_ANNOUNCEMENTS = 2
"""Events that a thread writes before its first trace."""


class SpanToken:
    """An open span: the execution, and what to put back into the context variable."""

    __slots__ = ("execution", "old", "written")

    def __init__(self, execution: Strand | Muted, written: Token | None, old: Token | None) -> None:
        self.execution = execution
        self.written = written
        self.old = old


class ReferenceRecorder(Locator):
    """Implements `tracectx.core.interface.Recorder`; the session sets the attributes that have no underscore."""

    def __init__(self) -> None:
        super().__init__()
        self.enabled = True
        self.capacity = 65_536
        self.drop_when_full = False
        self.max_operations = 10_000
        self.on_full: Callable[[], None] = nothing
        self.consumer_lock = threading.Lock()
        self.errors = count()
        self.operations: list[str] = [OTHER_NAME]
        self.components: list[str] = [""]
        self._operation_ids: dict[str, int] = {}
        self._error_told = False

    def operation(self, name: str, component: str) -> int:
        known = self._operation_ids.get(name)
        if known is not None:
            return known
        with self._registration:
            if name not in self._operation_ids:
                if len(self.operations) > self.max_operations:
                    return 0
                self.operations.append(name)
                self.components.append(component)
                self._operation_ids[name] = len(self.operations) - 1
            return self._operation_ids[name]

    def enter(self, operation: int, root: bool = False) -> Strand | Muted | None:
        if not self.enabled:
            return None
        state = strand = None
        try:
            state = self.state()
            strand = self.strand(state)
            if root:
                strand = self.cover(strand)
            if strand.muted:
                self.count_muted(strand)
                return None
            if not strand.depth and not self.begin(state, strand):
                return Muted(strand)
            if len(state.ring.events) >= self.capacity and not self.make_room(state, strand):
                return Muted(strand)
            # From here on nothing needs a frame: at the recursion limit either all of it happens or none.
            event = (ENTER, strand.id, operation, len(self.open_roots) or 1, strand.read())
            strand.depth += 1
            state.ring.events.append(event)
            return strand
        except Exception as error:
            self._entry_failed(state, strand, error)
            return None

    def leave(self, token: Strand | Muted, ending: int) -> None:
        if token.__class__ is Muted:
            self._unmute(token.strand)
            return
        assert isinstance(token, Strand)
        try:
            now = token.read()
            if token.epoch != self.epoch or not token.depth:
                return
            token.depth -= 1
            if not token.muted:
                self.state().ring.events.append((EXIT, token.id, ending, 0, now))
            if not token.depth:
                self._ended(token)
        except Exception as error:
            self.probe_failed(error)

    def enter_span(self, operation: int, root: bool = False) -> SpanToken | None:
        execution = self.enter(operation, root)
        if execution is None:
            return None
        try:
            strand = execution.strand if isinstance(execution, Muted) else execution
            if strand.generator:  # its consumer would see what it writes
                return SpanToken(execution, None, None)
            slot = self.slot(self.state())
            written, old = Token(slot, self.position(), self.epoch), VARIABLE.get()
            VARIABLE.set(written)
            return SpanToken(execution, written, old)
        except Exception as error:
            self.probe_failed(error)
            self.leave(execution, 0)
            return None

    def leave_span(self, token: SpanToken, ending: int) -> None:
        self.leave(token.execution, ending)
        if token.written is not None and VARIABLE.get() is token.written:
            VARIABLE.set(token.old)

    def resumable(self, operation: int, kind: int, root: bool = False) -> ReferenceResumable | None:
        return ReferenceResumable(self, operation, kind, root) if self.enabled else None

    def position(self) -> Position | None:
        try:
            state = self.state()
            strand = self.strand(state)
            if strand.muted:
                return Position(self, 0, strand.recording, strand.muted)
            if not strand.depth:
                return strand.up
            return self.name(state, strand)
        except Exception as error:
            self.probe_failed(error)
            return None

    def begin(self, state: ThreadState, strand: Strand) -> bool:
        """The first execution of an empty strand is about to enter. False: it is not recorded, and the strand is muted."""
        self.announce(state, strand)
        if strand.up is not None:
            return True
        if self.wake is not None:
            wake, self.wake = self.wake, None
            wake()
        recording = state.home or self.recording
        if recording.sample < 1.0 and not self._drawn(recording):
            next(recording.sampled_out)
            strand.muted = SAMPLED_OUT
            return False
        if strand.recording is not recording:
            # The event first: what interrupts here must not find it done and come before it.
            state.ring.events.append((RECORD, strand.id, recording.id, 0, 0))
            strand.read = recording.clock_read
            strand.recording = recording
        state.ring.committed = strand.start = state.ring.written
        self.open_roots.add(strand.id)
        return True

    def announce(self, state: ThreadState, strand: Strand) -> None:
        """Writes the event that makes the strand known to the fold, once."""
        if not strand.announced:
            up = strand.up.id if strand.up is not None else 0
            state.ring.events.append((OPEN, strand.id, up, 0, 0))
            if strand.recording is not None:
                state.ring.events.append((RECORD, strand.id, strand.recording.id, 0, 0))
            strand.announced = True  # last: what interrupts here must not come before it, and may write it again

    def make_room(self, state: ThreadState, strand: Strand) -> bool:
        """The ring is full. False: the execution that wanted to enter is dropped, and with it all below it."""
        if not self.drop_when_full:
            self.on_full()
            return True
        next((strand.recording or self.recording).dropped_executions)
        if not strand.depth:
            self.open_roots.discard(strand.id)
            next((strand.recording or self.recording).dropped_traces)
        elif not self._take_back(state, strand):
            state.ring.events.append((HOLE, strand.id, 1, 0, 0))
        strand.muted = DROPPED
        return False

    def _take_back(self, state: ThreadState, strand: Strand) -> bool:
        """Drops the whole synchronous trace now open, where nothing has read or named any of it."""
        ring = state.ring
        if ring.written - strand.start + _ANNOUNCEMENTS >= self.capacity:
            return False  # larger than the ring by itself: what fits is kept
        if strand.up is not None or strand.escaped or not self.consumer_lock.acquire(blocking=False):
            return False
        try:
            lost = ring.take_back(strand.start, strand.id) if strand.start > ring.consumed else None
        finally:
            self.consumer_lock.release()
        if lost is None:
            return False
        recording = strand.recording or self.recording
        for _ in range(lost):
            next(recording.dropped_executions)
        next(recording.dropped_traces)
        strand.sunk = True
        return True

    def count_muted(self, strand: Strand) -> None:
        """An execution is not recorded because one above it was not."""
        if strand.muted == DROPPED:
            next((strand.recording or self.recording).dropped_executions)

    def _unmute(self, strand: Strand) -> None:
        if not strand.sunk:
            strand.muted = 0
        if not strand.depth:
            self.uncover(strand)

    def _ended(self, strand: Strand) -> None:
        """The strand is empty again."""
        strand.escaped = strand.sunk = False
        strand.muted = 0
        if strand.up is None:
            self.open_roots.discard(strand.id)
            ring = self.state().ring
            ring.committed = ring.written
        self.uncover(strand)

    def _drawn(self, recording: RecordingHandle) -> bool:
        return mix64(next(recording.draws)) < recording.sample * 2**64

    def _entry_failed(self, state: ThreadState | None, strand: Strand | None, error: Exception) -> None:
        """An execution could not be recorded; at the recursion limit that is the program's own doing."""
        recording = strand.recording if strand is not None else None
        next((recording or self.recording).dropped_executions)
        if state is not None and strand is not None and strand.depth:
            state.ring.events.append((HOLE, strand.id, 1, 0, 0))
        if error.__class__ is not RecursionError:
            self.probe_failed(error)

    def probe_failed(self, error: BaseException) -> None:
        next(self.errors)
        if self._error_told:
            return
        self._error_told = True
        try:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            sys.stderr.write(f"tracectx: an error in a probe was ignored (further ones are only counted):\n{text}")
        except Exception:  # stderr may be closed or replaced by anything
            next(self.errors)

    def adopt(self, position: Position | None) -> tuple[Token, Token | None]:
        written, old = Token(self.nowhere, position, self.epoch), VARIABLE.get()
        VARIABLE.set(written)
        return written, old

    def restore(self, adopted: tuple[Token, Token | None]) -> None:
        written, old = adopted
        if VARIABLE.get() is written:
            VARIABLE.set(old)

    def detach(self) -> tuple[Strand, Token, Token | None]:
        slot = self.slot(self.state())
        cover = self.cover(self.strand(self.state()))
        cover.detached = True
        written, old = Token(slot, None, self.epoch), VARIABLE.get()
        VARIABLE.set(written)
        return cover, written, old

    def reattach(self, detached: tuple[Strand, Token, Token | None]) -> None:
        cover, written, old = detached
        cover.detached = False
        self.uncover(cover)
        self.restore((written, old))

    def forked(self) -> None:
        super().forked()
        self.consumer_lock = threading.Lock()
        self._registration = threading.RLock()
