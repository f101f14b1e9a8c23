"""Sums and histograms of one context, exact and additive. Owned by the fold, under the consumer's lock."""

from __future__ import annotations

from tracectx.core.reference.nodes import Node
from tracectx.stats.histogram import bucket_of

_BATCH = 32
"""Values are summed in batches by C loops; until then they are kept as they are (DESIGN.md section 7: first values inline)."""


class Summary:
    """One time of one context, in integer nanoseconds."""

    __slots__ = ("_histogram", "_pending", "_total", "maximum", "minimum", "squares")

    def __init__(self) -> None:
        self._pending: list[int] = []
        self._total = 0
        self.squares = 0
        self.minimum = -1  # -1: nothing yet
        self.maximum = 0
        self._histogram: dict[int, int] | None = None  # made with the first batch: most contexts hold few values

    @property
    def histogram(self) -> dict[int, int]:
        """Counts by bucket of what has been worked off."""
        return self._histogram if self._histogram is not None else {}

    def add(self, value: int) -> None:
        self._pending.append(value)
        if len(self._pending) >= _BATCH:
            self.settle()

    def settle(self) -> Summary:
        """Works off what is pending."""
        pending = self._pending
        if pending:
            self._pending = []
            self._total += sum(pending)
            self.squares += sum([value * value for value in pending])
            self._widen(min(pending), max(pending))
            histogram = self._counts()
            for value in pending:
                bucket = bucket_of(value)
                histogram[bucket] = histogram.get(bucket, 0) + 1
        return self

    @property
    def total(self) -> int:
        return self._total

    def merge(self, other: Summary) -> None:
        """Adds what another context holds."""
        self.settle()
        if other.settle().minimum < 0:
            return
        self._total += other._total
        self.squares += other.squares
        self._widen(other.minimum, other.maximum)
        histogram = self._counts()
        for bucket, number in other.histogram.items():
            histogram[bucket] = histogram.get(bucket, 0) + number

    def _counts(self) -> dict[int, int]:
        if self._histogram is None:
            self._histogram = {}
        return self._histogram

    def _widen(self, minimum: int, maximum: int) -> None:
        self.minimum = minimum if self.minimum < 0 else min(self.minimum, minimum)
        self.maximum = max(self.maximum, maximum)


class Leaf:
    """What is counted in one leaf context."""

    __slots__ = ("endings", "first", "outermost_ns", "response", "resumptions", "self_time", "since_ns", "suspended_ns")

    def __init__(self, since_ns: int = 0) -> None:
        self.endings = [0, 0, 0, 0, 0]
        self.resumptions = 0
        self.suspended_ns = 0
        self.outermost_ns = 0
        self.first: tuple[int, int, int] | None = None  # entry, response time, self time of the first execution
        self.since_ns = since_ns
        self.response = Summary()
        self.self_time = Summary()

    @property
    def count(self) -> int:
        return sum(self.endings)

    def add(self, node: Node) -> None:
        self.endings[node.ending] += 1
        self.resumptions += node.resumptions
        self.suspended_ns += node.suspended_ns
        if node.stack.outermost:
            self.outermost_ns += node.response_ns
        if self.first is None or node.entry_ns <= self.first[0]:
            seen = (node.entry_ns, node.response_ns, node.self_ns)
            self.first = seen if self.first is None else min(self.first, seen)
        self.response.add(node.response_ns)
        self.self_time.add(node.self_ns)

    def merge(self, other: Leaf) -> None:
        for ending, number in enumerate(other.endings):
            self.endings[ending] += number
        self.resumptions += other.resumptions
        self.suspended_ns += other.suspended_ns
        self.outermost_ns += other.outermost_ns
        if self.first is None or (other.first is not None and other.first < self.first):
            self.first = other.first
        self.response.merge(other.response)
        self.self_time.merge(other.self_time)
