"""tracectx: why is this function sometimes slow? Timing models per calling context, in process.

    @tracectx.probe
    def checkout(basket): ...

    tracectx.report()

Everything a user needs is importable from here; errors are in `tracectx.errors`, helpers for tests in `tracectx.testing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracectx.errors import ConfigError, FormatError, ProbeError, TracectxError, UnknownOperation
from tracectx.probes.instrument import Instrumentation, instrument
from tracectx.probes.probe import probe, unprobe
from tracectx.probes.propagation import detached, propagate
from tracectx.probes.span import span
from tracectx.session.api import (
    configure,
    disable,
    enable,
    load,
    merge,
    recording,
    report,
    reset,
    snapshot,
    stats,
)
from tracectx.session.session import Recording
from tracectx.session.statistics import RecordingStats

if TYPE_CHECKING:
    from tracectx.stats.reduction import StdReduction
    from tracectx.tree.call_tree import CallTree
    from tracectx.tree.calling_context_tree import CallingContextTree
    from tracectx.tree.context import Context
    from tracectx.tree.timing_model import TimingModel
    from tracectx.tree.trace_class import Exemplar, TraceClass

__version__ = "0.1.0"

_LOADED_WHEN_ASKED = {
    "CallTree": "tracectx.tree.call_tree",
    "CallingContextTree": "tracectx.tree.calling_context_tree",
    "Context": "tracectx.tree.context",
    "Exemplar": "tracectx.tree.trace_class",
    "StdReduction": "tracectx.stats.reduction",
    "TimingModel": "tracectx.tree.timing_model",
    "TraceClass": "tracectx.tree.trace_class",
}
"""Types of the tree: they need numpy, which a program that never asks for a report should not load."""

__all__ = [
    "CallTree",
    "CallingContextTree",
    "ConfigError",
    "Context",
    "Exemplar",
    "FormatError",
    "Instrumentation",
    "ProbeError",
    "Recording",
    "RecordingStats",
    "StdReduction",
    "TimingModel",
    "TraceClass",
    "TracectxError",
    "UnknownOperation",
    "configure",
    "detached",
    "disable",
    "enable",
    "instrument",
    "load",
    "merge",
    "probe",
    "propagate",
    "recording",
    "report",
    "reset",
    "snapshot",
    "span",
    "stats",
    "unprobe",
]


def __getattr__(name: str) -> Any:  # Any: the type that is asked for
    if name in _LOADED_WHEN_ASKED:
        from importlib import import_module

        return getattr(import_module(_LOADED_WHEN_ASKED[name]), name)
    raise AttributeError(f"module 'tracectx' has no attribute {name!r}")
