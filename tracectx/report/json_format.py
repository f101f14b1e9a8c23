"""The report as JSON, for programs. Schema version 1.

    {"tracectx": 1, "recording": {...}, "counters": {...},
     "operations": [{"operation", "count", "self_share", "response": TIMES, "self": TIMES, "ended": {...},
                     "contexts": {LEVEL: n}, "reduction": {LEVEL: {"raw", "null", "adjusted", "error", "z", "p"}}}],
     "contexts": {LEVEL: [{"operation", "caller", "stack", "shape", "position", "count", "is_other", "other_reason",
                           "response": TIMES, "self": TIMES}]}}

TIMES: `count`, `total_ns`, `min_ns`, `max_ns` as integers, `mean`, `std`, `p50`, `p90`, `p95`, `p99` in seconds. `shape` is a
literal of `tracectx.testing.call_tree`. What is not a number is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from tracectx.report.findings import LEVELS
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context
from tracectx.tree.timing_model import TimingModel

SCHEMA_VERSION = 1
Json = object


def json_text(tree: CallingContextTree, counters: Mapping[str, int]) -> str:
    """The whole tree, indented."""
    total_self_ns = sum(context.self_time.total_ns for context in tree.operations.values()) or 1
    info = tree.info
    document: dict[str, Json] = {
        "tracectx": SCHEMA_VERSION,
        "recording": {
            "ids": list(info.recordings),
            "clock": info.clock,
            "tick_ns": info.tick_ns,
            "loops": info.loops,
            "started_at_ns": info.started_at_ns,
            "taken_at_ns": info.taken_at_ns,
            "cores": list(info.cores),
            "pythons": list(info.pythons),
            "attachments": list(info.attachments),
            "probe_cost_ns": info.probe_cost_ns,
            "executions": tree.executions,
            "traces": tree.traces,
        },
        "counters": dict(counters),
        "operations": [_operation(tree, context, total_self_ns) for context in tree.operations.values()],
        "contexts": {level: [_context(context) for context in tree.contexts(level=level)] for level in LEVELS},
    }
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)


def _operation(tree: CallingContextTree, context: Context, total_self_ns: int) -> Json:
    name = context.operation
    reductions = tree.std_reductions(name)
    return {
        "operation": name,
        "count": context.count,
        "self_share": context.self_time.total_ns / total_self_ns,
        "response": _times(context.response_time),
        "self": _times(context.self_time),
        "ended": context.ended,
        "contexts": {level: tree.context_count(name, level) for level in LEVELS},
        "reduction": {
            level: {part: _number(getattr(reductions[level], part)) for part in ("raw", "null", "adjusted", "error", "z", "p")}
            for level in LEVELS
        },
    }


def _context(context: Context) -> Json:
    shape = context.shape
    return {
        "operation": context.operation,
        "caller": context.caller,
        "stack": None if context.stack is None else list(context.stack),
        "shape": None if shape is None else shape.literal(),
        "position": context.position,
        "count": context.count,
        "is_other": context.is_other,
        "other_reason": context.other_reason,
        "response": _times(context.response_time),
        "self": _times(context.self_time),
    }


def _times(model: TimingModel) -> Json:
    exact = {"count": model.count, "total_ns": model.total_ns, "min_ns": model.min_ns, "max_ns": model.max_ns}
    return exact | {name: _number(getattr(model, name)) for name in ("mean", "std", "p50", "p90", "p95", "p99")}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
