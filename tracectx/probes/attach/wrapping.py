"""Attaching by a wrapper: one function for each kind of callable, which looks like what it wraps.

Limits: a wrapper is another object with another `__code__`; a coroutine function, generator function or async generator
function complains about wrong arguments when it first runs instead of when it is called. One frame is added to a
traceback, and it carries `__tracebackhide__`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from types import FunctionType
from typing import Any, Protocol, TypeAlias

from tracectx.core.interface import ASYNC_GENERATOR, COROUTINE, GENERATOR, RETURNED, Recorder, Resumable
from tracectx.probes.attach.arguments import binder
from tracectx.probes.attach.site import SYNCHRONOUS, Label, Site, ending_of, kind_of

Call: TypeAlias = "Callable[..., Any]"  # Any: whatever the program's callables take and give


class _Steps(Protocol):
    """What a coroutine, a generator and one step of an async generator have in common."""

    def send(self, value: object, /) -> object: ...

    def throw(self, error: BaseException, /) -> object: ...


class _NotRecorded:
    """Stands in where the recorder does not want the execution."""

    def resume(self) -> None:
        return None

    def suspend(self, yielded: bool) -> None:
        return None

    def finish(self, ending: int) -> None:
        return None

    def vanish(self, ending: int) -> None:
        return None


_NOT_RECORDED = _NotRecorded()


def wrapped(function: FunctionType, site: Site, recorder: Recorder) -> FunctionType:
    """A function that records each call of `function` and answers introspection as it does."""
    wrapper = caller(function, site, recorder)
    functools.update_wrapper(wrapper, function)
    result: FunctionType = wrapper
    wrapper.__defaults__, wrapper.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    with contextlib.suppress(ValueError, TypeError):  # a broken `__signature__` of the program's own stays its own
        # For `inspect.getfullargspec` and `getcallargs`, which do not follow `__wrapped__`.
        wrapper.__signature__ = inspect.signature(function)
    return result


def caller(target: Call, site: Site, recorder: Recorder) -> Any:  # Any: a function, whose attributes are set
    """A bare function, of the same kind as `target`, that calls it and records."""
    kind = kind_of(target)
    if kind == SYNCHRONOUS:
        return _synchronous(target, site, recorder)
    start = _starter(target, site, recorder, kind)
    if kind == COROUTINE and _is_generator_based(target):
        return types.coroutine(_generator(target, start, COROUTINE))
    return _RESUMABLE[kind](target, start)


def hide(error: BaseException) -> None:
    """Takes this module's frames out of the traceback below the frame that catches `error`."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None and entry.tb_next.tb_frame.f_globals is globals():
        entry.tb_next = entry.tb_next.tb_next


def _is_generator_based(target: Call) -> bool:
    code = getattr(target, "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _operation_of(target: Call, site: Site, recorder: Recorder) -> Label:
    """Gives the operation of a call from its arguments."""
    label = site.label
    if label is None:
        return lambda args, kwargs: site.operation
    bind = binder(target)

    def operation(args: tuple[object, ...], kwargs: Mapping[str, object]) -> int:
        bound = bind(args, kwargs) if recorder.enabled else None
        return site.operation if bound is None else label(*bound)

    return operation


def _synchronous(target: Call, site: Site, recorder: Recorder) -> Call:
    enter, leave, root, plain = recorder.enter, recorder.leave, site.root, site.operation
    operation = None if site.label is None else _operation_of(target, site, recorder)

    def call(*args: Any, **kwargs: Any) -> Any:  # Any: as the wrapped callable
        __tracebackhide__ = True
        if not site.active:
            return target(*args, **kwargs)
        token = enter(plain if operation is None else operation(args, kwargs), root)
        if token is None:
            return target(*args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except BaseException as error:
            leave(token, ending_of(error, resumable=False))
            raise
        leave(token, RETURNED)
        return result

    return call


def _starter(target: Call, site: Site, recorder: Recorder, kind: int) -> Callable[..., Resumable]:
    operation = _operation_of(target, site, recorder)

    def start(args: tuple[object, ...], kwargs: Mapping[str, object]) -> Resumable:
        if not site.active:
            return _NOT_RECORDED
        return recorder.resumable(operation(args, kwargs), kind, site.root) or _NOT_RECORDED

    return start


def _coroutine(target: Call, start: Callable[..., Resumable]) -> Call:
    async def call(*args: Any, **kwargs: Any) -> Any:  # Any: as the wrapped callable
        __tracebackhide__ = True
        try:
            return await _driven(target(*args, **kwargs), start(args, kwargs), COROUTINE)
        except BaseException as error:
            hide(error)
            raise

    return call


def _generator(target: Call, start: Callable[..., Resumable], kind: int = GENERATOR) -> Call:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:  # Any: as the wrapped callable
        __tracebackhide__ = True
        try:
            return (yield from _driven(target(*args, **kwargs), start(args, kwargs), kind))
        except BaseException as error:
            hide(error)
            raise

    return call


def _async_generator(target: Call, start: Callable[..., Resumable]) -> Call:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:  # Any: as the wrapped callable
        __tracebackhide__ = True
        inner = target(*args, **kwargs)
        running = start(args, kwargs)
        step = _first_step(inner)
        while True:
            try:
                item = await _driven(step, running, ASYNC_GENERATOR)
            except StopAsyncIteration:
                return
            except BaseException as error:
                hide(error)
                raise
            value, thrown = None, None
            try:
                value = yield item
            except BaseException as error:
                thrown = _as_thrown(error)
            step = inner.asend(value) if thrown is None else inner.athrow(thrown)

    return call


_RESUMABLE: dict[int, Callable[[Call, Callable[..., Resumable]], Call]] = {
    COROUTINE: _coroutine,
    GENERATOR: _generator,
    ASYNC_GENERATOR: _async_generator,
}


def _first_step(inner: AsyncGenerator[Any, Any]) -> Coroutine[Any, Any, Any]:
    """Starts an async generator that no event loop hears of: the wrapper around it is the one that the loop closes."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return inner.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)


@types.coroutine
def _driven(inner: _Steps, running: Resumable, kind: int) -> Generator[Any, Any, Any]:
    """Runs `inner` to its end (an async generator: to its next item), telling each segment."""
    value: object = None
    thrown: BaseException | None = None
    while True:
        running.resume()
        try:
            item = inner.send(value) if thrown is None else inner.throw(thrown)
        except StopIteration as stop:
            if kind == ASYNC_GENERATOR:
                running.suspend(True)
            else:
                running.finish(RETURNED)
            return stop.value
        except BaseException as error:
            ended = isinstance(error, StopAsyncIteration) and kind == ASYNC_GENERATOR
            running.finish(RETURNED if ended else ending_of(error, resumable=True))
            raise
        running.suspend(kind == GENERATOR)
        value, thrown = None, None
        try:
            value = yield item
        except BaseException as error:
            # Thrown in only after this block: inside it the program would see the error as being handled.
            thrown = _as_thrown(error)


def _as_thrown(error: BaseException) -> BaseException:
    """`error` with the traceback that it had when it was thrown in here."""
    return error.with_traceback(error.__traceback__.tb_next if error.__traceback__ is not None else None)
