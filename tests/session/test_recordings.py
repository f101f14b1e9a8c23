"""Recordings: which one a trace belongs to, and what changes while one runs."""

from __future__ import annotations

import threading

import pytest

import tracectx
from tests.session.programs import counters, inner, outer
from tests.support import drawn
from tracectx.testing import ManualClock


def test_module_functions_act_on_the_innermost_recording() -> None:
    with tracectx.recording(loops="exact") as around:
        outer()
        with tracectx.recording() as within:
            assert tracectx.stats().recorded == 0
            inner()
            tracectx.configure(sample=0.0)
            inner()
            assert tracectx.snapshot().executions == tracectx.stats().recorded == 1
        assert (around.options.sample, within.options.sample) == (1.0, 0.0)
        outer()
        assert tracectx.snapshot().executions == 4
    assert drawn(around) == ["outer(inner)", "outer(inner)"]
    assert drawn(within) == ["inner"]


def test_a_recording_takes_the_options_that_are_not_given_from_the_one_around_it() -> None:
    with tracectx.recording(loops="exact", trace_linger=3), tracectx.recording(trace_linger=4) as within:
        assert (within.options.loops, within.options.trace_linger) == ("exact", 4)


def test_a_block_inside_a_probed_function_begins_traces_of_its_own() -> None:
    with tracectx.recording() as around, tracectx.span("around"):
        with tracectx.recording() as within:
            inner()
        inner()
    assert drawn(within) == ["inner"]
    assert drawn(around) == ["around(inner)"]


def test_a_block_that_raises_closes_its_recording() -> None:
    with pytest.raises(ValueError, match="body"), tracectx.recording() as recording:
        inner()
        raise ValueError("body")
    inner()
    assert counters(recording) == {"recorded": 1, "folded": 1, "traces": 1}


def test_a_thread_first_seen_in_a_block_stays_with_it_and_is_late_once_it_has_closed() -> None:
    seen, closed = threading.Event(), threading.Event()

    def work() -> None:
        outer()
        seen.set()
        closed.wait(60)
        outer(2)

    thread = threading.Thread(target=work)
    with tracectx.recording() as around:
        with tracectx.recording() as recording:
            thread.start()
            assert seen.wait(60)
            assert counters(recording) == {"recorded": 2, "folded": 2, "traces": 1}
        closed.set()
        thread.join()
    assert counters(recording) == {"recorded": 5, "folded": 5, "traces": 1, "late_executions": 3}
    assert counters(around) == {}
    late = [context for context in recording.snapshot().contexts(level="trace") if context.other_reason == "late"]
    assert sum(context.count for context in late) == 3


def test_a_thread_that_a_block_saw_first_does_not_go_into_a_block_within() -> None:
    seen, opened = threading.Event(), threading.Event()

    def work() -> None:
        inner()
        seen.set()
        opened.wait(60)
        inner()

    thread = threading.Thread(target=work)
    with tracectx.recording() as around:
        thread.start()
        assert seen.wait(60)
        with tracectx.recording() as within:
            opened.set()
            thread.join()
    assert counters(around) == {"recorded": 2, "folded": 2, "traces": 2}
    assert counters(within) == {}


def test_reset_forgets_everything_and_an_open_trace_vanishes_when_it_ends() -> None:
    with tracectx.recording() as recording:
        outer(5)
        with tracectx.span("open"):
            inner()
            tracectx.reset()
            inner()
        assert counters(recording) == {"vanished_executions": 3}
        assert recording.snapshot().executions == 0
        outer()
    assert counters(recording) == {"recorded": 2, "folded": 2, "traces": 1, "vanished_executions": 3}
    assert drawn(recording) == ["outer(inner)"]


def test_reset_makes_room_for_options_that_are_fixed_once_something_is_recorded() -> None:
    with tracectx.recording(loops="bucketed") as recording:
        outer(3)
        tracectx.reset()
        tracectx.configure(loops="exact")
        outer(3)
    assert drawn(recording) == ["outer(inner inner inner)"]


def test_options_that_are_not_fixed_can_change_at_any_moment() -> None:
    with tracectx.recording() as recording:
        inner()
        tracectx.configure(when_full="drop", trace_linger=1, fold_interval=2, sample=0)
        inner()
    assert counters(recording) == {"recorded": 1, "folded": 1, "traces": 1, "sampled_out_traces": 1}


def test_configure_before_anything_is_recorded_takes_what_is_fixed_later() -> None:
    clock = ManualClock()
    with tracectx.recording() as recording:
        tracectx.configure(clock=clock, loops="exact")
        with tracectx.span("timed"):
            clock.advance_ns(123)
    assert recording.snapshot()["timed"].response_time.total_ns == 123
    assert recording.stats().clock == "custom"


def test_a_trace_that_is_open_across_a_toggle_is_truncated_and_lacks_what_was_not_recorded() -> None:
    with tracectx.recording() as recording:
        with tracectx.span("open"):
            inner()
            tracectx.disable()
            inner()
            outer()
            tracectx.enable()
            inner()
        outer()
    assert counters(recording) == {"recorded": 5, "folded": 5, "traces": 2, "truncated_traces": 1}
    tree = recording.snapshot()
    assert [(context.count, context.other_reason) for context in tree.contexts("open", "trace")] == [(1, "truncated")]
    assert sorted((context.count, context.stack) for context in tree.contexts("inner", "stack")) == [
        (1, ("outer", "inner")),
        (2, ("open", "inner")),
    ]


def test_what_runs_wholly_while_disabled_leaves_nothing() -> None:
    with tracectx.recording() as recording:
        tracectx.disable()
        outer()
        with tracectx.span("off"):
            inner()
        tracectx.enable()
    assert counters(recording) == {}


def test_a_trace_that_ends_while_disabled_is_complete_and_truncated() -> None:
    with tracectx.recording() as recording:
        with tracectx.span("open"):
            inner()
            tracectx.disable()
        tracectx.enable()
    assert counters(recording) == {"recorded": 2, "folded": 2, "traces": 1, "truncated_traces": 1}


def test_labels_over_their_limit_go_to_one_operation() -> None:
    with tracectx.recording(max_labels=2) as recording:
        for label in ("a", 7, "c", "d", "a", None):
            with tracectx.span("labels_over_their_limit", label=label):
                pass
    operations = recording.snapshot().operations
    found = {name.removeprefix("labels_over_their_limit"): context.count for name, context in operations.items()}
    assert found == {"": 1, "[a]": 2, "[7]": 1, "[(other)]": 2}


def test_no_label_at_all_may_be_allowed() -> None:
    with tracectx.recording(max_labels=0) as recording, tracectx.span("no_label_at_all", label="a"):
        pass
    assert list(recording.snapshot().operations) == ["no_label_at_all[(other)]"]


def test_the_fields_of_stats_add_up_while_traces_are_open() -> None:
    with tracectx.recording() as recording:
        outer(3)
        with tracectx.span("open"):
            inner()
            stats = recording.stats()
            assert (stats.recorded, stats.folded, stats.open, stats.traces, stats.open_traces) == (6, 5, 1, 1, 1)
            assert stats.recorded == stats.folded + stats.open + stats.unfinished + stats.dropped
        stats = recording.stats()
    assert (stats.recorded, stats.folded, stats.open, stats.traces, stats.open_traces) == (6, 6, 0, 2, 0)


def test_an_execution_that_will_never_end_is_unfinished_and_not_in_the_tree() -> None:
    def work() -> None:
        tracectx.span("never_left").__enter__()
        inner()

    with tracectx.recording() as recording:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        stats = recording.stats()
    assert (stats.recorded, stats.folded + stats.open + stats.unfinished) == (2, 2)
    assert "never_left" not in recording.snapshot().operations


def test_stats_say_what_recorded_and_how() -> None:
    with tracectx.recording(clock=ManualClock(), max_shapes=77, max_labels=3) as recording:
        stats = recording.stats()
    assert (stats.clock, stats.tick_ns, stats.limits["shapes"], stats.limits["labels"]) == ("custom", 1, 77, 3)
    assert stats.core_reason
    assert stats.attach in ("monitoring", "wrapping")
    assert stats.probe_cost_ns > 0
