"""Where a thread is: slots, strands and positions, the producer's half of DESIGN.md section 5.

Everything here is touched on the thread that is probed, except that positions and strands may die on any thread, which
then writes the event that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Protocol
from weakref import WeakKeyDictionary, ref

SAMPLED_OUT, DROPPED = 1, 2
"""Why a strand is muted: below a muted execution nothing is recorded."""


class Owner(Protocol):
    """What strands and positions need of the recorder that made them."""

    epoch: int

    def no_clock(self) -> int: ...

    def position_died(self, position: Position) -> None: ...

    def strand_died(self, strand: Strand) -> None: ...


class RecordingHandle:
    """What the producer needs to know of a recording, and what it counts for it (by `next`, which nothing can tear)."""

    __slots__ = ("__weakref__", "clock_read", "draws", "dropped_executions", "dropped_traces", "id", "sample", "sampled_out")

    def __init__(self, id: int, clock_read: Callable[[], int], sample: float) -> None:
        self.id = id
        self.clock_read = clock_read
        self.sample = sample
        self.reset()

    def reset(self) -> None:
        self.draws = count(1)
        self.dropped_executions = count()
        self.dropped_traces = count()
        self.sampled_out = count()


def counted(counter: count[int]) -> int:
    """How often `next` was called on a counter, without calling it."""
    return int(repr(counter)[6:-1])  # "count(n)"; its pickle support goes away with 3.14


class Position:
    """A named execution. While this object lives, the trace can still get children there."""

    __slots__ = ("epoch", "id", "muted", "recorder", "recording")

    def __init__(self, recorder: Owner, id: int, recording: RecordingHandle | None, muted: int) -> None:
        self.recorder = recorder
        self.id = id
        self.recording = recording
        self.muted = muted
        self.epoch = recorder.epoch

    def __del__(self) -> None:
        if self.id:
            self.recorder.position_died(self)


class Strand:
    """A stack of open executions; `up` is the position that its outermost ones hang from.

    The fold keeps the stack itself; here only its depth is known. `cover` is the strand that stands in for this one while a
    root probe or a `detached` block runs on top of it.
    """

    __slots__ = (
        "announced",
        "cover",
        "covered",
        "depth",
        "detached",
        "epoch",
        "escaped",
        "generator",
        "id",
        "muted",
        "owned",
        "read",
        "recorder",
        "recording",
        "start",
        "sunk",
        "token",
        "up",
    )

    def __init__(self, recorder: Owner, id: int, up: Position | None, token: Token | None) -> None:
        self.recorder = recorder
        self.id = id
        self.up = up
        # Weak: it is only compared, and would keep open the trace of whoever wrote it.
        self.token = ref(token) if token is not None else None
        self.depth = 0
        self.epoch = recorder.epoch
        self.cover: Strand | None = None
        self.covered: Strand | None = None
        self.detached = False  # a `detached` block holds it: it stays though it is empty
        self.muted = up.muted if up is not None else 0
        self.sunk = False  # its whole trace was taken back; muted until it is empty
        self.start = 0  # `written` of the ring where its synchronous trace began
        self.recording = up.recording if up is not None else None
        self.read = self.recording.clock_read if self.recording is not None else recorder.no_clock
        self.announced = False  # its OPEN has been written
        self.owned = True  # a slot's strand: its end must be told; a resumable tells by itself
        self.generator = False  # of a generator: what runs on it must not write the context variable
        self.escaped = False  # something outside its ring refers to the trace now open on it

    def inherited(self, token: Token) -> bool:
        """Whether the strand began, or went on, with this token in its context."""
        return self.token is not None and self.token() is token

    def __del__(self) -> None:
        if self.announced and self.owned:
            self.recorder.strand_died(self)


class Muted:
    """The token of an execution that is not recorded, below which nothing is: its `leave` ends that."""

    __slots__ = ("strand",)

    def __init__(self, strand: Strand) -> None:
        self.strand = strand


class Token:
    """What the context variable holds: the position that was current, and the slot in which it was."""

    __slots__ = ("__weakref__", "epoch", "position", "slot")

    def __init__(self, slot: Slot, position: Position | None, epoch: int) -> None:
        self.slot = slot
        self.position = position
        self.epoch = epoch


class Slot:
    """One per (thread, greenlet, task): has a current strand, and one strand per position inherited from elsewhere."""

    __slots__ = ("current", "foreign", "owners", "token_unknown")

    def __init__(self, current: Strand, token_unknown: bool) -> None:
        self.current = current
        self.foreign: WeakKeyDictionary[Token, Strand] | None = None
        self.owners: tuple[ref[object], ...] = ()  # their callbacks forget the slot
        self.token_unknown = token_unknown  # made before its task ran: the token is read at the first look
