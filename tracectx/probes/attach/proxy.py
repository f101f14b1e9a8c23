"""Wrappers for callables that are not Python functions: builtins, partials, `lru_cache` objects, callable instances.

They keep every attribute of what they wrap (`cache_clear`, `func`, ...) and are pickled by reference where that was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import wrapt

from tracectx.core.interface import Recorder
from tracectx.probes.attach.site import Site
from tracectx.probes.attach.wrapping import caller, hide

if TYPE_CHECKING:
    _Proxy = wrapt.CallableObjectProxy[Any]  # Any: the program's own
else:
    _Proxy = wrapt.CallableObjectProxy


class CallableProxy(_Proxy):
    """Records each call; everything else goes to the callable itself."""

    def __init__(self, target: Callable[..., Any], site: Site, recorder: Recorder) -> None:  # Any: the program's own
        super().__init__(target)
        self._self_site = site
        self._self_recorder = recorder
        self._self_call = caller(target, site, recorder)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # Any: as the wrapped callable
        __tracebackhide__ = True
        try:
            return self._self_call(*args, **kwargs)
        except BaseException as error:
            hide(error)
            raise

    def __reduce_ex__(self, protocol: Any) -> Any:  # Any: what pickle takes and gives
        module, name = getattr(self, "__module__", None), getattr(self, "__qualname__", None)
        if module is not None and name is not None and _found(module, name) is self:
            return name
        return self.__wrapped__.__reduce_ex__(protocol)

    def __copy__(self) -> Any:  # Any: as what is copied
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:  # Any: as what is copied
        return self


class MethodProxy(CallableProxy):
    """A `CallableProxy` for what becomes a method when it is found in a class."""

    def __get__(self, instance: object, owner: type | None = None) -> Any:  # Any: a method, or what the descriptor gives
        bound = self.__wrapped__.__get__(instance, owner)
        if bound is self.__wrapped__ or not callable(bound):
            return self if bound is self.__wrapped__ else bound
        return CallableProxy(bound, self._self_site, self._self_recorder)


def proxied(target: Callable[..., Any], site: Site, recorder: Recorder) -> CallableProxy:  # Any: the program's own
    kind = MethodProxy if hasattr(type(target), "__get__") else CallableProxy
    return kind(target, site, recorder)


def _found(module: str, qualname: str) -> object:
    found: object = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found
