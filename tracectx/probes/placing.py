"""Putting a probe on one thing and taking it off again, whatever the thing is.

`put` and `take` give what belongs in the place of what they got, which is the same object wherever that is possible.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any

from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.attach.site import Site
from tracectx.probes.labels import LabelFunction, Labeller
from tracectx.probes.naming import operation_name
from tracectx.probes.runtime import attachments, recorder
from tracectx.probes.targets import is_builtin, members

_lock = threading.RLock()


@dataclass(frozen=True, slots=True)
class Wish:
    """What a probe was asked to be. For a class, `name` is the prefix of its operations."""

    name: str | None = None
    root: bool = False
    label: LabelFunction | None = None


def put(target: Any, wish: Wish) -> Any:  # Any: everything that can be probed
    """`target` with a probe. One that has a probe keeps it."""
    with _lock:
        if isinstance(target, type):
            return _put_on_class(target, wish)
        if isinstance(target, (staticmethod, classmethod, property, functools.cached_property)):
            return _replace_inner(target, put(inner(target), wish))
        if not callable(target):
            raise ProbeError(
                f"cannot probe {target!r}: expected a function, a class, another callable, a static or class method, "
                f"a property or a cached property"
            )
        return _put_on_callable(target, wish)


def take(target: Any) -> Any:  # Any: as in put
    """`target` without its probe; as it is where it has none."""
    with _lock:
        if isinstance(target, type):
            for attribute, value in members(target):
                _replace_attribute(target, attribute, value, take(value))
            return target
        if isinstance(target, (staticmethod, classmethod, property, functools.cached_property)):
            return _replace_inner(target, take(inner(target)))
        if isinstance(target, MethodType) and attachments().site_of(target) is None:
            taken = take(target.__func__)
            return target if taken is target.__func__ else MethodType(taken, target.__self__)
        return target if attachments().site_of(target) is None else attachments().detach(target)


def inner(target: Any) -> Any:  # Any: as in put
    """The callable that a static method, class method or property holds; other things are their own."""
    if isinstance(target, (staticmethod, classmethod)):
        return target.__func__
    if isinstance(target, property):
        return target.fget
    return target.func if isinstance(target, functools.cached_property) else target


def name_of_probe(target: object) -> str | None:
    """The name of the operation whose probe sits on `target`."""
    site = _site_of(inner(target))
    return site.name if site is not None else None


def _site_of(target: object) -> Site | None:
    site = attachments().site_of(target)
    if site is None and isinstance(target, MethodType):
        return attachments().site_of(target.__func__)
    return site


def _put_on_callable(target: Callable[..., object], wish: Wish) -> Callable[..., object]:
    existing = _site_of(target)
    if existing is not None:
        if wish.name is not None and wish.name != existing.name:
            raise ConfigError(
                f"{existing.name} has a probe of that name; it cannot get a second one named {wish.name!r}: "
                f"give the name once, or call tracectx.unprobe first"
            )
        return target
    own_name, component = operation_name(target)
    name = wish.name or own_name
    operation = recorder().operation(name, component)
    label = Labeller(recorder(), name, component, wish.label) if wish.label is not None else None
    return attachments().attach(target, Site(name, operation, wish.root, label))


def _put_on_class(target: type, wish: Wish) -> type:
    if is_builtin(target):
        raise ProbeError(f"cannot probe the class {target.__qualname__}: it is built in, so its methods cannot be replaced")
    if wish.label is not None:
        raise ConfigError(f"a label needs one signature, and the class {target.__qualname__} has many: label its methods")
    for attribute, value in members(target):
        if name_of_probe(value) is None:
            name = f"{wish.name}.{attribute}" if wish.name is not None else None
            _replace_attribute(target, attribute, value, put(value, Wish(name, wish.root)))
    return target


def _replace_attribute(owner: type, attribute: str, before: object, after: object) -> None:
    if after is not before:
        setattr(owner, attribute, after)


def _replace_inner(target: Any, callable_: Any) -> Any:  # Any: as in put
    if callable_ is inner(target):
        return target
    if isinstance(target, property):
        return target.getter(callable_)
    if isinstance(target, functools.cached_property):
        target.func = callable_  # the same object: it has learned its name from the class
        return target
    return type(target)(callable_)
