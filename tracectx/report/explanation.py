"""Why one operation is sometimes slow: its contexts side by side, each with a histogram and what distinguishes it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tracectx.report.bars import axis, bars
from tracectx.report.calls import Call
from tracectx.report.findings import LEVELS, Explained, Finding, counts
from tracectx.report.sentences import TIED, wrapped
from tracectx.report.units import counted, human_share, human_time
from tracectx.report.wording import Shorten, distinctions
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

_BARS = 20
_MOST_COMPARED = 50
"""Contexts of an operation that are looked at to find the calls that matter."""
_LEAST_COUNT = 5
"""Contexts of less are not shown while there are others: a single slow execution says little about its context."""
_MOST_LINES = 3
_WHAT = {
    "caller": "Who calls it explains",
    "stack": "The path on which it is called explains",
    "subtree": "The calls made inside explain",
    "trace": "The whole trace it is part of explains",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """`claim` in words, and `rows` to show for it. `cause`: the call that tells the contexts apart, if one does."""

    operation: str
    share: str
    claim: str
    rows: tuple[str, ...]
    cause: tuple[str, Call] | None
    depth: int
    """How many calls below the operation the cause is."""
    likewise: list[str] = field(default_factory=list)
    """Other operations with the same cause."""


class Explainer:
    """Makes explanations of one tree."""

    def __init__(self, tree: CallingContextTree, explained: Explained, short: Shorten, contexts: int, width: int) -> None:
        self._tree = tree
        self._explained = explained
        self._short = short
        self._contexts = contexts
        self._width = width

    def explanations(self, operations: Sequence[Context], most: int, level: str | None) -> list[Explanation]:
        """The weightiest. Operations with one cause share an explanation, unless there is room."""
        found = [self._of_finding(finding, level or finding.level) for finding in self._explained.findings(operations)]
        chosen = _one_for_each_cause(found)[:most]
        shown = [*chosen, *(other for other in found if other not in chosen)][:most]
        for explanation in chosen:
            explanation.likewise[:] = [
                f"{other.operation} ({other.share})"
                for other in found
                if other.cause is not None and other.cause == explanation.cause and other not in shown
            ]
        return shown

    def at_level(self, operation: Context, level: str) -> Explanation:
        """What a level shows of an operation, whether or not it explains anything."""
        reduction = self._explained.of(operation.operation)[level]
        return self._of_finding(Finding(operation, level, reduction, False, 0.0), level)

    def _of_finding(self, finding: Finding, level: str) -> Explanation:
        name = finding.operation.operation
        compared = self._tree.most_different(name, level, max(self._contexts, _MOST_COMPARED), _LEAST_COUNT)
        told = distinctions(compared, min(self._contexts, len(compared)), self._short)
        rows = self._rows(finding.operation, level, compared[: self._contexts], told.words)
        cause = None if told.main is None or level not in LEVELS[2:] else (level, told.main)
        share = human_share(finding.reduction.adjusted)
        return Explanation(self._short(name), share, self._claim(finding, level), tuple(rows), cause, told.depth)

    def _claim(self, finding: Finding, level: str) -> str:
        reduction = finding.reduction
        if level != finding.level:
            reduction = self._tree.std_reduction(level, finding.operation.operation, log=finding.is_log)
        if not counts(reduction):
            return f"{self._short(finding.operation.operation)} by {level}: times differ by no more than chance."
        adjusted, raw, null = (human_share(max(0.0, part)) for part in (reduction.adjusted, reduction.raw, reduction.null))
        of_what = "the spread of its times on a log scale" if finding.is_log else "its standard deviation"
        return (
            f"Why is {self._short(finding.operation.operation)} sometimes slow? {_WHAT[level]}"
            f" {adjusted} of {of_what} beyond chance ({raw} in all; a random split: {null})."
        )

    def _rows(self, operation: Context, level: str, contexts: Sequence[Context], words: Sequence[str]) -> Iterator[str]:
        if not contexts:
            return
        bounds = axis([context.response_time for context in contexts])
        low, high = (human_time(bound) for bound in bounds)
        scale = f"{low} {'·' * max(1, _BARS - len(low) - len(high) - 2)} {high}"
        count_width = max(5, *(len(f"{context.count:,}") for context in contexts))
        yield f"  share {'count':>{count_width}} {'mean':>7} {'p50':>7}  {scale}"
        by_mean = sorted(zip(contexts, words, strict=True), key=lambda row: -row[0].response_time.mean)
        for context, told in by_mean:
            model = context.response_time
            figures = (
                f"  {human_share(context.count / operation.count):>5} {context.count:>{count_width},}"
                f" {human_time(model.mean):>7} {human_time(model.p50):>7}  {bars(model, bounds, _BARS)}  "
            )
            yield from self._with_words(figures, told)
        yield from self._rest(operation, level, contexts)

    def _with_words(self, figures: str, words: str) -> list[str]:
        lines = wrapped(figures.replace(" ", TIED) + words, self._width, " " * len(figures))
        if len(lines) > _MOST_LINES:
            lines = lines[:_MOST_LINES]
            lines[-1] = lines[-1][: self._width - 2] + " …"
        return lines

    def _rest(self, operation: Context, level: str, shown: Sequence[Context]) -> Iterator[str]:
        """What the contexts that are not shown have in all, by exact difference."""
        hidden = self._tree.context_count(operation.operation, level) - len(shown)
        count = operation.count - sum(context.count for context in shown)
        if not hidden:
            return
        total_ns = operation.response_time.total_ns - sum(context.response_time.total_ns for context in shown)
        rest = (
            f"{counted(hidden, 'more context')} with {counted(count, 'execution')}, mean {human_time(total_ns / count / 1e9)}"
        )
        yield f"  {human_share(count / operation.count):>5} … {rest}"


def _one_for_each_cause(found: Sequence[Explanation]) -> list[Explanation]:
    """In the order of the weightiest of each cause: the operation that is nearest to the call, where it is decided."""
    chosen: list[Explanation] = []
    for explanation in found:
        place = next((place for place, other in enumerate(chosen) if other.cause and other.cause == explanation.cause), None)
        if place is None:
            chosen.append(explanation)
        elif explanation.depth < chosen[place].depth:
            chosen[place] = explanation
    return chosen
