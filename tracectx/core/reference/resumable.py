"""Executions that stop and go on: coroutines, generators and async generators, each with a strand of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from tracectx.core.events import ENTER, FINISH, HOLE, RESUME, SUSPEND, UNDER, VANISH, Event
from tracectx.core.interface import COROUTINE
from tracectx.core.reference.location import VARIABLE
from tracectx.core.reference.strands import DROPPED, Position, Slot, Strand, Token

if TYPE_CHECKING:
    from tracectx.core.reference.location import ThreadState
    from tracectx.core.reference.recorder import ReferenceRecorder


class ReferenceResumable:
    """Implements `tracectx.core.interface.Resumable`.

    A segment remembers the slot in which it runs and the strand it replaced there, and puts exactly that back.
    """

    __slots__ = ("_kind", "_old", "_operation", "_previous", "_recorder", "_root", "_segments", "_slot", "_strand", "_written")

    def __init__(self, recorder: ReferenceRecorder, operation: int, kind: int, root: bool) -> None:
        self._recorder = recorder
        self._operation = operation
        self._kind = kind
        self._root = root
        self._strand: Strand | None = None
        self._slot: Slot | None = None  # while a segment runs
        self._previous: Strand | None = None
        self._segments = 0
        self._written: Token | None = None
        self._old: Token | None = None

    def resume(self) -> None:
        recorder = self._recorder
        try:
            state = recorder.state()
            slot = recorder.slot(state)
            strand = self._strand
            if strand is None:
                if self._segments or not recorder.enabled:
                    return
                strand = self._start(state, slot)
            elif strand.epoch != recorder.epoch:
                return
            elif not strand.muted:
                state.ring.events.append((RESUME, strand.id, self._segments, 0, strand.read()))
            seen = VARIABLE.get()
            strand.token = ref(seen) if seen is not None else None
            self._slot, self._previous = slot, slot.current
            slot.current = strand
        except Exception as error:
            recorder.probe_failed(error)

    def suspend(self, yielded: bool) -> None:
        strand = self._strand
        self._segments += 1
        if strand is None:
            return
        try:
            now = strand.read()
            self._put_back()
            if not strand.muted and strand.epoch == self._recorder.epoch:
                self._recorder.state().ring.events.append((SUSPEND, strand.id, int(yielded), 0, now))
        except Exception as error:
            self._recorder.probe_failed(error)

    def finish(self, ending: int) -> None:
        strand = self._strand
        if strand is None:
            return
        try:
            now = strand.read()
            self._put_back()
            self._end(strand, (FINISH, strand.id, ending, 0, now))
            if self._written is not None and VARIABLE.get() is self._written:
                VARIABLE.set(self._old)
        except Exception as error:
            self._recorder.probe_failed(error)

    def vanish(self, ending: int) -> None:
        strand = self._strand
        if strand is None or self._slot is not None:
            return
        try:
            self._end(strand, (VANISH, strand.id, ending, self._segments, strand.read()))
        except Exception as error:
            self._recorder.probe_failed(error)

    def _end(self, strand: Strand, event: Event) -> None:
        self._strand = None
        self._segments += 1  # a late resume must not start anew
        if not strand.muted and strand.epoch == self._recorder.epoch:
            self._recorder.open_roots.discard(strand.id)
            self._recorder.state().ring.events.append(event)

    def _put_back(self) -> None:
        if self._slot is not None and self._previous is not None:
            self._slot.current = self._previous
        self._slot = self._previous = None

    def _start(self, state: ThreadState, slot: Slot) -> Strand:
        recorder = self._recorder
        parent = recorder.strand(state)
        strand = Strand(recorder, next(recorder.ids), None, None)
        strand.owned = False
        strand.generator = self._kind != COROUTINE
        self._strand = strand
        if self._recorded_below(state, parent, strand):
            event = (ENTER, strand.id, self._operation, len(recorder.open_roots) or 1, strand.read())
            strand.depth = 1
            state.ring.events.append(event)
        if self._kind == COROUTINE:
            self._old = VARIABLE.get()
            muted = strand.muted
            position = Position(recorder, 0, None, muted) if muted else recorder.name(state, strand)
            self._written = Token(slot, position, recorder.epoch)
            VARIABLE.set(self._written)
        return strand

    def _recorded_below(self, state: ThreadState, parent: Strand, strand: Strand) -> bool:
        """Makes the strand known as a child of `parent`, or as a root. False: it is muted."""
        recorder, events = self._recorder, state.ring.events
        if self._root or (not parent.depth and parent.up is None and not parent.muted):
            if not recorder.begin(state, strand):
                return False
            return len(events) < recorder.capacity or recorder.make_room(state, strand)
        strand.muted, strand.recording, strand.read = parent.muted, parent.recording, parent.read
        if parent.muted:
            recorder.count_muted(parent)
            return False
        if len(events) >= recorder.capacity and recorder.drop_when_full:
            next((strand.recording or recorder.recording).dropped_executions)
            strand.muted = DROPPED
            if parent.depth:
                events.append((HOLE, parent.id, 1, 0, 0))
            return False
        if len(events) >= recorder.capacity:
            recorder.on_full()
        recorder.announce(state, parent)
        parent.escaped = True
        strand.announced = True
        events.append((UNDER, strand.id, parent.id, self._kind, 0))
        return True
