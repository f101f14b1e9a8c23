"""The report as JSON, for programs. Schema version 1; later versions of it only add keys.

    {"tracectx": 1, "recording": {...}, "counters": {...},
     "operations": [{"operation", "count", "self_share", "contexts": {LEVEL: n}, "reduction": {LEVEL: {"raw", "null",
                     "adjusted", "error", "z", "p", "omega_squared"}}, and the FIGURES}],
     "contexts": {LEVEL: [{"operation", "caller", "stack", "shape", "position", "count", "is_other", "other_reason", "since",
                           and the FIGURES}]},
     "trace_classes": [{"shape", "count", "response": TIMES, "slowest": EXEMPLAR, "sample": EXEMPLAR}],
     "shapes": [literals of `tracectx.testing.call_tree`]}

LEVEL: "caller", "stack", "subtree", "trace". FIGURES: "ended" {kind: count}, "resumptions", "suspended_ns",
"outermost_total_ns", "response" and "self", both TIMES: "count", "total_ns", "min_ns", "max_ns" as integers, "mean", "std",
"p50", "p90", "p95", "p99" in seconds, and "histogram", a list of [from_ns, to_ns, count] ("to" is not part of it).
EXEMPLAR: {"started_at", "trace_id", "times_ns"}. "shape" is an index of "shapes". Names ending in `_ns` are integer
nanoseconds, other times are seconds; what is not a number or not known is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping

from tracectx.report.findings import LEVELS
from tracectx.tree.call_tree import CallTree
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context
from tracectx.tree.timing_model import TimingModel
from tracectx.tree.trace_class import Exemplar

SCHEMA_VERSION = 1
_REDUCTION = ("raw", "null", "adjusted", "error", "z", "p", "omega_squared")
_STATISTICS = ("mean", "std", "p50", "p90", "p95", "p99")
Json = object


def json_lines(tree: CallingContextTree, counters: Mapping[str, int]) -> Iterator[str]:
    """The whole tree, an operation or context a line: never all in memory, since there may be 100,000."""
    shapes: dict[CallTree, int] = {}
    yield "{"
    yield f'"tracectx": {SCHEMA_VERSION},'
    yield f'"recording": {_dumped(_recording(tree))},'
    yield f'"counters": {_dumped(dict(counters))},'
    yield from _listed("operations", _operations(tree), "],")
    yield '"contexts": {'
    for level in LEVELS:
        contexts = (_context(context, shapes) for context in tree.contexts(level=level))
        yield from _listed(level, contexts, "]}," if level == LEVELS[-1] else "],")
    yield from _listed("trace_classes", _trace_classes(tree, shapes), "],")
    yield from _listed("shapes", (shape.literal() for shape in shapes), "]")
    yield "}"


def _listed(key: str, items: Iterable[Json], end: str) -> Iterator[str]:
    yield f'"{key}": ['
    last = None
    for item in items:
        if last is not None:
            yield f"{last},"
        last = _dumped(item)
    if last is not None:
        yield last
    yield end


def _dumped(value: Json) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _recording(tree: CallingContextTree) -> Json:
    info = tree.info
    return {
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
    }


def _operations(tree: CallingContextTree) -> Iterator[Json]:
    total_self_ns = sum(context.self_time.total_ns for context in tree.operations.values()) or 1
    for name, context in tree.operations.items():
        yield {
            "operation": name,
            "count": context.count,
            "self_share": context.self_time.total_ns / total_self_ns,
            "contexts": {level: tree.context_count(name, level) for level in LEVELS},
            "reduction": _reduction(tree, name),
            **_figures(context),
        }


def _reduction(tree: CallingContextTree, operation: str) -> Json:
    found = tree.std_reductions(operation)
    return {level: {part: _number(getattr(found[level], part)) for part in _REDUCTION} for level in LEVELS}


def _context(context: Context, shapes: dict[CallTree, int]) -> Json:
    stack, shape = context.stack, context.shape
    return {
        "operation": context.operation,
        "caller": context.caller,
        "stack": None if stack is None else list(stack),
        "shape": None if shape is None else shapes.setdefault(shape, len(shapes)),
        "position": context.position,
        "count": context.count,
        "is_other": context.is_other,
        "other_reason": context.other_reason,
        "since": context.since,
        **_figures(context),
    }


def _figures(context: Context) -> dict[str, Json]:
    return {
        "ended": context.ended,
        "resumptions": context.resumptions,
        "suspended_ns": context.suspended_ns,
        "outermost_total_ns": context.outermost_total_ns,
        "response": _times(context.response_time),
        "self": _times(context.self_time),
    }


def _times(model: TimingModel) -> Json:
    return {
        "count": model.count,
        "total_ns": model.total_ns,
        "min_ns": model.min_ns,
        "max_ns": model.max_ns,
        **{name: _number(getattr(model, name)) for name in _STATISTICS},
        "histogram": [[round(bin.low * 1e9), round(bin.high * 1e9), bin.count] for bin in model.histogram()],
    }


def _trace_classes(tree: CallingContextTree, shapes: dict[CallTree, int]) -> Iterator[Json]:
    for found in tree.trace_classes:
        yield {
            "shape": shapes.setdefault(found.shape, len(shapes)),
            "count": found.count,
            "response": _times(found.response_time),
            "slowest": _exemplar(found.slowest),
            "sample": _exemplar(found.sample),
        }


def _exemplar(exemplar: Exemplar | None) -> Json:
    if exemplar is None:
        return None
    return {
        "started_at": exemplar.started_at,
        "trace_id": exemplar.trace_id,
        "times_ns": list(exemplar.times_ns),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
