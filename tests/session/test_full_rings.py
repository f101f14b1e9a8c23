"""What happens when a ring is full: with "fold" nothing is lost, with "drop" what is lost is counted exactly."""

from __future__ import annotations

import threading

import pytest

import tracectx
from tests.session.programs import outer
from tests.support import drawn

THREADS, TRACES, CALLS = 4, 300, 2
EXECUTIONS = THREADS * TRACES * (CALLS + 1)


def work_on_threads() -> None:
    start = threading.Barrier(THREADS)

    def work() -> None:
        start.wait(60)
        for _ in range(TRACES):
            outer(CALLS)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("ring_events", [4, 16, 64])
def test_with_fold_nothing_is_lost_whatever_the_size_of_the_ring(ring_events: int) -> None:
    with tracectx.recording(when_full="fold", ring_events=ring_events) as recording:
        work_on_threads()
    stats = recording.stats()
    assert (stats.recorded, stats.folded, stats.dropped, stats.traces) == (EXECUTIONS, EXECUTIONS, 0, THREADS * TRACES)
    assert drawn(recording) == ["outer(inner*2-3)"] * (THREADS * TRACES)


@pytest.mark.parametrize("ring_events", [4, 16, 64])
def test_with_drop_every_execution_is_folded_or_counted_as_dropped(ring_events: int) -> None:
    with tracectx.recording(when_full="drop", ring_events=ring_events, fold_interval=60) as recording:
        work_on_threads()
    stats = recording.stats()
    assert stats.recorded == stats.folded + stats.dropped == EXECUTIONS
    assert stats.traces + stats.dropped_traces == THREADS * TRACES
    assert stats.dropped > 0
    assert recording.snapshot().executions == stats.folded


def test_with_drop_a_trace_that_does_not_fit_is_dropped_whole() -> None:
    # A ring of 16 events holds one trace of 6 executions (12), and not a second one.
    with tracectx.recording(when_full="drop", ring_events=16, fold_interval=60) as recording:
        outer(5)
        outer(5)
        stats = recording.stats()
        assert (stats.recorded, stats.folded, stats.dropped, stats.traces, stats.dropped_traces) == (12, 6, 6, 1, 1)
        outer(5)  # the ring has been read
    assert drawn(recording) == ["outer(inner*4-7)", "outer(inner*4-7)"]
