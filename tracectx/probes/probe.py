"""The decorator `probe`, and `unprobe`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, overload

from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.labels import LabelFunction
from tracectx.probes.placing import Wish, put, take
from tracectx.probes.runtime import SWITCHED_OFF

F = TypeVar("F")
_MISSING = object()


@overload
def probe(target: F, /, *, name: str | None = None, root: bool = False, label: LabelFunction | None = None) -> F: ...


@overload
def probe(*, name: str | None = None, root: bool = False, label: LabelFunction | None = None) -> Callable[[F], F]: ...


def probe(
    target: object = _MISSING, /, *, name: str | None = None, root: bool = False, label: LabelFunction | None = None
) -> object:
    """Records each call of a function, method, coroutine, generator, class, property or other callable.

    Gives the same object where possible (always for a class, whose methods are probed in place), else a wrapper.
    Put twice, it counts once. `name` replaces `module.qualname`; for a class it is the prefix of its methods' names.
    With `root`, each call begins a trace of its own. `label(*args, **kwargs)` gets the arguments as the function does,
    defaults included; the str or int that it gives makes an operation of its own, `shop.search[short]`.
    """
    wish = _checked(name, root, label)
    if target is _MISSING:
        return lambda wrapped: wrapped if SWITCHED_OFF else put(wrapped, wish)
    return target if SWITCHED_OFF else put(target, wish)


def unprobe(target: F) -> F:
    """Undoes `probe`: gives what had been there. Other references to a wrapper do not record any more either."""
    unprobed: F = target if SWITCHED_OFF else take(target)
    return unprobed


def checked_name(name: object, what: str) -> str:
    """The name of an operation; raises for one that cannot be used."""
    if not isinstance(name, str):
        raise ProbeError(f"the name of {what} must be a str, got {name!r}")
    if not name.strip():
        raise ConfigError(f"the name of {what} must not be empty, got {name!r}")
    return name


def checked_root(root: object) -> bool:
    if not isinstance(root, bool):
        raise ProbeError(f"root must be True or False, got {root!r}")
    return root


def _checked(name: object, root: object, label: LabelFunction | None) -> Wish:
    if label is not None and not callable(label):
        raise ProbeError(f"label must be a function of the call's arguments, got {label!r}")
    return Wish(checked_name(name, "a probe") if name is not None else None, checked_root(root), label)
