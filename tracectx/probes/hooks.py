"""The patches of asyncio, uvloop, threading and concurrent.futures that carry positions.

A hook waits for its module to be imported by the program. A process pool is never touched: its work runs in another
process.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tracectx.core.interface import Position
from tracectx.probes.runtime import recorder

_Call = Callable[..., Any]  # Any: what the patched functions take and give
_submitting = threading.local()
_ABSENT = object()


class Hooks:
    """Patches by module: `install` applies them, now or on import, `uninstall` takes them back."""

    def __init__(self, patches: dict[str, tuple[tuple[str, Callable[[_Call], _Call]], ...]]) -> None:
        self._patches = patches
        self._waiting: set[str] = set()  # modules whose import is watched, which cannot be undone
        self._applied: list[tuple[object, str, object, object]] = []
        self._installed = False
        self._lock = threading.RLock()

    def install(self) -> None:
        with self._lock:
            if self._installed:
                return
            self._installed = True
            import wrapt  # it loads asyncio, which a program without it should not

            for name in self._patches:
                if name in self._waiting:
                    self._imported(sys.modules.get(name))
                else:
                    self._waiting.add(name)
                    wrapt.register_post_import_hook(self._imported, name)

    def uninstall(self) -> None:
        with self._lock:
            self._installed = False
            while self._applied:
                owner, attribute, before, after = self._applied.pop()
                if vars(owner).get(attribute) is not after:
                    continue  # somebody has patched it since; ours passes on what it gets
                if before is _ABSENT:
                    delattr(owner, attribute)
                else:
                    setattr(owner, attribute, before)
                    _replace_in_package(owner, attribute, after, before)

    def _imported(self, module: ModuleType | None) -> None:
        with self._lock:
            if module is None or not self._installed:
                return
            for path, make in self._patches[module.__name__]:
                owner: Any = module  # Any: a module or a class in it
                *parents, attribute = path.split(".")
                for parent in parents:
                    owner = getattr(owner, parent)
                self._replace(owner, attribute, make)

    def _replace(self, owner: Any, attribute: str, make: Callable[[_Call], _Call]) -> None:  # Any: as above
        before = vars(owner).get(attribute, _ABSENT)
        original = getattr(owner, attribute)
        after = functools.wraps(original)(make(original))
        setattr(owner, attribute, after)
        self._applied.append((owner, attribute, before, after))
        _replace_in_package(owner, attribute, original, after)


def _replace_in_package(owner: object, attribute: str, before: object, after: object) -> None:
    """What a module of a package defines is often a name of the package too: `asyncio.to_thread`."""
    if isinstance(owner, ModuleType):
        package = sys.modules.get(owner.__name__.rpartition(".")[0])
        if package is not None and getattr(package, attribute, None) is before:
            setattr(package, attribute, after)


def carried(func: _Call, position: Position | None) -> _Call:
    """`func` as a function that runs with what is current being `position`."""

    def call(*args: Any, **kwargs: Any) -> Any:  # Any: as func
        __tracebackhide__ = True
        adopted = recorder().adopt(position)
        try:
            return func(*args, **kwargs)
        finally:
            recorder().restore(adopted)

    return call


def _create_task(original: _Call) -> _Call:
    def create_task(*args: Any, **kwargs: Any) -> Any:  # Any: as original
        __tracebackhide__ = True
        position = recorder().position()
        if position is None:
            return original(*args, **kwargs)
        recorder().task_starting(position)
        try:
            task = original(*args, **kwargs)
        except BaseException:
            recorder().task_starting(None)
            raise
        recorder().task_created(task, position)
        return task

    return create_task


def _to_thread(original: _Call) -> _Call:
    async def to_thread(func: _Call, /, *args: Any, **kwargs: Any) -> Any:  # Any: as original
        __tracebackhide__ = True
        position = recorder().position()
        return await original(func if position is None else carried(func, position), *args, **kwargs)

    return to_thread


def _start(original: _Call) -> _Call:
    def start(self: threading.Thread) -> None:
        position = None if getattr(_submitting, "now", False) else recorder().position()
        if position is not None:
            _carry_run(self, position)
        original(self)

    return start


def _carry_run(thread: threading.Thread, position: Position) -> None:
    """Lets the thread run with `position`, which it then forgets, so that the trace does not stay open for it."""
    call: _Call | None = carried(thread.run, position)

    def run() -> None:
        nonlocal call
        once, call = call, None
        del thread.run  # the one set below
        if once is not None:
            once()

    thread.run = run  # type: ignore[method-assign]  # shadows that of the class for this thread


def _submit(original: _Call) -> _Call:
    def submit(self: object, fn: _Call, /, *args: Any, **kwargs: Any) -> Any:  # Any: as original
        position = recorder().position()
        # The pool may start a worker for this. It lives on, so it must not take the position of the first submitter.
        outer, _submitting.now = getattr(_submitting, "now", False), True
        try:
            return original(self, fn if position is None else carried(fn, position), *args, **kwargs)
        finally:
            _submitting.now = outer

    return submit


ASYNC_HOOKS = Hooks(
    {
        "asyncio.base_events": (("BaseEventLoop.create_task", _create_task),),
        "asyncio.threads": (("to_thread", _to_thread),),
        "uvloop": (("Loop.create_task", _create_task),),
    }
)
THREAD_HOOKS = Hooks(
    {
        "threading": (("Thread.start", _start),),
        "concurrent.futures.thread": (("ThreadPoolExecutor.submit", _submit),),
    }
)
