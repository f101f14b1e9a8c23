"""What distinguishes contexts of one operation, in words: who calls it, which calls are made inside, how it ends. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from tracectx.report.calls import NONE, Call, Calls, Times, calls_inside, depths, telling_calls
from tracectx.tree.context import Context

Shorten = Callable[[str], str]

_NOBODY = "called by nobody (a root)"
_NO_WORDS = "the same calls in another order"
_REASONS = {
    "evicted": "rare contexts that had to make room",
    "truncated": "from traces too large to keep whole",
    "open": "from traces that are not complete yet",
    "late": "came after their trace was complete",
    "limit": "over the limit of contexts",
}
_ENDS = {
    "raised": ("raises", "does not raise"),
    "cancelled": ("is cancelled", "is not cancelled"),
    "closed": ("is closed early", "is not closed early"),
    "abandoned": ("is abandoned", "is not abandoned"),
}


@dataclass(frozen=True, slots=True)
class Distinctions:
    """`words`: for each context shown, what it has or does and others do not."""

    words: tuple[str, ...]
    main: Call | None
    """The call that tells most, if any does."""
    depth: int
    """How many calls below it is made."""


def distinctions(contexts: Sequence[Context], shown: int, short: Shorten) -> Distinctions:
    """What tells the first `shown` contexts apart; the others help to find which calls matter. `short` shortens names."""
    kept = [context for context in contexts[:shown] if not context.is_other]
    compared = [*kept, *(context for context in contexts[shown:] if not context.is_other)]
    shapes = [context.shape for context in compared]
    known: dict[int, Calls] = {}
    calls = [{} if shape is None else calls_inside(shape, known) for shape in shapes]
    weighed = [(made, one.count, one.response_time.mean) for made, one in zip(calls, compared, strict=True)]
    depth = depths(shape for shape in shapes if shape is not None)
    told = telling_calls(weighed, len(kept), depth)
    words: list[str] = []
    own = iter(calls)
    for context in contexts[:shown]:
        if context.is_other:
            words.append(_REASONS.get(context.other_reason or "", "not kept apart"))
            continue
        phrases = [*_calls(told, next(own), calls[: len(kept)], short, context.level), *_ending(context, kept)]
        words.append("; ".join([*phrases, *_caller(context, kept, short), *_place(context, kept)]) or _NO_WORDS)
    return Distinctions(tuple(words), told[0], depth[told[0].operation]) if told else Distinctions(tuple(words), None, 0)


def _calls(told: Sequence[Call], own: Calls, others: Sequence[Calls], short: Shorten, level: str) -> list[str]:
    """The calls of `told` that are made; if none is, that the first of them is not. At level "trace" anywhere in the trace."""
    where = "in a trace that " if level == "trace" else ""
    made = [
        f"{short(call.operation)}{_times(own[call], [calls.get(call, NONE) for calls in others])}"
        for call in told
        if call in own and call.ending is None
    ]
    ended = [f"{short(call.operation)} {_ENDS[call.ending][0]}" for call in told if call in own and call.ending is not None]
    if made or ended or not told:
        return [*([f"{where}calls {', '.join(made)}"] if made else []), *ended]
    name, ending = short(told[0].operation), told[0].ending
    return [f"{where}does not call {name}" if ending is None else f"{name} {_ENDS[ending][1]}"]


def _times(times: Times, all_times: Sequence[Times]) -> str:
    """How often, where contexts that make the call differ in it."""
    if len({other for other in all_times if other[1] > 0}) < 2:
        return ""
    low, high = times
    if low == high:
        return " once" if low == 1 else f" {low} times"
    return f" {low} to {high} times"


def _ending(context: Context, others: Sequence[Context]) -> list[str]:
    """How it ends, where the subtree says so and it tells something."""
    if context.level != "subtree" or context.shape is None:
        return []
    endings = {other.shape.ending for other in others if other.shape is not None}
    if len(endings) == 1:
        return []
    return [_ENDS[context.shape.ending][0] if context.shape.ending != "returned" else "returns"]


def _caller(context: Context, others: Sequence[Context], short: Shorten) -> list[str]:
    if context.level == "caller":
        return [f"called from {short(context.caller)}" if context.caller is not None else _NOBODY]
    stacks = {other.stack for other in others if other.stack is not None}
    return [_path(context.stack, stacks, short)] if context.stack is not None and len(stacks) > 1 else []


def _path(stack: tuple[str, ...], stacks: set[tuple[str, ...]], short: Shorten) -> str:
    """The callers up to the one that tells this stack from all others, nearest first; to the root if need be."""
    callers = stack[-2::-1]
    if not callers:
        return _NOBODY
    for depth in range(1, len(callers) + 1):
        if sum(other[-2::-1][:depth] == callers[:depth] for other in stacks) == 1:
            return "called from " + " ← ".join(short(name) for name in callers[:depth])
    return "called from " + " ← ".join(short(name) for name in callers) + " (a root)"


def _place(context: Context, others: Sequence[Context]) -> list[str]:
    """Which of the executions of the operation in its trace it is, where traces have several."""
    if context.level != "trace":
        return []
    places = {_number_in_trace(other) for other in others}
    return [f"number {_number_in_trace(context)} in its trace"] if len(places) > 1 else []


def _number_in_trace(context: Context) -> int:
    if context.shape is None or context.position is None:
        return 1
    return 1 + sum(node.operation == context.operation for node in islice(context.shape.walk(), context.position))
