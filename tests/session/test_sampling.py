"""`sample`: a share of the traces, drawn at their roots."""

from __future__ import annotations

import asyncio

import tracectx
from tests.session.programs import inner, outer
from tests.support import drawn


def test_each_trace_is_recorded_whole_or_not_at_all_and_each_is_counted() -> None:
    with tracectx.recording(sample=0.5) as recording:
        for _ in range(400):
            outer(3)
    stats = recording.stats()
    assert stats.traces + stats.sampled_out_traces == 400
    assert stats.recorded == stats.folded == 4 * stats.traces
    assert set(drawn(recording)) == {"outer(inner*2-3)"}


def test_the_share_of_traces_is_that_of_the_option() -> None:
    with tracectx.recording(sample=0.25) as recording:
        for _ in range(4_000):
            inner()
    # The standard deviation of 4,000 independent draws is sqrt(4000 x 0.25 x 0.75) = 27.4; six of them are 164.
    assert abs(recording.stats().traces - 1_000) <= 164


def test_a_share_of_nothing_and_one_of_everything() -> None:
    with tracectx.recording(sample=0) as recording:
        for _ in range(10):
            outer()
    assert (recording.stats().recorded, recording.stats().sampled_out_traces) == (0, 10)
    with tracectx.recording(sample=1) as recording:
        for _ in range(10):
            outer()
    assert (recording.stats().recorded, recording.stats().sampled_out_traces) == (20, 0)


def test_what_a_trace_that_was_not_drawn_causes_later_is_not_recorded_either() -> None:
    async def child() -> None:
        inner()

    @tracectx.probe
    async def parent() -> None:
        await asyncio.gather(child(), child())

    with tracectx.recording(sample=0) as recording:
        asyncio.run(parent())
    assert (recording.stats().recorded, recording.stats().sampled_out_traces) == (0, 1)


def test_a_change_takes_effect_at_the_next_root() -> None:
    with tracectx.recording() as recording:
        with tracectx.span("open"):
            tracectx.configure(sample=0)
            inner()
        inner()
    assert drawn(recording) == ["open(inner)"]
    assert recording.stats().sampled_out_traces == 1
