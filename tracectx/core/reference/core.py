"""The Python core as the session sees it: recorder, fold and snapshots behind one door."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tracectx.clock import Clock
from tracectx.config import Limits
from tracectx.core.reference.folder import Folder
from tracectx.core.reference.recorder import ReferenceRecorder
from tracectx.core.reference.recordings import RecordingFold, RecordingSetup
from tracectx.core.reference.strands import RecordingHandle, counted

if TYPE_CHECKING:
    from tracectx.core.snapshot import Snapshot

_EVENT_BYTES, _NODE_BYTES, _LEAF_BYTES, _SHAPE_BYTES, _STACK_BYTES = 160, 400, 1_100, 400, 360
"""Sizes of the structures, measured with `tracemalloc` on CPython 3.11 (rounded up)."""


class ReferenceCore:
    """Methods that fold or read what is folded must be called under `lock`."""

    name = "python"

    def __init__(self) -> None:
        self.recorder = ReferenceRecorder()
        self.folder = Folder(self.recorder)
        self._next_id = 0

    def open_recording(self, id: int, clock: Clock, limits: Limits, loops: str, linger_ns: int, sample: float) -> RecordingFold:
        """A new recording, not current yet. `id`: 64 bits, unique across processes."""
        now = time.time_ns()
        # An injected clock is the time: tests and simulations see their own numbers.
        offset = 0 if clock.name == "custom" else now - clock.read()
        self._next_id += 1
        handle = RecordingHandle(self._next_id, clock.read, sample)
        setup = RecordingSetup(id, clock, limits, loops, linger_ns, offset, clock.read() + offset)
        recording = self.folder.add(setup, handle)
        recording.errors_before = counted(self.recorder.errors)
        return recording

    def drain(self) -> None:
        self.folder.drain()

    def settle(self) -> None:
        """As `drain`, and looks for what has ended without a sign."""
        self.recorder.sweep()
        self.folder.drain()

    def snapshot(self, recording: RecordingFold, attachment: str, probe_cost_ns: int) -> Snapshot:
        from tracectx.core.reference.export import export  # the columns are only needed when somebody asks

        counters = {name: value for name, value in self.counters(recording).items() if name != "memory_bytes"}
        return export(recording, counters, attachment, probe_cost_ns)

    def counters(self, recording: RecordingFold) -> dict[str, int]:
        """What the recording has counted: recorded = folded + open + unfinished + dropped, from four separate counts."""
        table, handle = recording.table, recording.handle
        lost_before = counted(handle.dropped_executions)
        leaves = [*table.by_caller.values(), *table.by_stack.values()]
        leaves += [leaf for context in table.subtrees.values() for leaf in context.others.values()]
        return {
            "recorded": table.recorded + lost_before,
            "folded": table.ended,
            "open": recording.open_executions(),
            "unfinished": table.unfinished,
            "dropped": lost_before + table.over_limit,
            "traces": table.traces,
            "open_traces": sum(trace.table is table for trace in recording.open_traces.values()),
            "dropped_traces": counted(handle.dropped_traces),
            "truncated_traces": table.truncated_traces,
            "late_executions": table.late_executions,
            "sampled_out_traces": counted(handle.sampled_out),
            "other_executions": sum(leaf.count for leaf in leaves),
            "evicted_classes": table.evicted_classes,
            "vanished_executions": recording.vanished,
            "clock_steps": recording.clock_steps,
            "probe_errors": counted(self.recorder.errors) - recording.errors_before,
            "trace_classes": len(table.classes),
            "memory_bytes": self._memory_bytes(recording),
        }

    def recorded_anything(self, recording: RecordingFold) -> bool:
        return bool(recording.table.recorded or counted(recording.handle.dropped_executions))

    def reset(self, recording: RecordingFold) -> None:
        recording.reset()
        recording.errors_before = counted(self.recorder.errors)
        recording.handle.reset()

    def close(self, recording: RecordingFold) -> None:
        recording.close()

    def truncate_open(self) -> None:
        self.folder.truncate_open()

    def forked(self) -> None:
        """In the child of a fork: the parent keeps what it recorded, we start empty."""
        recordings = list(self.folder.assembler.recordings.values())
        self.recorder.forked()
        self.folder = Folder(self.recorder)
        for recording in recordings:
            recording.handle.reset()
            self.folder.add(recording.setup, recording.handle).errors_before = counted(self.recorder.errors)

    def fold_of(self, recording: RecordingFold) -> RecordingFold:
        """The recording after a fork made it anew."""
        return self.folder.assembler.recordings.get(recording.handle.id, recording)

    def measure_probe_cost_ns(self) -> int:
        """The time that entering and leaving take on this core, in a recorder of its own; the smallest of 5 batches."""
        scratch = ReferenceRecorder()
        scratch.recording = scratch.outermost = RecordingHandle(1, time.perf_counter_ns, 1.0)
        scratch.capacity = 1_000_000
        operation = scratch.operation("probe cost", "")
        return min(_batch_ns(scratch, operation) for _ in range(5)) // _BATCH

    def _memory_bytes(self, recording: RecordingFold) -> int:
        """An estimate from the number of structures."""
        table = recording.table
        events = sum(len(ring.events) for ring in list(self.recorder.rings))
        leaves = len(table.by_caller) + len(table.by_stack) + len(table.subtrees) + len(table.loads) // 4
        positions = sum(kept.cost for kept in table.classes.values())
        return (
            events * _EVENT_BYTES
            + recording.live_nodes * _NODE_BYTES
            + (leaves + positions) * _LEAF_BYTES
            + (len(table.classes) + len(table.subtrees)) * _SHAPE_BYTES
            + len(table.stacks) * _STACK_BYTES
        )


_BATCH = 200


def _batch_ns(recorder: ReferenceRecorder, operation: int) -> int:
    enter, leave = recorder.enter, recorder.leave
    started = time.perf_counter_ns()
    for _ in range(_BATCH):
        token = enter(operation)
        if token is not None:
            leave(token, 0)
    return time.perf_counter_ns() - started
