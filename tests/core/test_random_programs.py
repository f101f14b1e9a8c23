"""What must always hold (DESIGN.md section 6), on random programs against an exact model."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.programs import Machine, by_stack, folded_by_stack, model_totals, totals
from tracectx.core.snapshot import Snapshot

PROGRAMS = st.lists(st.integers(0, 16 * 66), max_size=120)


def assert_conserved(machine: Machine, snapshot: Snapshot) -> None:
    """recorded = folded + open + unfinished + dropped, each counted by itself, and folded is what the leaves hold."""
    counters = snapshot.info.counters
    assert counters["recorded"] == (counters["folded"] + counters["open"] + counters["unfinished"] + counters["dropped"])
    assert sum(snapshot.leaves.count) == counters["folded"]
    assert sum(snapshot.loads.histogram.count) == counters["folded"]
    assert counters["probe_errors"] == 0
    for row, count in enumerate(snapshot.leaves.count):
        assert count == sum(column[row] for column in snapshot.leaves.endings)


@given(PROGRAMS)
@settings(max_examples=300, deadline=None)
def test_every_execution_is_counted_where_it_belongs_with_its_times(program: list[int]) -> None:
    machine = Machine(loops="exact")
    machine.run(program)
    snapshot = machine.finish()
    assert_conserved(machine, snapshot)
    assert snapshot.info.counters["open"] == 0
    assert snapshot.info.counters["open_traces"] == 0
    assert snapshot.info.counters["other_executions"] == 0
    assert folded_by_stack(snapshot) == by_stack(machine)
    assert totals(snapshot) == model_totals(machine)


@given(PROGRAMS)
@settings(max_examples=100, deadline=None)
def test_bucketed_loops_change_shapes_and_nothing_else(program: list[int]) -> None:
    machine = Machine(loops="bucketed")
    machine.run(program)
    snapshot = machine.finish()
    assert folded_by_stack(snapshot) == by_stack(machine)
    assert totals(snapshot) == model_totals(machine)


@given(PROGRAMS, st.sampled_from(["bucketed", "exact"]))
@settings(max_examples=200, deadline=None)
def test_with_limits_small_enough_to_bite_every_execution_is_still_counted_once(program: list[int], loops: str) -> None:
    machine = Machine(loops=loops, max_contexts=8, max_shapes=2, max_trace_executions=4, max_operations=3, ring_events=16)
    machine.run(program)
    snapshot = machine.finish()
    assert_conserved(machine, snapshot)
    assert snapshot.info.counters["recorded"] == len(machine.executions)
    assert len(snapshot.operations) <= 4
    assert len(snapshot.stacks.parent) <= 1
    assert len(snapshot.classes.shape) <= 2


@given(PROGRAMS)
@settings(max_examples=200, deadline=None)
def test_a_full_ring_that_drops_loses_exactly_what_it_counts(program: list[int]) -> None:
    machine = Machine(loops="exact", when_full="drop", ring_events=8)
    machine.run(program)
    snapshot = machine.finish()
    assert_conserved(machine, snapshot)
    assert snapshot.info.counters["recorded"] == len(machine.executions)
    assert not folded_by_stack(snapshot) - by_stack(machine), "what is kept is where it belongs"


@given(PROGRAMS, st.integers(0, 120))
@settings(max_examples=100, deadline=None)
def test_a_snapshot_in_the_middle_is_exact_and_changes_nothing(program: list[int], cut: int) -> None:
    plain = Machine(loops="exact")
    plain.run(program)
    first = plain.finish()
    looked_at = Machine(loops="exact")
    looked_at.run(program[:cut])
    looked_at.core.drain()
    middle = looked_at.core.snapshot(looked_at.recording, "test", 0)
    assert_conserved(looked_at, middle)
    assert folded_by_stack(middle) == by_stack(looked_at)
    looked_at.run(program[cut:])
    second = looked_at.finish()
    assert totals(first) == totals(second)
    assert folded_by_stack(first) == folded_by_stack(second)


@given(PROGRAMS, st.sampled_from([{}, {"max_contexts": 8, "max_shapes": 2, "max_trace_executions": 4}]))
@settings(max_examples=100, deadline=None)
def test_the_same_program_gives_the_same_snapshot(program: list[int], limits: dict[str, int]) -> None:
    snapshots = []
    for _ in range(2):
        machine = Machine(loops="bucketed", **limits)
        machine.run(program)
        snapshots.append(machine.finish())
    first, second = (replace(snapshot, info=replace(snapshot.info, taken_at_ns=0)) for snapshot in snapshots)
    assert first == second
