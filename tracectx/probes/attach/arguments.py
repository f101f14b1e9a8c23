"""The arguments of a call, in one form for both attachments, for label functions.

Costs something, so it is used only where a label was given.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FrameType

from tracectx.probes.attach.site import Arguments


def arguments_of(frame: FrameType) -> Arguments:
    """The arguments of the function that is about to run its first instruction in `frame`."""
    code, values = frame.f_code, frame.f_locals
    end = code.co_argcount + code.co_kwonlyargcount
    positional = tuple(values[name] for name in code.co_varnames[: code.co_argcount])
    keywords = {name: values[name] for name in code.co_varnames[code.co_argcount : end]}
    if code.co_flags & inspect.CO_VARARGS:
        positional += values[code.co_varnames[end]]
        end += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords.update(values[code.co_varnames[end]])
    if sys.version_info < (3, 13):
        values.clear()  # here it is a copy that the frame would keep, and the arguments with it
    return positional, keywords


def binder(target: Callable[..., object]) -> Callable[[tuple[object, ...], Mapping[str, object]], Arguments | None]:
    """Gives a function that turns what a call was given into `Arguments`; None where the call does not fit `target`."""
    try:
        signature = inspect.signature(target)
    except (ValueError, TypeError):  # some builtins have none
        return lambda args, kwargs: (args, kwargs)

    def bind(args: tuple[object, ...], kwargs: Mapping[str, object]) -> Arguments | None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    return bind
