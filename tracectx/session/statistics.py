"""What `tracectx.stats()` gives: the health of a recording in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordingStats:
    """recorded = folded + open + unfinished + dropped, always; each is counted by itself."""

    recorded: int
    """Executions that entered, kept or not."""
    folded: int
    """Executions that ended and are in the tree (those of open traces included)."""
    open: int
    """Executions that have not ended."""
    unfinished: int
    """Executions that will never end: their thread or task is gone. Not in the tree."""
    dropped: int
    """Executions lost to a full ring (`when_full="drop"`) or to the limit on open executions. Not in the tree."""
    traces: int
    open_traces: int
    dropped_traces: int
    truncated_traces: int
    late_executions: int
    sampled_out_traces: int
    other_executions: int
    evicted_classes: int
    vanished_executions: int
    clock_steps: int
    probe_errors: int
    trace_classes: int
    core: str
    core_reason: str
    attach: str
    clock: str
    tick_ns: int
    probe_cost_ns: int
    memory_bytes: int
    limits: dict[str, int]
