"""The options of a recording: names, defaults, checks, environment. Imported by all, imports only errors.

Values are frozen; nothing here reads the clock or starts anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from tracectx.errors import ConfigError

_MEMORY_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
_PRODUCTION = {"when_full": "drop", "loops": "bucketed"}


@dataclass(frozen=True, slots=True)
class Options:
    """What `configure` and `recording` take. `None` where a part of `max_memory` follows from it."""

    sample: float = 1.0
    loops: str = "bucketed"
    max_memory: int = 64_000_000
    ring_events: int | None = None
    max_trace_executions: int | None = None
    max_operations: int | None = None
    max_contexts: int | None = None
    max_shapes: int | None = None
    max_labels: int = 100
    when_full: str = "fold"
    trace_linger: float = 10.0
    fold_interval: float = 0.05
    clock: str | Callable[[], int] = "auto"
    propagate_threads: bool = False
    report_at_exit: bool | str = False
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each thing is kept; each has a counter for what went over."""

    ring_events: int
    trace_executions: int
    operations: int
    contexts: int
    shapes: int
    labels: int

    @classmethod
    def of(cls, options: Options) -> Limits:
        """Parts that were given stand; the others are the smaller of their default and their share of `max_memory`.

        Shares follow the sizes that the Python core's structures take; `tests/stress` shows that their sum stays under
        `max_memory`. Twice the executions of a trace are kept of all open traces together.
        """
        memory = options.max_memory

        def part(given: int | None, default: int, share: float, item_bytes: int) -> int:
            return given if given is not None else max(16, min(default, int(memory * share) // item_bytes))

        return cls(
            ring_events=part(options.ring_events, 65_536, 0.12, 160),
            trace_executions=part(options.max_trace_executions, 100_000, 0.12, 400),
            operations=part(options.max_operations, 10_000, 0.04, 256),
            contexts=part(options.max_contexts, 100_000, 0.50, 1_100),
            shapes=part(options.max_shapes, 10_000, 0.08, 640),
            labels=options.max_labels,
        )


def options_with(base: Options, given: Mapping[str, Any]) -> Options:  # Any: each option has its own type, checked below
    """`base` with the options given by a caller; `ConfigError` for an unknown name or a value that cannot be used."""
    names = [f.name for f in fields(Options)]
    for name in given:
        if name not in names:
            raise ConfigError(f"unknown option {name!r}: expected one of {', '.join(names)}")
    checked: dict[str, Any] = {name: _CHECKS[name](name, value) for name, value in given.items()}
    if checked.get("profile") == "production":
        checked = {**_PRODUCTION, **checked}
    return replace(base, **checked)


def options_from_environment(environ: Mapping[str, str] = os.environ) -> Options:
    """The defaults with every `TRACECTX_<OPTION>` applied. The texts are parsed here, so that a bad one names itself."""
    given: dict[str, Any] = {}  # Any: as in options_with
    for f in fields(Options):
        variable = f"TRACECTX_{f.name.upper()}"
        if variable in environ:
            value = _parse(f.name, environ[variable], variable)
            try:
                options_with(Options(), {f.name: value})
            except ConfigError as error:
                raise ConfigError(f"{error} (from the environment variable {variable})") from None
            given[f.name] = value
    return options_with(Options(), given)


def _parse(name: str, text: str, variable: str) -> object:
    if name in ("sample", "trace_linger", "fold_interval"):
        return _number(float, text, variable, "a number")
    if (name.startswith("max_") and name != "max_memory") or name == "ring_events":
        return _number(int, text, variable, "a whole number")
    if name in ("propagate_threads", "report_at_exit"):
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        if name == "propagate_threads":
            raise ConfigError(f"{variable} must be 1 or 0, got {text!r}")
    return text


def _number(kind: Callable[[str], float], text: str, variable: str, expected: str) -> float:
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{variable} must be {expected}, got {text!r}") from None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _share(name: str, value: object) -> float:
    if _is_number(value) and 0 <= value <= 1:  # type: ignore[operator]  # _is_number has shown that it compares
        return float(value)  # type: ignore[arg-type]  # as above
    raise ConfigError(f"{name} must be a number between 0 and 1, got {value!r}")


def _seconds(name: str, value: object) -> float:
    if _is_number(value) and 0 <= value < 1e9:  # type: ignore[operator]  # _is_number has shown that it compares
        return float(value)  # type: ignore[arg-type]  # as above
    raise ConfigError(f"{name} must be a number of seconds from 0 to under 1e9, got {value!r}")


def _interval(name: str, value: object) -> float:
    if value != 0:
        return _seconds(name, value)
    raise ConfigError(f"{name} must be more than 0 seconds, got {value!r}")


def _at_least(minimum: int) -> Callable[[str, object], int | None]:
    def check(name: str, value: object) -> int | None:
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= minimum):
            return value
        raise ConfigError(f"{name} must be a whole number of at least {minimum}, got {value!r}")

    return check


def _labels(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ConfigError(f"{name} must be a whole number of at least 0, got {value!r}")


def _one_of(*allowed: str) -> Callable[[str, object], str]:
    def check(name: str, value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")

    return check


def _memory(name: str, value: object) -> int:
    size: float | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    elif isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value)
        if match and match[2].upper() in _MEMORY_UNITS:
            size = float(match[1]) * _MEMORY_UNITS[match[2].upper()]
    if size is None or not 1_000_000 <= size < 2**63:
        raise ConfigError(f"{name} must be a size of at least 1MB and under 8 EiB, such as '64MB' or 64_000_000, got {value!r}")
    return int(size)


def _clock(name: str, value: object) -> str | Callable[[], int]:
    if value in ("auto", "tsc", "monotonic", "thread_cpu"):
        return str(value)
    if callable(value):
        return value
    raise ConfigError(
        f"{name} must be 'auto', 'tsc', 'monotonic', 'thread_cpu' or a callable returning int nanoseconds, got {value!r}"
    )


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name} must be True or False, got {value!r}")


def _flag_or_path(name: str, value: object) -> bool | str:
    if isinstance(value, bool):
        return value
    if isinstance(value, (str, os.PathLike)) and os.fspath(value):
        return os.fsdecode(value)
    raise ConfigError(f"{name} must be True, False or a path, got {value!r}")


def _profile(name: str, value: object) -> str | None:
    if value is None or value == "production":
        return "production" if value else None
    raise ConfigError(f"{name} must be 'production' or None, got {value!r}")


_CHECKS: dict[str, Callable[[str, Any], object]] = {  # Any: every check takes any object and says what it wants
    "sample": _share,
    "loops": _one_of("bucketed", "exact"),
    "max_memory": _memory,
    "ring_events": _at_least(4),
    "max_trace_executions": _at_least(1),
    "max_operations": _at_least(1),
    "max_contexts": _at_least(4),
    "max_shapes": _at_least(1),
    "max_labels": _labels,
    "when_full": _one_of("fold", "drop"),
    "trace_linger": _seconds,
    "fold_interval": _interval,
    "clock": _clock,
    "propagate_threads": _flag,
    "report_at_exit": _flag_or_path,
    "profile": _profile,
}
