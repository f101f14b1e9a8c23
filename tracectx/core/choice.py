"""Chooses the core, once per process, and keeps the reason in words."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tracectx.core.interface import Recorder
from tracectx.core.reference.core import ReferenceCore
from tracectx.errors import ConfigError

_VARIABLE = "TRACECTX_CORE"


@dataclass(frozen=True, slots=True)
class Choice:
    core: ReferenceCore
    reason: str


def choose(demanded: str) -> Choice:
    """The core that the environment demands; `ConfigError` says why it cannot be had."""
    if demanded not in ("auto", "python", "native"):
        raise ConfigError(f"{_VARIABLE} must be 'auto', 'python' or 'native', got {demanded!r}")
    if demanded == "native":
        raise ConfigError(
            f"{_VARIABLE}=native demands the native core, which this build of tracectx does not have;"
            f" set {_VARIABLE}=auto or python"
        )
    if demanded == "python":
        return Choice(ReferenceCore(), f"demanded by {_VARIABLE}=python")
    return Choice(ReferenceCore(), "this build has no native core")


CHOICE = choose(os.environ.get(_VARIABLE, "auto"))


def recorder() -> Recorder:
    """The recorder of this process."""
    return CHOICE.core.recorder
