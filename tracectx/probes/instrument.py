"""`instrument`: probes by name, on what is imported now and on what will be.

Import hooks run on the thread that imports, and never make an import fail.
"""

from __future__ import annotations

import difflib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType, ModuleType, TracebackType
from typing import TypeAlias

from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.installer import Installer
from tracectx.probes.patterns import ModulePattern, Name, checked_exclusions, matches, parse
from tracectx.probes.runtime import SWITCHED_OFF, recorder
from tracectx.probes.targets import is_builtin

_Target: TypeAlias = "ModulePattern | Name | ModuleType | type"


class Instrumentation:
    """The probes that one `instrument` call put; `remove` or the end of its `with` block takes them off."""

    def __init__(self, targets: list[_Target], exclude: tuple[str, ...], rebind: bool) -> None:
        self._exclude = exclude
        self._installer = Installer(self._is_excluded, rebind)
        self._patterns = [target for target in targets if isinstance(target, ModulePattern)]
        self._names = [target for target in targets if isinstance(target, Name)]
        self._waiting: dict[str, list[str]] = {}  # by module: what was asked for
        self._watched: set[str] = set()
        self._done: set[str] = set()
        self._removed = False
        self._lock = threading.RLock()
        for target in targets:
            self._add(target)
        self._installer.rebind()

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of what has a probe, in the order in which it got it."""
        return tuple(self._installer.operations)

    @property
    def skipped(self) -> Mapping[str, str]:
        """Names of what has none, and why."""
        return MappingProxyType(self._installer.skipped)

    def remove(self) -> None:
        """Restores everything; what is imported later stays as it is."""
        with self._lock:
            if not self._removed:
                self._removed = True
                self._installer.remove()

    def __enter__(self) -> Instrumentation:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.remove()

    def _is_excluded(self, name: str) -> bool:
        return any(matches(pattern, name) for pattern in self._exclude)

    def _add(self, target: _Target) -> None:
        if isinstance(target, ModuleType):
            self._add_module(target)
        elif isinstance(target, type):
            self._installer.add_class(target)
        elif isinstance(target, Name):
            self._await(target.module, f"{target.module}:{target.qualname}")
        else:
            self._await(target.root, target.text)
            for name in sorted(name for name in sys.modules if target.matches(name)):
                self._watch(name)

    def _await(self, module: str, asked: str) -> None:
        if module not in sys.modules:
            self._waiting.setdefault(module, []).append(asked)
            self._installer.skipped[asked] = _why_not_there(module)
        self._watch(module)

    def _watch(self, module: str) -> None:
        if module not in self._watched:
            self._watched.add(module)
            import wrapt  # it loads asyncio, which a program without it should not

            wrapt.register_post_import_hook(self._imported, module)

    def _imported(self, module: ModuleType) -> None:
        """Called once for each watched module: at once if it is there, else when it has been imported."""
        with self._lock:
            if self._removed:
                return
            try:
                for asked in self._waiting.pop(module.__name__, ()):
                    self._installer.skipped.pop(asked, None)
                self._add_names(module)
                if any(pattern.matches(module.__name__) for pattern in self._patterns):
                    self._add_module(module)
                self._watch_below(module)
                self._installer.rebind()
            except Exception as error:
                recorder().probe_failed(error)

    def _add_module(self, module: ModuleType) -> None:
        if module.__name__ not in self._done and not self._is_excluded(module.__name__):
            self._done.add(module.__name__)
            self._installer.add_module(module)

    def _add_names(self, module: ModuleType) -> None:
        for name in self._names:
            if name.module != module.__name__:
                continue
            try:
                owner, attribute, value = resolve(module, name.qualname)
            except ConfigError as error:
                self._installer.skipped[f"{name.module}:{name.qualname}"] = str(error)
                continue
            if isinstance(value, type):
                self._installer.add_class(value)
            else:
                self._installer.add(owner, attribute, value, f"{name.module}.{name.qualname}")

    def _watch_below(self, module: ModuleType) -> None:
        """The submodules of a package are found without importing them."""
        roots = [pattern.root for pattern in self._patterns if not pattern.is_literal]
        for found in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}."):
            if any(found.name.startswith(f"{root}.") for root in roots):
                self._watch(found.name)


def instrument(*targets: str | ModuleType | type, exclude: Iterable[str] = (), rebind: bool = True) -> Instrumentation:
    """Probes functions and methods by name, without touching their code.

    A target is a pattern over modules (`shop.*`: the package and everything below), a name (`shop.db:Session.query`), a
    module or a class. What is not imported yet is probed on import. `exclude` holds patterns over modules and
    operations. `rebind` replaces references taken by `from m import f` where a wrapper was needed.
    """
    if not targets:
        raise ConfigError("instrument needs at least one target, such as 'shop.*'")
    if not isinstance(rebind, bool):
        raise ProbeError(f"rebind must be True or False, got {rebind!r}")
    parsed = [parse(target) for target in targets]
    excluded = checked_exclusions(exclude)
    for target in parsed:
        _check_present(target)
    return Instrumentation([] if SWITCHED_OFF else parsed, excluded, rebind)


def resolve(module: ModuleType, qualname: str) -> tuple[object, str, object]:
    """Where `qualname` is defined: its owner, its name there, and what is there. `ConfigError` where it is not."""
    *parents, attribute = qualname.split(".")
    owner: object = module
    for depth, part in enumerate((*parents, attribute)):
        names = vars(owner) if isinstance(owner, (ModuleType, type)) else {}
        if part not in names:
            at = ".".join((*parents, attribute)[: depth + 1])
            inherited = " (it is inherited: name the class that defines it)" if hasattr(owner, part) else ""
            near = difflib.get_close_matches(part, names, n=3)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near and not inherited else ""
            raise ConfigError(f"{module.__name__} does not define {at!r}{inherited}{hint}")
        if depth < len(parents):
            owner = names[part]
        else:
            return owner, attribute, names[part]
    raise AssertionError("a name has at least one part")


def _check_present(target: _Target) -> None:
    """What can be known to be wrong is an error, before anything is probed."""
    if isinstance(target, type) and is_builtin(target):
        raise ProbeError(f"cannot instrument the class {target.__qualname__}: it is built in")
    if isinstance(target, Name) and target.module in sys.modules:
        resolve(sys.modules[target.module], target.qualname)


def _why_not_there(module: str) -> str:
    top = module.partition(".")[0]
    try:
        found = top in sys.modules or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):  # a finder's own failure, or a module without a spec
        found = True
    return "not imported yet" if found else f"not imported yet, and no module named {top!r} is found now"
