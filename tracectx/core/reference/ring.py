"""The ring of one thread: what its probes wrote and the fold has not read yet.

Written by the owning thread alone, read by whoever holds the consumer's lock. Both ends are single atomic operations of a
deque, so a signal handler or a `__del__` that records in the middle of a probe leaves it whole.
"""

from __future__ import annotations

from collections import deque
from itertools import count

from tracectx.core.events import CLOSE, ENTER, RELEASE, Event


class Ring:
    """`written` = `consumed` + what is in `events`; events before `committed` belong to complete synchronous traces."""

    __slots__ = ("committed", "consumed", "dropped_executions", "dropped_traces", "events", "retired", "stalled")

    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        self.consumed = 0
        self.committed = 0
        self.retired = False  # the thread has ended; removed once it is read
        self.stalled = 0  # passes without progress that the fold has waited for another ring
        # Counted by `next`, which no interruption can tear.
        self.dropped_executions = count()
        self.dropped_traces = count()

    @property
    def written(self) -> int:
        return self.consumed + len(self.events)

    def take_back(self, start: int, strand: int) -> int | None:
        """Removes the trace that the strand wrote since `start`, and gives the number of executions removed.

        None, and nothing is removed, if some of it has been read, or if another strand wrote in between. The caller holds
        the consumer's lock.
        """
        if self.consumed > start:
            return None
        tail = [self.events.pop() for _ in range(self.written - start)][::-1]
        foreign = [event for event in tail if event[1] != strand]
        if any(event[0] not in (RELEASE, CLOSE) for event in foreign):
            self.events.extend(tail)
            return None
        self.events.extend(foreign)
        return sum(event[0] == ENTER for event in tail)


def counted(counter: count[int]) -> int:
    """How often `next` was called on a counter, without calling it."""
    return int(counter.__reduce__()[1][0])
