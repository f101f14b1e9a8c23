"""The ring of one thread: what its probes wrote and the fold has not read yet.

Written by the owning thread alone, read by whoever holds the consumer's lock. Both ends are single atomic operations of a
deque, so a signal handler or a `__del__` that records in the middle of a probe leaves it whole.
"""

from __future__ import annotations

from collections import deque

from tracectx.core.events import ENTER, Event


class Ring:
    """`written` = `consumed` + what is in `events`; events before `committed` belong to complete synchronous traces."""

    __slots__ = ("committed", "consumed", "events", "retired")

    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        self.consumed = 0
        self.committed = 0
        self.retired = False  # the thread has ended; removed once it is read

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
        if any(event[1] != strand for event in tail):
            self.events.extend(tail)
            return None
        return sum(event[0] == ENTER for event in tail)
