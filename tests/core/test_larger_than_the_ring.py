"""A trace that does not fit into a ring that drops (DESIGN: the way of the data)."""

from __future__ import annotations

from tests.core.programs import Machine


def trace_of(machine: Machine, calls: int) -> None:
    """One root with some calls below it."""
    machine.run([0])
    for _ in range(calls):
        machine.run([16, 3])
    machine.run([3])


def test_a_trace_larger_than_the_ring_is_truncated_not_dropped() -> None:
    machine = Machine(loops="exact", when_full="drop", ring_events=16)
    trace_of(machine, 100)
    counters = machine.finish().info.counters
    assert (counters["dropped_traces"], counters["truncated_traces"]) == (0, 1)
    assert counters["recorded"] == 101
    assert counters["folded"] == 101 - counters["dropped"]
    assert counters["folded"] > 1


def test_a_trace_that_would_fit_but_for_others_is_dropped_whole() -> None:
    machine = Machine(loops="exact", when_full="drop", ring_events=16)
    trace_of(machine, 3)
    trace_of(machine, 5)
    counters = machine.finish().info.counters
    assert (counters["dropped_traces"], counters["truncated_traces"]) == (1, 0)
    assert (counters["folded"], counters["dropped"]) == (4, 6)
