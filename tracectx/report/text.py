"""The report as text: which operations take the time, and why the ones with most to tell are sometimes slow.

Pure: from a tree to lines. Colours and terminals are the business of `tracectx.report.write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tracectx.errors import ConfigError
from tracectx.report.columns import columns
from tracectx.report.explanation import Explainer, Explanation
from tracectx.report.findings import LEVELS, Explained, counts
from tracectx.report.names import shortener
from tracectx.report.sentences import enumerated, wrapped
from tracectx.report.units import counted, human_count, human_share, human_time
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

DEFAULT_WIDTH = 100
NARROWEST = 80
_ASCII = str.maketrans(dict(zip("µ…·←▁▂▃▄▅▆▇█", ["u", "..", ".", "<-", *".:-=+*#@"], strict=True)))
_MANY = 10**6
_DEAR = 0.2
"""The share of self time from which the cost of a probe is pointed out."""


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
        if not isinstance(self.width, int) or isinstance(self.width, bool) or self.width < NARROWEST:
            raise ConfigError(f"width must be at least {NARROWEST} columns, got {self.width!r}")
        if self.operation is not None and not isinstance(self.operation, str):
            raise ConfigError(f"operation must be the name of an operation, got {self.operation!r}")
        if self.level is not None and self.level not in LEVELS:
            raise ConfigError(f"level must be one of {', '.join(map(repr, LEVELS))}, got {self.level!r}")


def text_lines(tree: CallingContextTree, counters: Mapping[str, int], options: TextOptions) -> Iterator[str]:
    """The lines of the report, none longer than `width`, without trailing blanks."""
    for line in _Report(tree, counters, options).lines():
        yield (line if options.unicode else line.translate(_ASCII)).rstrip()


class _Report:
    """One report in the making."""

    def __init__(self, tree: CallingContextTree, counters: Mapping[str, int], options: TextOptions) -> None:
        self._tree = tree
        self._counters = counters
        self._options = options
        self._short = shortener(tree.operations)
        chosen = tree.operations.values() if options.operation is None else [tree[self._full_name(options.operation)]]
        self._operations = sorted(chosen, key=lambda context: (-context.self_time.total_ns, context.operation))
        self._total_self_ns = sum(context.self_time.total_ns for context in tree.operations.values())
        self._explained = Explained(tree)
        self._shown = self._operations[: options.operations]

    def _full_name(self, operation: str) -> str:
        """Of an operation that may be called as the report calls it; a name that is complete comes first."""
        if operation in self._tree.operations:
            return operation
        return next((name for name in self._tree.operations if self._short(name) == operation), operation)

    def lines(self) -> Iterator[str]:
        if not self._tree.executions:
            yield "tracectx: nothing recorded yet."
            yield "Decorate a function with @tracectx.probe, or name what to record: tracectx.instrument('your_package.*')."
        else:
            yield self._head()
            yield from self._table()
            yield from self._explanations()
            yield ""
        yield from self._health()
        yield from self._more()

    def _head(self) -> str:
        executions, operations = counted(self._tree.executions, "execution"), counted(len(self._tree.operations), "operation")
        return f"tracectx: {executions} of {operations} in {counted(self._tree.traces, 'trace')}"

    def _table(self) -> Iterator[str]:
        if not self._shown:
            return
        header = ["operation", "count", "self", "mean", "p50", "p95", "p99", "std", "contexts", "explained %"]
        yield ""
        yield from columns([header, *(self._row(context) for context in self._shown)], self._options.width)
        rest = self._operations[len(self._shown) :]
        if rest:
            share = self._self_share(sum(context.self_time.total_ns for context in rest))
            yield f"… and {counted(len(rest), 'more operation')} with {human_share(share)} of the self time"
        legend = "contexts, and % of std that they explain beyond chance: by caller/stack/subtree/trace"
        yield f"{legend:>{self._options.width}}" if len(legend) < self._options.width else legend

    def _row(self, context: Context) -> list[str]:
        model = context.response_time
        return [
            self._short(context.operation),
            f"{context.count:,}" if context.count < _MANY else human_count(context.count),
            human_share(self._self_share(context.self_time.total_ns)),
            *(human_time(value) for value in (model.mean, model.p50, model.p95, model.p99, model.std)),
            "/".join(human_count(self._tree.context_count(context.operation, level)) for level in LEVELS),
            self._explained_shares(context.operation),
        ]

    def _self_share(self, self_ns: int) -> float:
        return self_ns / self._total_self_ns if self._total_self_ns else 0.0

    def _explained_shares(self, operation: str) -> str:
        reductions = [self._explained.of(operation)[level] for level in LEVELS]
        shares = [f"{100 * reduction.adjusted:.0f}" if counts(reduction) else "-" for reduction in reductions]
        return "/".join(shares) if set(shares) != {"-"} else "-"

    def _explanations(self) -> Iterator[str]:
        explainer = Explainer(self._tree, self._explained, self._short, self._options.contexts, self._options.width)
        if self._options.level is not None and self._options.operation is not None:
            explanations = [explainer.at_level(self._operations[0], self._options.level)]
        else:
            explanations = explainer.explanations(self._operations, self._options.findings, self._options.level)
        for explanation in explanations:
            yield ""
            yield from _lines_of(explanation, self._options.width)
        if not explanations and self._options.findings:
            yield ""
            what = "No operation has" if self._options.operation is None else "It has no"
            yield f"{what} contexts whose times differ by more than chance."

    def _health(self) -> Iterator[str]:
        info, cost = self._tree.info, self._tree.info.probe_cost_ns / 1e9
        lost = [f"{counted(self._counters[name], noun)}{rest}" for name, noun, rest in _HEALTH if self._counters.get(name)]
        yield from wrapped(
            f"Recording ({info.clock} clock, {'/'.join(info.cores)} core, {'/'.join(info.attachments)}):"
            f" {', '.join(lost) if lost else 'nothing lost'}; a probe costs about {human_time(cost)}{self._dear(cost)}",
            self._options.width,
        )

    def _dear(self, cost: float) -> str:
        """Which operations' figures the probes themselves make up a good part of."""
        dear = [context for context in self._shown if _DEAR * context.self_time.mean < cost]
        if not dear:
            return "."
        names = enumerated([self._short(context.operation) for context in dear], 3)
        return f"; that is {100 * _DEAR:.0f} % or more of the self time of {names}."

    def _more(self) -> Iterator[str]:
        if self._tree.executions and self._options.operation is None:
            yield "More: report(operation='NAME'), report(operations=50, contexts=20), report(format='json')."


def _lines_of(explanation: Explanation, width: int) -> Iterator[str]:
    yield from wrapped(explanation.claim, width)
    yield from explanation.rows
    if explanation.likewise:
        yield from wrapped(f"  Likewise: {enumerated(explanation.likewise, 4)}.", width)


_HEALTH = (
    ("dropped", "execution", " dropped"),
    ("dropped_traces", "trace", " dropped"),
    ("truncated_traces", "trace", " truncated"),
    ("late_executions", "late execution", ""),
    ("unfinished", "unfinished execution", ""),
    ("open", "execution", " still open"),
    ("sampled_out_traces", "trace", " sampled out"),
    ("evicted_classes", "rare trace class", " evicted"),
    ("vanished_executions", "execution", " vanished by a reset"),
    ("clock_steps", "step", " back of the clock"),
    ("probe_errors", "error", " in probes"),
)
