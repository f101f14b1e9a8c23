"""What `instrument` was told to take: patterns over dotted names, `module:qualname`, modules and classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import ModuleType

from tracectx.errors import ConfigError, ProbeError

_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class ModulePattern:
    """`shop.*` is the package and everything below it; without a wildcard it is that module alone."""

    text: str

    def matches(self, name: str) -> bool:
        return matches(self.text, name)

    @property
    def is_literal(self) -> bool:
        return not _WILDCARDS & set(self.text)

    @property
    def root(self) -> str:
        """The module below which all matches are: the segments before the first wildcard."""
        segments = self.text.split(".")
        literal = [i for i, segment in enumerate(segments) if _WILDCARDS & set(segment)]
        return ".".join(segments[: literal[0]] if literal else segments)


@dataclass(frozen=True, slots=True)
class Name:
    """`module:qualname`: one function, method or class."""

    module: str
    qualname: str


def matches(pattern: str, name: str) -> bool:
    """Whether a dotted name matches a pattern; `shop.*` matches `shop` itself too."""
    return fnmatchcase(name, pattern) or (pattern.endswith(".*") and fnmatchcase(name, pattern[:-2]))


def parse(target: object) -> ModulePattern | Name | ModuleType | type:
    """Checks what was given to `instrument`."""
    if isinstance(target, (ModuleType, type)):
        return target
    if not isinstance(target, str):
        raise ProbeError(
            f"cannot instrument {target!r}: expected a pattern such as 'shop.*', a name such as 'shop.db:Session.query'"
            f", a module or a class; for a function use tracectx.probe"
        )
    module, colon, qualname = target.partition(":")
    if colon:
        if not _is_dotted(module) or not _is_dotted(qualname):
            raise ConfigError(f"cannot instrument {target!r}: expected 'module:function' or 'module:Class.method'")
        return Name(module, qualname)
    pattern = ModulePattern(target)
    if not _is_dotted(re.sub(r"[*?]|\[[^\]]*\]", "x", target)):
        raise ConfigError(f"cannot instrument {target!r}: expected dotted names such as 'shop' or 'shop.*'")
    if not pattern.root:
        raise ConfigError(f"cannot instrument {target!r}: a pattern must begin with the name of a package, such as 'shop.*'")
    return pattern


def checked_exclusions(exclude: object) -> tuple[str, ...]:
    """Patterns over the names of modules and operations."""
    if isinstance(exclude, str) or not hasattr(exclude, "__iter__"):
        raise ProbeError(f"exclude must be a sequence of patterns such as ('shop.tests.*',), got {exclude!r}")
    patterns = tuple(exclude)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise ProbeError(f"exclude must hold patterns such as 'shop.tests.*', got {pattern!r}")
    return tuple(pattern.replace(":", ".") for pattern in patterns)


def _is_dotted(text: str) -> bool:
    return all(segment.isidentifier() for segment in text.split("."))
