"""A clock that moves only when told, so that tests of times are exact and never wait."""

from __future__ import annotations

import random

from tracectx.errors import ConfigError


class ManualClock:
    """Give it to a recording: `with tracectx.recording(clock=clock): ...; clock.advance(0.5)`.

    It starts at a random time unless told, so that no test rests on where it starts. Safe to read on any thread; advance it
    on one.
    """

    def __init__(self, start_ns: int | None = None) -> None:
        self.now_ns = random.randrange(10**12, 10**15) if start_ns is None else start_ns

    def __call__(self) -> int:
        """Nanoseconds."""
        return self.now_ns

    def advance(self, seconds: float) -> None:
        """`ConfigError` for a negative time: use `set_ns` to let a clock step back on purpose."""
        self.advance_ns(round(seconds * 1e9))

    def advance_ns(self, nanoseconds: int) -> None:
        """As `advance`, in integer nanoseconds."""
        if nanoseconds < 0:
            raise ConfigError(f"a clock advances by 0 or more, got {nanoseconds} ns; use set_ns to step it back")
        self.now_ns += nanoseconds

    def set_ns(self, now_ns: int) -> None:
        """Sets the time, also backwards."""
        self.now_ns = now_ns
