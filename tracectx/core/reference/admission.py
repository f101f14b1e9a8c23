"""Who is kept when there is no room: random admission, weighted against the smallest.

Source: RAP, "Randomized admission policy for efficient top-k and frequency estimation", Ben Basat, Einziger, Friedman,
Kassner, INFOCOM 2017. A newcomer takes the place of the smallest member, of weight w, with probability 1 / (w + 1), and then
weighs w + 1. Draws come from the newcomer's digest and a counter, so that runs repeat.

Used by the fold alone, under the consumer's lock.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from typing import Generic, Protocol, TypeVar

from tracectx.stats.mixing import combine64


class Member(Protocol):
    weight: int
    cost: int
    order: int
    gone: bool


M = TypeVar("M", bound=Member)


class Pool(Generic[M]):
    """Members whose costs add up to at most `limit`, and that are at most `most`."""

    def __init__(self, limit: int, most: int) -> None:
        self.limit = limit
        self.most = most
        self.cost = 0
        self.size = 0
        self.turned_away = False  # it has been full: who comes later does not count from the start
        self._heap: list[tuple[int, int, M]] = []  # weights may be out of date, never too large
        self._order = 0
        self._draws = 0

    def make_room(self, cost: int, digest: int) -> tuple[bool, list[M]]:
        """Whether a newcomer is admitted, and the members that it drives out (they are already taken off)."""
        evicted: list[M] = []
        if cost > self.limit:
            self.turned_away = True
            return False, evicted
        while self.cost + cost > self.limit or self.size >= self.most:
            self.turned_away = True
            smallest = self._smallest()
            self._draws += 1
            if combine64(digest, self._draws) * (smallest.weight + 1) >= 1 << 64:
                return False, evicted
            evicted.append(self.remove(smallest))
        return True, evicted

    def add(self, member: M, weight: int) -> None:
        self._order += 1
        member.order, member.weight, member.gone = self._order, weight, False
        self.cost += member.cost
        self.size += 1
        heappush(self._heap, (weight, self._order, member))

    def remove(self, member: M) -> M:
        member.gone = True
        self.cost -= member.cost
        self.size -= 1
        return member

    def shrink(self) -> list[M]:
        """Takes off the smallest members until the limit is kept."""
        evicted = []
        while self.size and (self.cost > self.limit or self.size > self.most):
            self.turned_away = True
            evicted.append(self.remove(self._smallest()))
        return evicted

    def _smallest(self) -> M:
        while True:
            weight, order, member = self._heap[0]
            if member.gone or member.order != order:
                heappop(self._heap)
            elif member.weight != weight:
                heapreplace(self._heap, (member.weight, order, member))
            else:
                return member
