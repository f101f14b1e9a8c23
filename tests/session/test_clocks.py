"""Clocks of the user's: exact, stepping back, and failing."""

from __future__ import annotations

import pytest

import tracectx
from tests.session.programs import inner, outer
from tracectx.session.session import SESSION
from tracectx.testing import ManualClock


def test_times_are_those_of_the_clock_in_nanoseconds() -> None:
    clock = ManualClock()
    with tracectx.recording(clock=clock) as recording, tracectx.span("a"):
        clock.advance_ns(10)
        with tracectx.span("b"):
            clock.advance_ns(3)
        clock.advance(1e-6)
    tree = recording.snapshot()
    assert (tree["a"].response_time.total_ns, tree["a"].self_time.total_ns) == (1_013, 1_010)
    assert (tree["b"].response_time.total_ns, tree["b"].self_time.total_ns) == (3, 3)


def test_a_clock_that_does_not_move_gives_times_of_zero_that_are_kept() -> None:
    with tracectx.recording(clock=ManualClock()) as recording:
        outer(3)
    assert [context.response_time.max_ns for context in recording.snapshot().operations.values()] == [0, 0]
    assert recording.snapshot().executions == 4


def test_readings_that_step_back_stand_still_and_are_counted() -> None:
    clock = ManualClock()
    with tracectx.recording(clock=clock) as recording, tracectx.span("a"):
        clock.set_ns(clock.now_ns - 500)
        with tracectx.span("b"):  # both readings are behind the one before them
            pass
        clock.advance_ns(700)
    tree, stats = recording.snapshot(), recording.stats()
    assert stats.clock_steps == 2
    assert (tree["a"].response_time.total_ns, tree["b"].response_time.total_ns) == (200, 0)


def test_a_clock_that_fails_stands_still_and_never_harms_the_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SESSION.core.recorder, "_error_told", False)
    fails = False

    def clock() -> int:
        if fails:
            raise OSError("the clock is broken")
        return 1_000

    with tracectx.recording(clock=clock) as recording:
        fails = True
        for _ in range(3):
            outer(2)
        fails = False
    stats = recording.stats()
    assert (stats.recorded, stats.folded, stats.traces) == (9, 9, 3)
    assert stats.probe_errors >= 2 * 9, "each execution reads the clock twice"
    assert {context.response_time.total_ns for context in recording.snapshot().operations.values()} == {0}
    told = capsys.readouterr().err
    assert told.count("tracectx: an error in a probe was ignored (further ones are only counted):") == 1
    assert told.endswith("OSError: the clock is broken\n")


@pytest.mark.parametrize("reading", ["soon", None, float("nan")])
def test_a_clock_that_gives_no_number_is_one_that_fails(reading: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION.core.recorder, "_error_told", True)
    with tracectx.recording(clock=lambda: reading) as recording:
        inner()
    assert recording.stats().probe_errors > 0
    assert recording.snapshot()["inner"].response_time.total_ns == 0


@pytest.mark.parametrize(("option", "name"), [("auto", "monotonic"), ("monotonic", "monotonic"), ("thread_cpu", "thread_cpu")])
def test_a_clock_of_the_system_has_its_name_and_tick(option: str, name: str) -> None:
    with tracectx.recording(clock=option) as recording:
        inner()
    stats = recording.stats()
    assert stats.clock in ((name, "tsc") if option == "auto" else (name,))
    assert stats.tick_ns >= 1
