"""Which operations have most to tell, and at which level: only what random contexts would not show as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracectx.stats.reduction import StdReduction
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

LEVELS = ("caller", "stack", "subtree", "trace")
"""Those that split an operation."""

_SIGNIFICANT_Z = 4.0
_LEAST_ADJUSTED = 0.05
_LEAST_OBSERVATIONS = 20
_MOST_CANDIDATES = 20
_NEARLY_ALL = 0.9
"""A coarser level is named instead of a finer one when it explains this share of what the finer one does."""
_WELL_EXPLAINED = 0.5
"""Below this the logarithms of times are looked at, too: a few outliers can make up most of a standard deviation."""

Reductions = Mapping[str, StdReduction]


@dataclass(frozen=True, slots=True)
class Finding:
    """One operation whose contexts at `level` explain a part of its times; `is_log`: of their logarithms."""

    operation: Context
    level: str
    reduction: StdReduction
    is_log: bool
    weight: float
    """Seconds of spread, over all executions, that the contexts explain."""


class Explained:
    """The reductions of each operation, computed once, when they are asked for."""

    def __init__(self, tree: CallingContextTree) -> None:
        self._tree = tree
        self._known: dict[str, Reductions] = {}

    def of(self, operation: str) -> Reductions:
        if operation not in self._known:
            self._known[operation] = self._tree.std_reductions(operation)
        return self._known[operation]

    def findings(self, operations: Sequence[Context]) -> list[Finding]:
        """Of the operations with most time at stake, the weightiest first."""
        split = [one for one in operations if one.count >= _LEAST_OBSERVATIONS and self._is_split(one)]
        split.sort(key=lambda one: (-one.response_time.std * one.count, one.operation))
        found = [finding for one in split[:_MOST_CANDIDATES] if (finding := self._finding(one)) is not None]
        return sorted(found, key=lambda finding: (-finding.weight, finding.operation.operation))

    def _finding(self, operation: Context) -> Finding | None:
        """The coarsest level that explains nearly all that any does; None where nothing explains anything."""
        model = operation.response_time
        plain = _best(self.of(operation.operation))
        if plain is None or plain[1].adjusted < _WELL_EXPLAINED:
            logs = _best(self._tree.std_reductions(operation.operation, log=True))
            if logs is not None and (plain is None or logs[1].adjusted > plain[1].adjusted):
                spread = min(model.std, model.p90 - model.quantile(0.1))
                return Finding(operation, *logs, True, logs[1].adjusted * spread * model.count)
        return plain and Finding(operation, *plain, False, plain[1].adjusted * model.std * model.count)

    def _is_split(self, operation: Context) -> bool:
        return self._tree.context_count(operation.operation, LEVELS[-1]) > 1


def counts(reduction: StdReduction) -> bool:
    """Whether a reduction is more than a random split into contexts of these sizes would give."""
    return reduction.adjusted >= _LEAST_ADJUSTED and reduction.z > _SIGNIFICANT_Z


def _best(reductions: Reductions) -> tuple[str, StdReduction] | None:
    real = {level: reductions[level] for level in LEVELS if counts(reductions[level])}
    if not real:
        return None
    best = max(reduction.adjusted for reduction in real.values())
    return next((level, reduction) for level, reduction in real.items() if reduction.adjusted >= _NEARLY_ALL * best)
