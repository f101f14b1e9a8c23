"""Carrying the current position to where code runs next: tasks, threads and executors; and leaving it behind.

`install` puts the hooks: tasks and `asyncio.to_thread` always, threads and thread pools once `propagate_threads` is on.
Nothing is imported for it: modules are patched when the program imports them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from tracectx.core.interface import Position
from tracectx.errors import ProbeError
from tracectx.probes.hooks import ASYNC_HOOKS, THREAD_HOOKS, carried
from tracectx.probes.runtime import SWITCHED_OFF, recorder

P = ParamSpec("P")
R = TypeVar("R")


def propagate(func: Callable[P, R]) -> Callable[P, R]:
    """`func`, to be called in a thread or executor: what it runs hangs from where `propagate` was called."""
    if not callable(func):
        raise ProbeError(f"propagate needs a callable, got {func!r}")
    if inspect.iscoroutinefunction(func) or inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
        raise ProbeError(f"propagate needs a synchronous callable, got {func!r}: tasks take their position along by themselves")
    if SWITCHED_OFF:
        return func
    position: Position | None = recorder().position()
    wrapper: Callable[P, R] = functools.wraps(func)(carried(func, position))
    return wrapper


class detached:
    """`with detached():` what starts inside is a trace of its own."""

    __slots__ = ("_detached",)

    def __init__(self) -> None:
        self._detached: list[object] = []

    def __enter__(self) -> None:
        self._detached.append(None if SWITCHED_OFF else recorder().detach())

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        state = self._detached.pop()
        if not SWITCHED_OFF:
            recorder().reattach(state)


def install() -> None:
    """Makes tasks hang from where they are created. Again and again is as once."""
    if not SWITCHED_OFF:
        ASYNC_HOOKS.install()


def uninstall() -> None:
    """Takes every hook out, those of `propagate_threads` too."""
    ASYNC_HOOKS.uninstall()
    THREAD_HOOKS.uninstall()


def propagate_threads(on: bool) -> None:
    """Whether every `threading.Thread` and thread pool takes the position of its starter or submitter along."""
    if on and not SWITCHED_OFF:
        THREAD_HOOKS.install()
    else:
        THREAD_HOOKS.uninstall()
