"""The report as text: which operations take the time, and why the ones with most to tell are sometimes slow.

Pure: from a tree to lines. Colours and terminals are the business of `tracectx.report.write`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tracectx.errors import ConfigError
from tracectx.report.bars import ASCII_BLOCKS, BLOCKS, axis, bars
from tracectx.report.findings import LEVELS, Finding, counts, finding
from tracectx.report.names import shortener
from tracectx.report.units import counted, human_share, human_time
from tracectx.report.wording import distinctions
from tracectx.stats.reduction import StdReduction
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

DEFAULT_WIDTH = 110
_BAR_WIDTH = 24
_MOST_STUDIED = 40
"""Operations whose reductions are computed: those with most self time."""


@dataclass(frozen=True, slots=True)
class TextOptions:
    """`operations`: rows of the table; `findings`: operations explained; `contexts`: shown of each."""

    operations: int = 10
    findings: int = 3
    contexts: int = 6
    operation: str | None = None
    level: str | None = None
    width: int = DEFAULT_WIDTH
    unicode: bool = True

    def __post_init__(self) -> None:
        for name in ("operations", "findings", "contexts"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ConfigError(f"{name} must be a whole number of at least 0, got {value!r}")
        if not isinstance(self.width, int) or self.width < 60:
            raise ConfigError(f"width must be at least 60 columns, got {self.width!r}")
        if self.level is not None and self.level not in LEVELS:
            raise ConfigError(f"level must be one of {', '.join(map(repr, LEVELS))}, got {self.level!r}")


def text_lines(tree: CallingContextTree, counters: Mapping[str, int], options: TextOptions) -> Iterator[str]:
    """The lines of the report, none longer than `width` unless a name is, without trailing blanks."""
    for line in _Report(tree, counters, options).lines():
        yield line.rstrip()


class _Report:
    """One report in the making."""

    def __init__(self, tree: CallingContextTree, counters: Mapping[str, int], options: TextOptions) -> None:
        self._tree = tree
        self._counters = counters
        self._options = options
        chosen = [tree[options.operation]] if options.operation is not None else tree.operations.values()
        self._operations = sorted(chosen, key=lambda context: (-context.self_time.total_ns, context.operation))
        self._total_self_ns = sum(context.self_time.total_ns for context in tree.operations.values())
        self._short: Callable[[str], str] = shortener(tree.operations)
        self._reductions: dict[str, dict[str, StdReduction]] = {
            context.operation: tree.std_reductions(context.operation) for context in self._operations[:_MOST_STUDIED]
        }

    def lines(self) -> Iterator[str]:
        yield from self._head()
        if self._operations:
            yield from self._table()
            yield from self._explanations()
        yield from self._health()
        yield from self._more()

    def _head(self) -> Iterator[str]:
        tree = self._tree
        info = tree.info
        if not tree.executions:
            yield "tracectx: nothing recorded yet."
            yield "Decorate a function with @tracectx.probe, or name what to record: tracectx.instrument('your_package.*')."
            return
        yield (
            f"tracectx: {counted(tree.executions, 'execution')} of {counted(len(tree.operations), 'operation')}"
            f" in {counted(tree.traces, 'trace')}"
            f"  ({info.clock} clock, {'/'.join(info.cores)} core, {'/'.join(info.attachments)})"
        )

    def _table(self) -> Iterator[str]:
        shown = self._operations[: self._options.operations]
        rows = [self._row(context) for context in shown]
        name_width = max(9, min(max(len(row[0]) for row in rows), self._options.width - 86)) if rows else 9
        yield ""
        yield (
            f"{'operation':{name_width}} {'count':>9} {'self':>5} {'mean':>8} {'p50':>8} {'p95':>8} {'p99':>8} {'std':>8}"
            f"  {'contexts':>11} {'explained':>9}"
        )
        for name, *cells in rows:
            widths = (9, 5, 8, 8, 8, 8, 8)
            figures = " ".join(f"{cell:>{width}}" for cell, width in zip(cells[:7], widths, strict=True))
            yield f"{_fitted(name, name_width):{name_width}} {figures}  {cells[7]:>11} {cells[8]:>9}"
        rest = self._operations[len(shown) :]
        if rest:
            share = sum(context.self_time.total_ns for context in rest) / max(1, self._total_self_ns)
            yield f"... and {counted(len(rest), 'more operation')} with {human_share(share)} of the self time"
        yield f"{'':{name_width}} contexts: by caller/stack/subtree/trace; explained: of the std, beyond chance"

    def _row(self, context: Context) -> list[str]:
        model = context.response_time
        numbers = "/".join(f"{self._tree.context_count(context.operation, level)}" for level in LEVELS)
        return [
            self._short(context.operation),
            f"{context.count:,}",
            human_share(context.self_time.total_ns / self._total_self_ns if self._total_self_ns else 0.0),
            *(human_time(value) for value in (model.mean, model.p50, model.p95, model.p99, model.std)),
            numbers,
            self._explained(context.operation),
        ]

    def _explained(self, operation: str) -> str:
        reductions = self._reductions.get(operation)
        if reductions is None:
            return "-"
        best = max((reductions[level] for level in LEVELS), key=lambda reduction: reduction.adjusted)
        return human_share(best.adjusted) if counts(best) else "-"

    def _explanations(self) -> Iterator[str]:
        found = []
        for context in self._operations[:_MOST_STUDIED]:
            one = finding(self._tree, context, self._reductions[context.operation])
            if one is not None:
                found.append(one)
        found.sort(key=lambda one: (-one.weight, one.operation.operation))
        for one in found[: self._options.findings]:
            yield ""
            yield from self._explanation(one)
        if not found:
            yield ""
            yield "No operation has contexts whose times differ by more than chance."

    def _explanation(self, one: Finding) -> Iterator[str]:
        level = self._options.level or one.level
        reduction = self._reductions[one.operation.operation][level]
        what = {
            "caller": "Who calls it explains",
            "stack": "The path on which it is called explains",
            "subtree": "The calls made inside explain",
            "trace": "The whole trace it is part of explains",
        }[level]
        yield (
            f"Why is {self._short(one.operation.operation)} sometimes slow? {what}"
            f" {human_share(reduction.adjusted)} of its standard deviation (by chance: {human_share(reduction.null)})."
        )
        contexts = sorted(
            self._tree.contexts(one.operation.operation, level), key=lambda context: -context.response_time.total_ns
        )
        shown = sorted(contexts[: self._options.contexts], key=lambda context: -context.response_time.mean)
        yield from self._contexts(one.operation, shown)
        if len(contexts) > len(shown):
            rest = contexts[len(shown) :]
            count = sum(context.count for context in rest)
            yield f"  ... and {counted(len(rest), 'more context')} with {counted(count, 'execution')}"

    def _contexts(self, operation: Context, contexts: Sequence[Context]) -> Iterator[str]:
        bounds = axis([context.response_time for context in contexts])
        low, high = human_time(bounds[0]), human_time(bounds[1])
        scale = f"{low} {'.' * max(1, _BAR_WIDTH - len(low) - len(high) - 2)} {high}"
        yield f"  {'share':>5} {'count':>9} {'mean':>8} {'p95':>8}  {scale:{_BAR_WIDTH}}"
        blocks = BLOCKS if self._options.unicode else ASCII_BLOCKS
        for context, words in zip(contexts, distinctions(contexts, self._short), strict=True):
            model = context.response_time
            start = (
                f"  {human_share(context.count / operation.count):>5} {context.count:>9,} {human_time(model.mean):>8}"
                f" {human_time(model.p95):>8}  {bars(model, bounds, _BAR_WIDTH, blocks)}  "
            )
            yield start + _fitted(
                words if self._options.unicode else words.replace("←", "<-"), max(24, self._options.width - len(start))
            )

    def _health(self) -> Iterator[str]:
        counters = self._counters
        cost_ns = self._tree.info.probe_cost_ns
        lost = [f"{counted(counters[name], noun)}{rest}" for name, noun, rest in _HEALTH if counters.get(name)]
        yield ""
        yield f"Recording: {', '.join(lost) if lost else 'nothing lost'}; a probe costs about {human_time(cost_ns / 1e9)}."
        dear = [
            self._short(context.operation)
            for context in self._operations[: self._options.operations]
            if context.response_time.mean < 5 * cost_ns / 1e9
        ]
        if dear:
            yield _fitted(f"  The probe is 20 % or more of: {', '.join(dear)}.", self._options.width)

    def _more(self) -> Iterator[str]:
        if self._tree.executions and self._options.operation is None:
            yield "More: report(operation='NAME'), report(operations=50, contexts=20), tree.contexts('NAME', level='trace')."


_HEALTH = (
    ("dropped", "execution", " dropped"),
    ("dropped_traces", "trace", " dropped"),
    ("truncated_traces", "trace", " truncated"),
    ("late_executions", "late execution", ""),
    ("unfinished", "unfinished execution", ""),
    ("open", "execution", " still open"),
    ("sampled_out_traces", "trace", " sampled out"),
    ("evicted_classes", "trace class", " evicted"),
    ("vanished_executions", "execution", " vanished by a reset"),
    ("clock_steps", "step", " back of the clock"),
    ("probe_errors", "error", " in probes"),
)


def _fitted(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."
