"""Which attachment applies to which callable, and why. `TRACECTX_ATTACH` forces one."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from tracectx.core.interface import Recorder
from tracectx.errors import ConfigError
from tracectx.probes.attach.generators import FIND_BY_FRAME
from tracectx.probes.attach.identity import WeakIdentityMap
from tracectx.probes.attach.monitoring import Monitoring
from tracectx.probes.attach.site import SYNCHRONOUS, Site, kind_of
from tracectx.probes.attach.wrapping import wrapped

VARIABLE = "TRACECTX_ATTACH"
MODES = ("auto", "monitoring", "wrapping")

_Callable = Callable[..., Any]  # Any: whatever the program's callables take and give


class Attachments:
    """Both ways of attaching, for one recorder. `name` and `reason` say what Python functions get."""

    def __init__(self, recorder: Recorder, mode: str = "auto") -> None:
        if mode not in MODES:
            raise ConfigError(f"{VARIABLE} must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
        self._recorder = recorder
        self._forced = mode == "monitoring"
        self._wrappers: WeakIdentityMap[weakref.ref[Site]] = WeakIdentityMap()  # a wrapper keeps its site alive
        self._monitoring: Monitoring | None = None
        self.name, self.reason = "wrapping", f"{VARIABLE}=wrapping"
        if mode != "wrapping":
            self._try_monitoring()

    @property
    def monitors(self) -> bool:
        return self._monitoring is not None

    def attach(self, target: _Callable, site: Site) -> _Callable:
        """What to use from now on in the place of `target`: itself where monitoring applies, else a wrapper."""
        if self._wrappers.get(target) is not None:  # a wrapper whose probe was removed
            target = target.__wrapped__  # type: ignore[attr-defined]  # wrappers have it
        if self._monitoring is not None and isinstance(target, FunctionType) and _can_be_monitored(target):
            try:
                return self._monitoring.attach(target, site)
            except ConfigError as error:  # no free tool id
                if self._forced:
                    raise ConfigError(f"{VARIABLE}=monitoring is impossible: {error}") from None
                self.name, self.reason = "wrapping", str(error)
        wrapper: _Callable
        if isinstance(target, FunctionType):
            wrapper = wrapped(target, site, self._recorder)
        else:
            from tracectx.probes.attach.proxy import proxied  # loads wrapt, and with it asyncio

            wrapper = proxied(target, site, self._recorder)
        self._wrappers.add(wrapper, weakref.ref(site))
        return wrapper

    def site_of(self, target: object) -> Site | None:
        """The site of a probe that sits on `target` now."""
        if self._monitoring is not None and isinstance(target, FunctionType):
            site = self._monitoring.site_of(target)
            if site is not None:
                return site
        reference = self._wrappers.get(target)
        site = reference() if reference is not None else None
        return site if site is not None and site.active else None

    def detach(self, target: _Callable) -> _Callable:
        """Ends the probe on `target`, which has one; gives what was there before it."""
        reference = self._wrappers.get(target)
        site = reference() if reference is not None else None
        if site is not None:
            site.active = False
            original: _Callable = target.__wrapped__  # type: ignore[attr-defined]  # as above
            return original
        assert self._monitoring is not None
        assert isinstance(target, FunctionType)
        return self._monitoring.detach(target)

    def settle(self) -> None:
        """Tells the recorder of executions that ended without anybody noticing; to be called before a snapshot."""
        if self._monitoring is not None:
            self._monitoring.settle()

    def _try_monitoring(self) -> None:
        why_not = None
        if sys.version_info < (3, 12):
            why_not = f"sys.monitoring needs Python 3.12, this is {sys.version_info[0]}.{sys.version_info[1]}"
        elif not hasattr(sys, "monitoring"):
            why_not = f"{sys.implementation.name} has no sys.monitoring"
        if why_not is None:
            self._monitoring = Monitoring(self._recorder)
            self.name, self.reason = "monitoring", "sys.monitoring is there"
        elif self._forced:
            raise ConfigError(f"{VARIABLE}=monitoring is impossible: {why_not}")
        else:
            self.reason = why_not


def _can_be_monitored(function: FunctionType) -> bool:
    if function.__name__ == "__del__":
        return False  # the collector may run it inside a callback, where it would not be seen
    return FIND_BY_FRAME is not None or kind_of(function) == SYNCHRONOUS
