"""Which operations have most to tell, and at which level: only what random contexts would not show as well."""

from __future__ import annotations

from dataclasses import dataclass

from tracectx.stats.reduction import StdReduction
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

LEVELS = ("caller", "stack", "subtree", "trace")
_SIGNIFICANT_Z = 4.0
_LEAST_ADJUSTED = 0.05
_LEAST_OBSERVATIONS = 20
_NEARLY_ALL = 0.9
"""A coarser level is named instead of a finer one when it explains this share of what the finer one does."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One operation whose contexts at `level` explain a part of its times."""

    operation: Context
    level: str
    reduction: StdReduction
    weight: float
    """Seconds of standard deviation, over all executions, that the contexts explain."""


def counts(reduction: StdReduction) -> bool:
    """Whether a reduction is more than a random split into contexts of these sizes would give."""
    return reduction.adjusted >= _LEAST_ADJUSTED and reduction.z > _SIGNIFICANT_Z


def finding(tree: CallingContextTree, operation: Context, reductions: dict[str, StdReduction]) -> Finding | None:
    """The coarsest level that explains nearly all that any does; None where nothing explains anything."""
    if operation.count < _LEAST_OBSERVATIONS:
        return None
    real = {level: reductions[level] for level in LEVELS if counts(reductions[level])}
    if not real:
        return None
    best = max(reduction.adjusted for reduction in real.values())
    level = next(level for level, reduction in real.items() if reduction.adjusted >= _NEARLY_ALL * best)
    weight = real[level].adjusted * operation.response_time.std * operation.count
    return Finding(operation, level, real[level], weight)
