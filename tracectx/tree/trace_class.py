"""`TraceClass` and `Exemplar`: the traces of one shape, and single traces that stand for them. Values; any thread."""

from __future__ import annotations

from dataclasses import dataclass

from tracectx.core.snapshot import ExemplarColumns
from tracectx.stats.moments import NS_PER_SECOND
from tracectx.tree.arrays import ints
from tracectx.tree.call_tree import CallTree
from tracectx.tree.timing_model import TimingModel


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One trace. `times_ns`: response times per position of the shape, summed over the executions there."""

    started_at: float
    """Unix time, in seconds."""
    times_ns: tuple[int, ...]
    trace_id: str


@dataclass(frozen=True, slots=True)
class TraceClass:
    """All traces of one shape. An exemplar is None in a difference of snapshots if it may be older than the earlier one."""

    shape: CallTree
    count: int
    response_time: TimingModel
    """Of the root."""
    slowest: Exemplar | None
    sample: Exemplar | None
    """A trace chosen at random, each with equal chance."""


def exemplar_of_row(columns: ExemplarColumns, row: int) -> Exemplar | None:
    """One row of a table; None where it is not known."""
    if not columns.trace_id[row]:
        return None
    times = ints(columns.time_ns)[int(columns.time_start[row]) : int(columns.time_start[row + 1])]
    return Exemplar(int(columns.started_at_ns[row]) / NS_PER_SECOND, tuple(times.tolist()), columns.trace_id[row])
