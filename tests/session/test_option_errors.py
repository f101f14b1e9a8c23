"""Every option that is refused, with the words in which it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracectx
from tests.session.programs import run
from tracectx.config import Options, options_from_environment
from tracectx.errors import ConfigError

NAMES = (
    "sample, loops, max_memory, ring_events, max_trace_executions, max_operations, max_contexts, max_shapes, max_labels,"
    " when_full, trace_linger, fold_interval, clock, propagate_threads, report_at_exit, profile"
)
A_SIZE = "max_memory must be a size of at least 1MB and under 8 EiB, such as '64MB' or 64_000_000"
A_CLOCK = "clock must be 'auto', 'tsc', 'monotonic', 'thread_cpu' or a callable returning int nanoseconds"
SECONDS = "must be a number of seconds from 0 to under 1e9"

REFUSED: list[tuple[str, object, str]] = [
    ("colour", 3, f"unknown option 'colour': expected one of {NAMES}"),
    ("sample", 1.5, "sample must be a number between 0 and 1, got 1.5"),
    ("sample", -0.1, "sample must be a number between 0 and 1, got -0.1"),
    ("sample", float("nan"), "sample must be a number between 0 and 1, got nan"),
    ("sample", True, "sample must be a number between 0 and 1, got True"),
    ("sample", "1", "sample must be a number between 0 and 1, got '1'"),
    ("loops", "some", "loops must be one of 'bucketed', 'exact', got 'some'"),
    ("loops", None, "loops must be one of 'bucketed', 'exact', got None"),
    ("max_memory", "999KB", f"{A_SIZE}, got '999KB'"),
    ("max_memory", 999_999, f"{A_SIZE}, got 999999"),
    ("max_memory", "64 bananas", f"{A_SIZE}, got '64 bananas'"),
    ("max_memory", 64e6, f"{A_SIZE}, got 64000000.0"),
    ("max_memory", True, f"{A_SIZE}, got True"),
    ("max_memory", "9" * 400, f"{A_SIZE}, got '{'9' * 400}'"),
    ("ring_events", 3, "ring_events must be a whole number of at least 4, got 3"),
    ("ring_events", 5.0, "ring_events must be a whole number of at least 4, got 5.0"),
    ("max_trace_executions", 0, "max_trace_executions must be a whole number of at least 1, got 0"),
    ("max_operations", -1, "max_operations must be a whole number of at least 1, got -1"),
    ("max_contexts", 3, "max_contexts must be a whole number of at least 4, got 3"),
    ("max_shapes", False, "max_shapes must be a whole number of at least 1, got False"),
    ("max_labels", -1, "max_labels must be a whole number of at least 0, got -1"),
    ("max_labels", None, "max_labels must be a whole number of at least 0, got None"),
    ("when_full", "wait", "when_full must be one of 'fold', 'drop', got 'wait'"),
    ("trace_linger", -1, f"trace_linger {SECONDS}, got -1"),
    ("trace_linger", float("inf"), f"trace_linger {SECONDS}, got inf"),
    ("trace_linger", "10 s", f"trace_linger {SECONDS}, got '10 s'"),
    ("fold_interval", 0, "fold_interval must be more than 0 seconds, got 0"),
    ("fold_interval", -1, f"fold_interval {SECONDS}, got -1"),
    ("clock", "sundial", f"{A_CLOCK}, got 'sundial'"),
    ("clock", 7, f"{A_CLOCK}, got 7"),
    ("propagate_threads", 1, "propagate_threads must be True or False, got 1"),
    ("report_at_exit", 1, "report_at_exit must be True, False or a path, got 1"),
    ("report_at_exit", "", "report_at_exit must be True, False or a path, got ''"),
    ("profile", "fast", "profile must be 'production' or None, got 'fast'"),
]


@pytest.mark.parametrize("take", [tracectx.configure, tracectx.recording], ids=["configure", "recording"])
@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_an_option_that_cannot_be_used_is_refused(take: Callable[..., object], name: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        take(**{name: value})
    assert str(caught.value) == message


def test_of_several_options_none_is_taken_when_one_is_refused() -> None:
    with tracectx.recording() as recording:
        with pytest.raises(ConfigError):
            tracectx.configure(sample=0.5, loops="some")
        assert recording.options.sample == 1.0


def test_the_time_stamp_counter_is_refused_by_a_core_that_cannot_read_it() -> None:
    message = (
        "clock='tsc' needs the native core, which is not in use: take clock='auto' (reads the time-stamp counter where a core"
        " can, else the monotonic clock)"
    )
    if tracectx.stats().core != "python":
        pytest.skip("this core reads it")
    for take in (tracectx.configure, tracectx.recording):
        with pytest.raises(ConfigError) as caught:
            take(clock="tsc")
        assert str(caught.value) == message


@pytest.mark.parametrize("change", [{"clock": "thread_cpu"}, {"loops": "exact"}, {"max_memory": "32MB"}, {"max_shapes": 20}])
def test_what_is_fixed_cannot_change_once_something_is_recorded(change: dict[str, Any]) -> None:  # Any: options
    with tracectx.recording():
        with tracectx.span("something"):
            pass
        with pytest.raises(ConfigError) as caught:
            tracectx.configure(**change)
        assert str(caught.value) == (
            f"{next(iter(change))} cannot change once something is recorded: configure before the first probed call, or call"
            " tracectx.reset() first"
        )


def test_all_that_is_fixed_is_named() -> None:
    with tracectx.recording():
        with tracectx.span("something"):
            pass
        with pytest.raises(ConfigError, match=r"^clock, loops cannot change once something is recorded"):
            tracectx.configure(loops="exact", clock="thread_cpu", sample=0.5)


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("TRACECTX_SAMPLE", "half", "TRACECTX_SAMPLE must be a number, got 'half'"),
        (
            "TRACECTX_SAMPLE",
            "2",
            "sample must be a number between 0 and 1, got 2.0 (from the environment variable TRACECTX_SAMPLE)",
        ),
        ("TRACECTX_MAX_SHAPES", "1e3", "TRACECTX_MAX_SHAPES must be a whole number, got '1e3'"),
        ("TRACECTX_RING_EVENTS", "", "TRACECTX_RING_EVENTS must be a whole number, got ''"),
        (
            "TRACECTX_RING_EVENTS",
            "1",
            "ring_events must be a whole number of at least 4, got 1 (from the environment variable TRACECTX_RING_EVENTS)",
        ),
        ("TRACECTX_MAX_MEMORY", "much", f"{A_SIZE}, got 'much' (from the environment variable TRACECTX_MAX_MEMORY)"),
        ("TRACECTX_PROPAGATE_THREADS", "perhaps", "TRACECTX_PROPAGATE_THREADS must be 1 or 0, got 'perhaps'"),
        (
            "TRACECTX_LOOPS",
            "none",
            "loops must be one of 'bucketed', 'exact', got 'none' (from the environment variable TRACECTX_LOOPS)",
        ),
        ("TRACECTX_CLOCK", "sundial", f"{A_CLOCK}, got 'sundial' (from the environment variable TRACECTX_CLOCK)"),
        (
            "TRACECTX_TRACE_LINGER",
            "-1",
            f"trace_linger {SECONDS}, got -1.0 (from the environment variable TRACECTX_TRACE_LINGER)",
        ),
    ],
)
def test_an_environment_variable_that_cannot_be_used_is_named(variable: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        options_from_environment({variable: text})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        ({}, Options()),
        ({"TRACECTX_SAMPLE": "0.25", "UNRELATED": "1"}, Options(sample=0.25)),
        ({"TRACECTX_MAX_MEMORY": "2 MiB"}, Options(max_memory=2 * 2**20)),
        ({"TRACECTX_MAX_MEMORY": "1.5gb"}, Options(max_memory=1_500_000_000)),
        ({"TRACECTX_MAX_MEMORY": "5000000"}, Options(max_memory=5_000_000)),
        ({"TRACECTX_PROPAGATE_THREADS": "Yes", "TRACECTX_MAX_LABELS": "0"}, Options(propagate_threads=True, max_labels=0)),
        ({"TRACECTX_REPORT_AT_EXIT": "1"}, Options(report_at_exit=True)),
        ({"TRACECTX_REPORT_AT_EXIT": "off"}, Options(report_at_exit=False)),
        ({"TRACECTX_REPORT_AT_EXIT": "out.txt"}, Options(report_at_exit="out.txt")),
        ({"TRACECTX_PROFILE": "production"}, Options(profile="production", when_full="drop")),
        ({"TRACECTX_PROFILE": "production", "TRACECTX_WHEN_FULL": "fold"}, Options(profile="production", when_full="fold")),
    ],
)
def test_options_are_read_from_the_environment(environment: dict[str, str], options: Options) -> None:
    assert options_from_environment(environment) == options


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("TRACECTX_SAMPLE", "half", "TRACECTX_SAMPLE must be a number, got 'half'"),
        ("TRACECTX_CORE", "fast", "TRACECTX_CORE must be 'auto', 'python' or 'native', got 'fast'"),
    ],
)
def test_a_program_with_a_wrong_variable_is_told_when_it_imports(
    variable: str, text: str, message: str, tmp_path: Path
) -> None:
    done = run("import tracectx", cwd=tmp_path, **{variable: text})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"tracectx.errors.ConfigError: {message}"


def test_a_path_may_be_a_path_object() -> None:
    with tracectx.recording(report_at_exit=Path("a") / "b.json") as recording:
        assert recording.options.report_at_exit == str(Path("a") / "b.json")
