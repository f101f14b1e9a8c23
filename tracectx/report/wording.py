"""What distinguishes contexts of one operation, in words: who calls, and which calls are made inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tracectx.tree.call_tree import CallTree
from tracectx.tree.context import Context

Calls = dict[str, tuple[int, int]]
"""How often each operation is called, from and to."""

_MOST_PHRASES = 3


def distinctions(contexts: Sequence[Context], short: Callable[[str], str]) -> list[str]:
    """For each context what it has and the others have not. `short` gives the name to show of an operation."""
    calls = [calls_inside(context.shape) if context.shape is not None else {} for context in contexts]
    phrases: list[list[str]] = []
    for index, context in enumerate(contexts):
        if context.is_other:
            phrases.append([f"(other): {_REASONS[context.other_reason or '']}"])
            continue
        others = [calls[other] for other in range(len(contexts)) if other != index and not contexts[other].is_other]
        phrases.append(
            _caller(context, contexts, short) + _ending(context, contexts) + _differing_calls(calls[index], others, short)
        )
    return ["; ".join(found[:_MOST_PHRASES]) or "differs in the order of calls or the place in the trace" for found in phrases]


_REASONS = {
    "": "not kept apart",
    "evicted": "contexts that had to make room",
    "truncated": "traces too large to keep whole",
    "open": "traces that are not complete yet",
    "late": "came after their trace was closed",
    "limit": "over the limit of contexts",
}


def calls_inside(tree: CallTree) -> Calls:
    """How often each operation is called anywhere below the root; runs of bucketed loops give a range."""
    low: Counter[str] = Counter()
    high: Counter[str] = Counter()
    pending = [(tree, 1, 1)]
    while pending:
        node, least, most = pending.pop()
        for child in node.children:
            times = (least * child.repeat[0], most * child.repeat[1])
            if child.operation is not None:
                low[child.operation] += times[0]
                high[child.operation] += times[1]
            pending.append((child, *times))
    return {name: (low[name], high[name]) for name in low}


def _caller(context: Context, contexts: Sequence[Context], short: Callable[[str], str]) -> list[str]:
    stacks = {other.stack for other in contexts}
    if context.stack is not None and len(stacks) > 1:
        return [_path(context.stack, [stack for stack in stacks if stack is not None], short)]
    if len({other.caller for other in contexts}) > 1:
        return [f"called from {short(context.caller)}" if context.caller is not None else "called by nobody (a root)"]
    return []


def _path(stack: tuple[str, ...], stacks: Sequence[tuple[str, ...]], short: Callable[[str], str]) -> str:
    """The callers up to the one that tells this stack from all others, nearest first; to the root if need be."""
    callers = stack[-2::-1]
    if not callers:
        return "called by nobody (a root)"
    for depth in range(1, len(callers) + 1):
        if sum(other[-2::-1][:depth] == callers[:depth] for other in stacks) == 1:
            return "called from " + " ← ".join(short(name) for name in callers[:depth])
    return "called from " + " ← ".join(short(name) for name in callers) + " (a root)"


def _ending(context: Context, contexts: Sequence[Context]) -> list[str]:
    if context.shape is None or context.level != "subtree":
        return []
    endings = {other.shape.ending for other in contexts if other.shape is not None}
    return [context.shape.ending] if len(endings) > 1 and context.shape.ending != "returned" else []


def _differing_calls(own: Calls, others: Sequence[Calls], short: Callable[[str], str]) -> list[str]:
    found = []
    for name in sorted(own, key=lambda name: -own[name][1]):
        if any(other.get(name) != own[name] for other in others):
            times = _times(own[name]) if any(name in other for other in others) else ""
            found.append(f"calls {short(name)}{times}")
    missing = sorted({name for other in others for name in other} - set(own))
    if not found and missing:
        found = [f"does not call {short(name)}" for name in missing]
    return found


def _times(calls: tuple[int, int]) -> str:
    low, high = calls
    if low == high:
        return f" {low} time{'' if low == 1 else 's'}"
    return f" {low} to {high} times"
