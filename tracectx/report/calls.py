"""How often contexts make which calls, and which of these calls tell them apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from tracectx.tree.call_tree import CallTree

_MOST_FEATURES = 3
_ABOUT_EQUAL = 0.9
"""Calls that explain this share of what the best does cannot be told apart."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation somewhere inside; with `ending`, one that ended so instead of returning."""

    operation: str
    ending: str | None = None


Times: TypeAlias = tuple[int, int]
"""From and to: runs of bucketed loops give a range."""
Calls: TypeAlias = Mapping[Call, Times]
"""Those nearest to the root first."""

NONE: Times = (0, 0)


def calls_inside(tree: CallTree, known: dict[int, Calls]) -> Calls:
    """How often each call is made below the root of a tree.

    `known` keeps what was found for subtrees, which trees of one recording share; it may live as long as they do.
    """
    pending = [tree]
    while pending:
        node = pending[-1]
        missing = [child for child in node.children if id(child) not in known]
        if id(node) in known or not missing:
            pending.pop()
            known.setdefault(id(node), _sum_of(node, known))
        else:
            pending += missing
    return known[id(tree)]


def _sum_of(node: CallTree, known: Mapping[int, Calls]) -> Calls:
    found: dict[Call, Times] = {}
    for child in node.children:
        for call in _calls_of(child):
            _add(found, call, child.repeat, (1, 1))
    for child in node.children:
        for call, times in known[id(child)].items():
            _add(found, call, times, child.repeat)
    return found


def _calls_of(node: CallTree) -> list[Call]:
    if node.operation is None:
        return []
    own = [Call(node.operation)]
    return own if node.ending == "returned" else [*own, Call(node.operation, node.ending)]


def _add(found: dict[Call, Times], call: Call, times: Times, repeat: Times) -> None:
    low, high = found.get(call, NONE)
    found[call] = (low + times[0] * repeat[0], high + times[1] * repeat[1])


def depths(trees: Iterable[CallTree]) -> dict[str, int]:
    """How many calls below a root each operation is first found."""
    found: dict[str, int] = {}
    level, depth = list(trees), 0
    seen: set[int] = set()  # shared subtrees are looked at where they are nearest
    while level:
        level = [child for node in level for child in node.children if id(child) not in seen]
        depth += 1
        for node in level:
            seen.add(id(node))
            found.setdefault(node.operation or "", depth)
    return found


def telling_calls(contexts: Sequence[tuple[Calls, int, float]], shown: int, depth: Mapping[str, int]) -> list[Call]:
    """The calls that tell the first `shown` of some contexts (calls, count, mean) apart.

    The one first whose being made, or made more often, goes with the largest differences of times; of calls that do about
    equally well the nearest. At most three, and none that tells nothing new.
    """
    scores = {call: _score(call, contexts) for call in dict.fromkeys(call for calls, _, _ in contexts for call in calls)}
    chosen: list[Call] = []
    groups: list[tuple[Times, ...]] = [()] * shown
    while len(chosen) < _MOST_FEATURES and len(set(groups)) < shown:
        splits = {
            call: [(*group, calls.get(call, NONE)) for group, (calls, _, _) in zip(groups, contexts, strict=False)]
            for call in scores
        }
        telling = [call for call in scores if len(set(splits[call])) > len(set(groups))]
        if not telling:
            break
        best = max(scores[call] for call in telling)
        equal = [call for call in telling if scores[call] >= _ABOUT_EQUAL * best]
        chosen.append(min(equal, key=lambda call: (depth.get(call.operation, 0), -round(scores[call] / (best or 1), 6))))
        groups = splits[chosen[-1]]
    return chosen


def _score(call: Call, contexts: Sequence[tuple[Calls, int, float]]) -> float:
    """The largest sum of squares between contexts with at least and with less than any number of these calls."""
    rows = sorted((calls.get(call, NONE), count, count * mean) for calls, count, mean in contexts)
    count, total = sum(row[1] for row in rows), sum(row[2] for row in rows)
    best, below_count, below_total = 0.0, 0, 0.0
    for row, following in pairwise(rows):
        below_count += row[1]
        below_total += row[2]
        if row[0] != following[0]:
            difference = below_total / below_count - (total - below_total) / (count - below_count)
            best = max(best, below_count * (count - below_count) / count * difference**2)
    return best
