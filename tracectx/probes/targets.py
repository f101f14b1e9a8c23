"""What there is to probe in a module or class: functions and methods defined there.

Private ones, `__init__` and `__call__` too, other special methods not; static and class methods, property getters; not
cached properties, whose value is computed once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import FunctionType, ModuleType

from tracectx.probes.naming import join, module_name

_SPECIAL_METHODS = ("__init__", "__call__")
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made at run time, so its attributes can be set
_CACHED = type(functools.lru_cache(len))


def is_builtin(cls: type) -> bool:
    return not cls.__flags__ & _HEAP_TYPE


def members(cls: type) -> Iterator[tuple[str, object]]:
    """Attributes of a class to probe, with what is there, in the order of their definition."""
    for attribute, value in list(vars(cls).items()):
        function = _function_of(value)
        if function is not None and _is_wanted(attribute) and getattr(function, "__module__", None) == cls.__module__:
            yield attribute, value


def functions(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Functions that a module defines, by the name that they have in it."""
    for attribute, value in list(vars(module).items()):
        if isinstance(value, (FunctionType, _CACHED)) and value.__module__ == module.__name__:
            yield attribute, value


def classes(owner: ModuleType | type) -> Iterator[type]:
    """Classes that a module or class defines, and those nested in them."""
    module = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    seen = set()
    for value in list(vars(owner).values()):
        if isinstance(value, type) and value.__module__ == module and not is_builtin(value) and id(value) not in seen:
            if isinstance(owner, type) and not value.__qualname__.startswith(f"{owner.__qualname__}."):
                continue
            seen.add(id(value))
            yield value
            yield from classes(value)


def name_in_class(cls: type, attribute: str) -> str:
    return join(module_name(cls), f"{cls.__qualname__}.{attribute}")[0]


def _function_of(value: object) -> object | None:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    return value if isinstance(value, (FunctionType, _CACHED)) else None


def _is_wanted(attribute: str) -> bool:
    return attribute in _SPECIAL_METHODS or not (attribute.startswith("__") and attribute.endswith("__"))
