"""Callbacks of `sys.monitoring` during which monitoring goes on.

While a callback runs, its thread gets no events. For a callback in Python this would lose what the garbage collector or
a signal handler happens to run meanwhile: they run between any two instructions, its very first included. So the way
into Python has to switch events on again before the first instruction, and hence has to be made of C alone.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

IGNORE_ARGUMENTS: Callable[..., object] = "".format
"""Takes whatever a callback is given, and does nothing with it."""


def unmuted(handler: Callable[[], Callable[..., object]]) -> Callable[..., object]:
    """A callback that calls `handler()` with events switched on; its caller's frame is the monitored one.

    An object is called by looking `__call__` up. As a property, this calls `sys.call_tracing(handler, self)`, where
    `self` is a tuple, for the arguments: an empty one. What the handler gives is then called with the arguments of the
    callback: it is to give `IGNORE_ARGUMENTS`.
    """
    callback = type("callback", (tuple,), {"__call__": property(functools.partial(sys.call_tracing, handler))})
    made: Callable[..., object] = callback()
    return made
