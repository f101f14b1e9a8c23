"""Attaching by `sys.monitoring` (Python 3.12 and newer): the function stays the same object.

A private copy of its code carries local events. The callbacks run on the thread that is probed. Where an exception is
about to leave a frame, that thread gets no events for a moment: what the garbage collector or a signal handler runs
just then is not seen.

The copy keeps its events when a probe is removed, since taking them from a function that is on the stack would lose its
exit; it dies when the last frame that runs it does.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING

from tracectx.core.interface import ASYNC_GENERATOR, CLOSED, GENERATOR, RETURNED, Recorder, Resumable, Token
from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.attach.arguments import arguments_of
from tracectx.probes.attach.generators import FIND_BY_FRAME, is_finished, yields_of
from tracectx.probes.attach.identity import WeakIdentityMap
from tracectx.probes.attach.site import SYNCHRONOUS, Site, ending_of, kind_of
from tracectx.probes.attach.unmuted import IGNORE_ARGUMENTS, unmuted

if sys.version_info >= (3, 12):
    from sys import monitoring
elif TYPE_CHECKING:
    from typing import Any

    monitoring: Any  # Any: does not exist here; nothing below runs

TOOL_IDS = (4, 3)
"""Those without a predefined use, in the order in which they are tried."""

TOOL_NAME = "tracectx"


class Probed:
    """A private copy of the code of a function, and the site that its events belong to."""

    __slots__ = ("kind", "original", "site", "yields")

    def __init__(self, site: Site, kind: int, original: CodeType) -> None:
        self.site = site
        self.kind = kind
        self.original = original
        self.yields = yields_of(original, items=kind in (GENERATOR, ASYNC_GENERATOR))


class Running(weakref.ref[object]):
    """The open execution of a coroutine or generator: a weak reference to it, since some ends cause no event."""

    __slots__ = ("ends_by_hook", "key", "resumable", "silent")

    key: int
    resumable: Resumable
    silent: bool  # it is suspended where closing causes no event
    ends_by_hook: bool  # an event loop has promised to close it when it is collected


class Monitoring:
    """One user of a tool id, for one recorder. The tool id is held only while something is probed."""

    name = "monitoring"

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._probed: WeakIdentityMap[Probed] = WeakIdentityMap(self._code_died)
        self._by_code = self._probed.by_id
        self._open: dict[int, Token | Running] = {}  # by the identity of the frame
        self._active = 0
        self._tool: int | None = None
        self._callbacks = self._events()

    @property
    def tool_id(self) -> int | None:
        return self._tool

    def attach(self, function: FunctionType, site: Site) -> FunctionType:
        """Probes `function` in place. `ConfigError` where no tool id is free."""
        tool = self._tool if self._tool is not None else self._claim()
        probed = Probed(site, kind_of(function), function.__code__)
        copy = function.__code__.replace()
        self._probed.add(copy, probed)
        self._active += 1
        events = monitoring.events
        wanted = events.PY_START | events.PY_RETURN
        if probed.kind != SYNCHRONOUS:
            wanted |= events.PY_RESUME | events.PY_YIELD
        monitoring.set_local_events(tool, copy, wanted)
        function.__code__ = copy
        return function

    def site_of(self, function: FunctionType) -> Site | None:
        probed = self._by_code.get(id(function.__code__))
        return probed.site if probed is not None and probed.site.active else None

    def detach(self, function: FunctionType) -> FunctionType:
        probed = self._by_code[id(function.__code__)]
        probed.site.active = False
        function.__code__ = probed.original
        self._active -= 1
        self._release_when_idle()
        return function

    def settle(self) -> None:
        """Ends the executions of generators that were closed without an event while something still refers to them."""
        for running in list(self._open.values()):
            if isinstance(running, Running) and running.silent and is_finished(running()):
                running.resumable.vanish(CLOSED)

    def _claim(self) -> int:
        for tool in TOOL_IDS:
            if monitoring.get_tool(tool) is None:
                break
        else:
            holders = ", ".join(f"{tool} by {monitoring.get_tool(tool)!r}" for tool in TOOL_IDS)
            raise ConfigError(f"sys.monitoring has no free tool id: taken are {holders}")
        monitoring.use_tool_id(tool, TOOL_NAME)
        self._tool = tool
        for event, callback in self._callbacks.items():
            monitoring.register_callback(tool, event, callback)
        monitoring.set_events(tool, monitoring.events.PY_UNWIND | monitoring.events.PY_THROW)
        return tool

    def _release_when_idle(self) -> None:
        """Gives the tool id back once nothing is probed and every probed execution has ended."""
        if self._active or self._open or self._tool is None:
            return
        tool, self._tool = self._tool, None
        for code in self._probed.owners():
            if isinstance(code, CodeType):
                monitoring.set_local_events(tool, code, 0)
        for event in self._callbacks:
            monitoring.register_callback(tool, event, None)
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)

    def _code_died(self, probed: Probed) -> None:
        """The last function and frame with this code are gone."""
        if probed.site.active:
            probed.site.active = False
            self._active -= 1
            if not sys.is_finalizing():
                self._release_when_idle()

    def _events(self) -> dict[int, Callable[..., object]]:
        events = monitoring.events
        resume = unmuted(self._on_resume)
        return {
            events.PY_START: unmuted(self._on_start),
            events.PY_RETURN: unmuted(self._on_return),
            events.PY_YIELD: unmuted(self._on_yield),
            events.PY_RESUME: resume,
            events.PY_THROW: resume,
            events.PY_UNWIND: self._on_unwind,  # it needs its argument, so it begins with events switched off
        }

    def _on_start(self) -> Callable[..., object]:
        frame = sys._getframe(1)
        probed = self._by_code.get(id(frame.f_code))
        if probed is None or not probed.site.active:
            return IGNORE_ARGUMENTS
        try:
            site = probed.site
            operation = site.operation
            if site.label is not None and self._recorder.enabled:
                operation = site.label(*arguments_of(frame))
            stale = self._open.pop(id(frame), None)  # another frame was here, and ended without an event
            if isinstance(stale, Running):
                stale.resumable.vanish(CLOSED)
            if probed.kind == SYNCHRONOUS:
                token = self._recorder.enter(operation, site.root)
                if token is not None:
                    self._open[id(frame)] = token
            else:
                self._begin(probed, frame, operation)
        except RecursionError:
            pass  # the program is at its limit: it goes on without this execution
        except Exception as error:
            self._recorder.probe_failed(error)
        return IGNORE_ARGUMENTS

    def _begin(self, probed: Probed, frame: FrameType, operation: int) -> None:
        resumable = self._recorder.resumable(operation, probed.kind, probed.site.root)
        if resumable is None:
            return
        generator = FIND_BY_FRAME(frame) if FIND_BY_FRAME is not None else None
        if generator is None:
            raise ProbeError(f"the generator that runs {probed.site.name} was not found by its frame: not recorded")
        running = Running(generator, self._on_collected)
        running.key = id(frame)
        running.resumable = resumable
        running.silent = False
        running.ends_by_hook = probed.kind == ASYNC_GENERATOR and sys.get_asyncgen_hooks().finalizer is not None
        self._open[running.key] = running
        resumable.resume()

    def _on_resume(self) -> Callable[..., object]:
        frame = sys._getframe(1)
        if id(frame.f_code) in self._by_code:  # PY_THROW comes from everywhere
            running = self._open.get(id(frame))
            if isinstance(running, Running):
                running.resumable.resume()
        return IGNORE_ARGUMENTS

    def _on_yield(self) -> Callable[..., object]:
        frame = sys._getframe(1)
        running = self._open.get(id(frame))
        if isinstance(running, Running):
            yields = self._by_code[id(frame.f_code)].yields
            running.silent = frame.f_lasti in yields.silent
            running.resumable.suspend(frame.f_lasti in yields.items)
        return IGNORE_ARGUMENTS

    def _on_return(self) -> Callable[..., object]:
        opened = self._open.pop(id(sys._getframe(1)), None)
        if isinstance(opened, Running):
            opened.resumable.finish(RETURNED)
        elif opened is not None:
            self._recorder.leave(opened, RETURNED)
        if not self._active:
            self._release_when_idle()
        return IGNORE_ARGUMENTS

    def _on_unwind(self, code: CodeType, offset: int, error: BaseException) -> None:
        if id(code) in self._by_code:
            sys.call_tracing(self._unwound, (id(sys._getframe(1)), error))

    def _unwound(self, key: int, error: BaseException) -> None:
        opened = self._open.pop(key, None)
        if isinstance(opened, Running):
            opened.resumable.finish(ending_of(error, resumable=True))
        elif opened is not None:
            self._recorder.leave(opened, ending_of(error, resumable=False))
        if not self._active:
            self._release_when_idle()

    def _on_collected(self, running: weakref.ref[object]) -> None:
        """A generator is being collected. Unless its finaliser will cause events, this is the end of its execution."""
        assert isinstance(running, Running)
        if self._open.get(running.key) is not running or running.ends_by_hook:
            return
        if running.silent or sys._getframe(1).f_code is Monitoring._on_unwind.__code__:
            del self._open[running.key]
            running.resumable.vanish(CLOSED)
            if not self._active:
                self._release_when_idle()
