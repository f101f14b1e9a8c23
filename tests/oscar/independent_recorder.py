"""Counts the executions of oscar's functions per stack path, independently of tracectx: a few lines, one thread.

It finds the callables on its own, and records in one of two ways, since what can be seen differs: `wrappers` are called
through the attributes and globals that hold them; `calls` sees every call of a function, by whatever reference. Both
stay until the process ends.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import wraps
from inspect import CO_GENERATOR
from types import FrameType, FunctionType, ModuleType
from typing import Any

Path = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where a function was found: a global of a module, or an attribute of a class, perhaps in a descriptor."""

    function: FunctionType
    owner: ModuleType | type
    attribute: str
    descriptor: Callable[[Any], object] | None = None
    """Makes such a descriptor of another function."""

    def put(self, function: object) -> None:
        setattr(self.owner, self.attribute, self.descriptor(function) if self.descriptor else function)


def places_of(package: str) -> Iterator[Place]:
    """Every function, method and property getter defined in the package's imported modules."""
    for module in [m for name, m in sorted(sys.modules.items()) if name == package or name.startswith(f"{package}.")]:
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                yield Place(value, module, name)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                yield from _places_in(value)


def _places_in(owner: type) -> Iterator[Place]:
    for name, value in list(vars(owner).items()):
        if isinstance(value, type) and value.__qualname__.startswith(f"{owner.__qualname__}."):
            yield from _places_in(value)
        special = name.startswith("__") and name.endswith("__") and name not in ("__init__", "__call__")
        place = _place(owner, name, value)
        if place and not special and place.function.__module__ == owner.__module__:
            yield place


def _place(owner: type, name: str, value: object) -> Place | None:
    if isinstance(value, FunctionType):
        return Place(value, owner, name)
    if isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, FunctionType):
        return Place(value.__func__, owner, name, type(value))
    if isinstance(value, property) and isinstance(value.fget, FunctionType):
        return Place(value.fget, owner, name, value.getter)
    return None


def name_of(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


class WrapperRecorder:
    """Replaces each function by a closure, where it was found and where it was imported to."""

    def __init__(self, package: str) -> None:
        self.counts: Counter[Path] = Counter()
        self._path: Path = ()
        wrappers: dict[FunctionType, Callable[..., Any]] = {}
        for place in list(places_of(package)):
            wrappers.setdefault(place.function, self._wrapper(place.function))
            place.put(wrappers[place.function])
        for module in list(sys.modules.values()):
            for name, value in list(vars(module).items()):
                if isinstance(value, FunctionType) and value in wrappers:
                    setattr(module, name, wrappers[value])

    def _wrapper(self, function: FunctionType) -> Callable[..., Any]:
        name = name_of(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            caller, self._path = self._path, (*self._path, name)
            self.counts[self._path] += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._path = caller

        @wraps(function)
        def generate(*args: Any, **kwargs: Any) -> Generator[Any, None, Any]:
            path = (*self._path, name)
            self.counts[path] += 1
            running = function(*args, **kwargs)
            while True:
                consumer, self._path = self._path, path
                try:
                    item = next(running)
                except StopIteration as stop:
                    return stop.value
                finally:
                    self._path = consumer
                yield item

        return generate if function.__code__.co_flags & CO_GENERATOR else call


class CallRecorder:
    """Gives each function a code object of its own, and watches the interpreter enter and leave it."""

    def __init__(self, package: str) -> None:
        self.counts: Counter[Path] = Counter()
        self._names: dict[int, str] = {}
        self._stack: list[Path] = [()]
        self._generators: dict[FrameType, Path] = {}
        for function in {place.function: None for place in places_of(package)}:
            function.__code__ = function.__code__.replace()  # closures of one decorator share theirs
            self._names[id(function.__code__)] = name_of(function)
        threading.setprofile(self._on_event)  # in threads that start from here on

    def _on_event(self, frame: FrameType, event: str, argument: object) -> None:
        name = self._names.get(id(frame.f_code))
        if name is None:
            return
        if event == "call":
            self._stack.append(self._generators.get(frame) or self._new_path(frame, name))
        elif event == "return":
            self._stack.pop()

    def _new_path(self, frame: FrameType, name: str) -> Path:
        path = (*self._stack[-1], name)
        self.counts[path] += 1
        if frame.f_code.co_flags & CO_GENERATOR:
            self._generators[frame] = path
        return path
