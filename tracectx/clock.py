"""The clocks a recording can read. Monotonic only: a wall clock that is set back would lie about durations.

A clock is read on the thread that is probed; nothing here keeps state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tracectx.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Clock:
    """`read` gives integer nanoseconds from an arbitrary start; `tick_ns` is the step in which they advance."""

    name: str
    read: Callable[[], int]
    tick_ns: int


def clock_of(option: str | Callable[[], int]) -> Clock:
    """The clock that the option `clock` names. `ConfigError` where this core cannot read it."""
    if callable(option):
        return Clock("custom", option, 1)
    if option == "thread_cpu":
        return Clock("thread_cpu", time.thread_time_ns, _tick_ns("thread_time"))
    if option == "tsc":
        raise ConfigError(
            "clock='tsc' needs the native core, which is not in use: take clock='auto' (reads the time-stamp counter"
            " where a core can, else the monotonic clock)"
        )
    return Clock("monotonic", time.perf_counter_ns, _tick_ns("perf_counter"))


def _tick_ns(name: Literal["thread_time", "perf_counter"]) -> int:
    return max(1, round(time.get_clock_info(name).resolution * 1e9))
