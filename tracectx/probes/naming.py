"""The names of operations: `module.qualname`, as Python itself shows it.

`<locals>` stays, so that a name can be copied from a traceback and two functions of one name are told apart. A script
that is run has the name by which it would be imported.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from types import MethodType

_MAIN = ("__main__", "__mp_main__")


def operation_name(target: object) -> tuple[str, str]:
    """The operation and component of a callable."""
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, MethodType):
        target = target.__func__
    qualname = getattr(target, "__qualname__", None)
    if not isinstance(qualname, str):
        target = type(target)
        qualname = target.__qualname__
    return join(module_name(target), qualname)


def join(module: str, qualname: str) -> tuple[str, str]:
    """The operation and component of what is called `qualname` in a module."""
    owner = qualname.rpartition(".")[0]
    if owner.endswith("<locals>"):
        owner = ""
    name = f"{module}.{qualname}" if module else qualname
    component = f"{module}.{owner}" if owner and module else owner or module
    return name, component


def component_of(name: str) -> str:
    """The component of an operation that is known by its name alone: what is before its last dot, else itself."""
    return name.rpartition(".")[0] or name


def module_name(target: object) -> str:
    """The name of the module in which a callable was made; that of `__main__` as it would be imported."""
    name = getattr(target, "__module__", None)
    if not isinstance(name, str):
        return ""
    if name not in _MAIN:
        return name
    namespace = getattr(target, "__globals__", None)
    if namespace is None:
        namespace = vars(sys.modules[name]) if name in sys.modules else {}
    return main_name(namespace, name)


def main_name(namespace: Mapping[str, object], default: str) -> str:
    """The real name of a module that is run: that of its spec (`python -m`), else the stem of its file."""
    spec_name = getattr(namespace.get("__spec__"), "name", None)
    if isinstance(spec_name, str) and spec_name not in _MAIN:
        return spec_name
    file = namespace.get("__file__")
    return os.path.splitext(os.path.basename(file))[0] if isinstance(file, str) else default
