"""The consumer: reads every ring and feeds the assembler. One at a time, under the recorder's `consumer_lock`.

A ring that names something another ring has yet to tell waits; after a pass over all rings without progress, what is missing
cannot come any more (it was written first), and the fold goes on without it.
"""

from __future__ import annotations

from tracectx.core.reference.assembler import Assembler
from tracectx.core.reference.recorder import ReferenceRecorder
from tracectx.core.reference.recordings import OperationNames, RecordingFold, RecordingSetup
from tracectx.core.reference.ring import Ring
from tracectx.core.reference.strands import RecordingHandle

_MOST_PASSES = 8
"""Producers may write for ever while we read; what they wrote before the call is read in the first passes."""


class Folder:
    """The fold of one process. Every method is called under the consumer's lock."""

    def __init__(self, recorder: ReferenceRecorder) -> None:
        self.recorder = recorder
        self.assembler = Assembler()
        self.operations = OperationNames(recorder.operations, recorder.components)

    def add(self, setup: RecordingSetup, handle: RecordingHandle) -> RecordingFold:
        recording = RecordingFold(setup, handle, self.operations)
        self.assembler.recordings[handle.id] = recording
        return recording

    def drain(self) -> None:
        """Folds everything that was written before the call."""
        for _ in range(_MOST_PASSES):
            deaths = len(self.recorder.deaths)
            progress, waiting = self._pass()
            if waiting is None:
                for _ in range(deaths):
                    self.assembler.bury(*self.recorder.deaths.popleft())
                if not progress and not deaths:
                    break
            elif not progress:
                self._without_waiting(waiting)
        for recording in list(self.assembler.recordings.values()):
            recording.expire(recording.handle.clock_read())

    def _pass(self) -> tuple[bool, Ring | None]:
        """Reads every ring once: whether anything was read, and a ring that waits for another."""
        progress, waiting = False, None
        for ring in list(self.recorder.rings):
            known = len(ring.events)
            read = self._read(ring, known)
            progress = progress or read > 0
            if read < known:
                waiting = ring
            elif ring.retired and not ring.events:
                self._retire(ring)
        return progress, waiting

    def _read(self, ring: Ring, most: int) -> int:
        """Folds what the ring holds, or up to an event that must wait."""
        events, apply = ring.events, self.assembler.apply
        for read in range(most):
            if not apply(ring, events[0]):
                return read
            events.popleft()
            ring.consumed += 1
        return most

    def _retire(self, ring: Ring) -> None:
        self.recorder.rings.remove(ring)
        for recording in self.assembler.recordings.values():
            recording.threads.pop(ring, None)

    def _without_waiting(self, ring: Ring) -> None:
        """Lets a ring go on without what it waits for."""
        self.assembler.force = True
        try:
            self.assembler.apply(ring, ring.events[0])
        finally:
            self.assembler.force = False
        ring.events.popleft()
        ring.consumed += 1

    def truncate_open(self) -> None:
        """Recording was switched on or off: traces open across that have gaps."""
        for recording in self.assembler.recordings.values():
            for trace in list(recording.open_traces.values()):
                if trace.root is not None:
                    recording.make_holes(trace)
