"""What an attachment needs to know of the place where a probe sits, and how an execution ended.

Used on every thread that runs probed code.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import TypeAlias

from tracectx.core.interface import ASYNC_GENERATOR, CANCELLED, CLOSED, COROUTINE, GENERATOR, RAISED

Arguments: TypeAlias = "tuple[tuple[object, ...], Mapping[str, object]]"
"""Positional and keyword arguments of a call, as `inspect.BoundArguments` has them after `apply_defaults`."""

Label: TypeAlias = "Callable[[tuple[object, ...], Mapping[str, object]], int]"
"""Gives the operation of a call from its arguments. Never raises an `Exception`."""

SYNCHRONOUS = -1
"""The kind of what is not resumable; the others are those of `tracectx.core.interface`."""

_CANCELLATIONS = (("asyncio.exceptions", "CancelledError"), ("trio", "Cancelled"))


class Site:
    """A monitoring point. `active` turns False when the probe is removed; references to a wrapper may outlive that."""

    __slots__ = ("__weakref__", "active", "label", "name", "operation", "root")

    def __init__(self, name: str, operation: int, root: bool = False, label: Label | None = None) -> None:
        self.name = name
        self.operation = operation
        self.root = root
        self.label = label
        self.active = True


def kind_of(target: object) -> int:
    """How calls of `target` run: `SYNCHRONOUS`, `COROUTINE`, `GENERATOR` or `ASYNC_GENERATOR`."""
    while isinstance(target, functools.partial):
        target = target.func
    if not isinstance(target, (FunctionType, MethodType)):
        target = type(target).__call__ if callable(target) else None
    if isinstance(target, MethodType):
        target = target.__func__
    if not isinstance(target, FunctionType):
        return SYNCHRONOUS
    flags = target.__code__.co_flags
    if flags & (inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE):
        return COROUTINE
    if flags & inspect.CO_ASYNC_GENERATOR:
        return ASYNC_GENERATOR
    return GENERATOR if flags & inspect.CO_GENERATOR else SYNCHRONOUS


def ending_of(error: BaseException, resumable: bool) -> int:
    """The kind of ending of an execution that `error` left."""
    if isinstance(error, Exception):
        return RAISED
    if isinstance(error, GeneratorExit):
        return CLOSED if resumable else RAISED
    for module, name in _CANCELLATIONS:
        cancellation = getattr(sys.modules.get(module), name, None)
        if cancellation is not None and isinstance(error, cancellation):
            return CANCELLED
    return RAISED
