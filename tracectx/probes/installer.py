"""Puts probes on what modules and classes hold, remembers what was there, and restores it.

Where a function had to be replaced by a wrapper, references that other modules took by `from m import f` are replaced
too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from tracectx.errors import TracectxError
from tracectx.probes import targets
from tracectx.probes.naming import operation_name
from tracectx.probes.placing import Wish, inner, name_of_probe, put, take


class Installer:
    """The probes of one `instrument` call."""

    def __init__(self, excluded: Callable[[str], bool], rebind: bool) -> None:
        self.operations: dict[str, None] = {}  # in the order in which they were probed
        self.skipped: dict[str, str] = {}
        self._excluded = excluded
        self._rebind = rebind
        self._probed: list[object] = []  # callables that carry a probe of ours
        self._replaced: list[tuple[object, str, object, object]] = []  # owner, attribute, before, after
        self._rebound: set[int] = set()
        self._wrappers: dict[int, tuple[object, object]] = {}  # by the identity of what was there: it and its wrapper

    def add_module(self, module: ModuleType) -> None:
        for attribute, value in targets.functions(module):
            self.add(module, attribute, value, operation_name(value)[0])
        for cls in targets.classes(module):
            self._add_methods(cls)

    def add_class(self, cls: type) -> None:
        """The methods of a class, and of those nested in it."""
        for each in (cls, *targets.classes(cls)):
            self._add_methods(each)

    def rebind(self) -> None:
        """Replaces references to what has been wrapped since the last time; looks at every module."""
        changes = {key: self._wrappers[key] for key in self._wrappers if key not in self._rebound}
        self._rebound.update(changes)
        self._rebind_references(changes)

    def _add_methods(self, cls: type) -> None:
        for attribute, value in targets.members(cls):
            self.add(cls, attribute, value, operation_name(inner(value))[0])

    def add(self, owner: object, attribute: str, value: object, name: str) -> None:
        """Probes what `owner` has as `attribute`."""
        if self._excluded(name):
            return
        known = self._wrappers.get(id(value))
        if known is not None:  # the same function by a second name
            self._replace(owner, attribute, value, known[1])
            return
        probe_name = name_of_probe(value)
        if probe_name is not None:
            if not any(inner(value) is probed for probed in self._probed):
                self.skipped[name] = f"has a probe already, as {probe_name}"
            return
        try:
            after = put(value, Wish())
            if after is not value:
                self._wrappers[id(value)] = (value, after)
                self._replace(owner, attribute, value, after)
        except (TracectxError, TypeError, AttributeError) as error:  # a class may refuse to have its attributes set
            self.skipped[name] = str(error)
            return
        self._probed.append(inner(after))
        self.operations[name] = None
        self.skipped.pop(name, None)

    def remove(self) -> None:
        """Restores everything, also references to wrappers that were taken since."""
        for owner, attribute, before, after in reversed(self._replaced):
            if vars(owner).get(attribute) is after:
                setattr(owner, attribute, before)
        self._rebind_references({id(after): (after, before) for before, after in self._wrappers.values()})
        for probed in self._probed:
            take(probed)
        self._probed, self._replaced, self._wrappers = [], [], {}
        self._rebound = set()

    def _replace(self, owner: object, attribute: str, before: object, after: object) -> None:
        setattr(owner, attribute, after)
        self._replaced.append((owner, attribute, before, after))

    def _rebind_references(self, changes: dict[int, tuple[object, object]]) -> None:
        """Replaces module globals by identity: of each key of `changes` the first object by the second."""
        if not self._rebind or not changes:
            return
        for module in list(sys.modules.values()):
            if not isinstance(module, ModuleType) or changes.keys().isdisjoint(map(id, list(vars(module).values()))):
                continue
            for attribute, value in list(vars(module).items()):
                change = changes.get(id(value))
                if change is not None and change[0] is value:
                    setattr(module, attribute, change[1])
