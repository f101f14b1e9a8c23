"""Finding the strand that a probe is on: per thread, greenlet and task, with what the context variable says.

The rules are those of DESIGN.md section 5 ("strand rules").
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, ref

from tracectx.core.events import NAME, POSITION_DEATH, STRAND_DEATH, Death
from tracectx.core.reference.ring import Ring
from tracectx.core.reference.strands import Position, RecordingHandle, Slot, Strand, Token

VARIABLE: ContextVar[Token | None] = ContextVar("tracectx_position", default=None)


class ThreadState:
    """What one thread has: its ring, its own slot, and the recording it was first seen in. Dies with the thread."""

    __slots__ = ("base", "home", "pending", "ring")

    def __init__(self, ring: Ring, base: Slot, home: RecordingHandle | None) -> None:
        self.ring = ring
        self.base = base
        self.home = home
        self.pending: Position | None = None  # of the task being created: an eager one starts at once

    def __del__(self) -> None:
        self.ring.retired = True


class Locator:
    """The part of the recorder that knows where a thread is."""

    def __init__(self) -> None:
        self.epoch = 0
        self.ids = count(1)  # of strands and positions
        self.rings: list[Ring] = []
        self.deaths: deque[Death] = deque()
        self.recording = RecordingHandle(0, self.no_clock, 1.0)
        self.outermost: RecordingHandle | None = None
        self.open_roots: set[int] = set()  # strands with an open root: its size is the load
        self.slots: dict[tuple[int, int], Slot] = {}  # by (greenlet, task); threads keep their own
        self.nowhere = Slot(Strand(self, 0, None, None), False)  # of tokens that were handed over, not inherited
        self.on_thread: Callable[[], None] = nothing  # a thread is seen for the first time
        self.on_asyncio: Callable[[], None] | None = None  # to be called, once, when the program has imported asyncio
        self.wake: Callable[[], None] | None = None  # to be called, once, when the next root begins
        self._local = threading.local()
        self._registration = threading.RLock()  # a handler or `__del__` may come in between, and register too

    @staticmethod
    def no_clock() -> int:
        """The clock of a strand that belongs to no recording yet; never read for an event."""
        return 0

    def state(self) -> ThreadState:
        try:
            state: ThreadState = self._local.state
            return state
        except AttributeError:
            return self._register()

    def _register(self) -> ThreadState:
        home = self.recording if self.recording is not self.outermost else None
        state = ThreadState(Ring(), Slot(self.new_strand(None, None), False), home)
        self._local.state = state
        self.rings.append(state.ring)
        self.on_thread()
        return state

    def new_strand(self, up: Position | None, token: Token | None) -> Strand:
        if up is not None and up.epoch != self.epoch:
            up = None
        return Strand(self, next(self.ids), up, token)

    def strand(self, state: ThreadState) -> Strand:
        """The strand on which the thread is now."""
        slot = self.slot(state)
        strand = slot.current
        token = VARIABLE.get()
        if token is not None and token.slot is not slot and token.epoch == self.epoch and not strand.inherited(token):
            strand = self._foreign(slot, token)
        while strand.cover is not None:
            strand = strand.cover
        return strand

    def slot(self, state: ThreadState) -> Slot:
        greenlet, task = _current_greenlet(), _current_task()
        if self.on_asyncio is not None and "asyncio.events" in sys.modules:
            self._found_asyncio(state, task)
        if greenlet is None and task is None:
            return state.base
        slot = self.slots.get((id(greenlet) if greenlet else 0, id(task) if task else 0))
        if slot is None:
            token = VARIABLE.get()
            up = state.pending or (token.position if token is not None and token.epoch == self.epoch else None)
            state.pending = None
            slot = self._new_slot(Slot(self.new_strand(up, token), False), greenlet, task)
        elif slot.token_unknown:
            slot.token_unknown = False
            seen = VARIABLE.get()
            slot.current.token = ref(seen) if seen is not None else None
        return slot

    def _found_asyncio(self, state: ThreadState, task: object | None) -> None:
        """Puts the hooks that tell where tasks are created; for one that runs already, it was inside what runs below it."""
        found, self.on_asyncio = self.on_asyncio, None
        if task is not None and state.pending is None and state.base.current.depth and VARIABLE.get() is None:
            state.pending = self.name(state, state.base.current)
        if found is not None:
            found()

    def name(self, state: ThreadState, strand: Strand) -> Position:
        """The position of the topmost execution of a strand that has one."""
        identity = next(self.ids)
        strand.escaped = True
        state.ring.events.append((NAME, strand.id, identity, 0, 0))
        return Position(self, identity, strand.recording, 0)

    def _new_slot(self, slot: Slot, *owners: object) -> Slot:
        key = (id(owners[0]) if owners[0] else 0, id(owners[1]) if owners[1] else 0)
        slots = self.slots

        def forget(_: object) -> None:
            slots.pop(key, None)

        slot.owners = tuple(ref(owner, forget) for owner in owners if owner is not None)
        slots[key] = slot
        return slot

    def sweep(self) -> None:
        """Forgets the slots of tasks that are done, though somebody still holds the task."""
        for key, slot in list(self.slots.items()):
            task = slot.owners[-1]() if slot.owners and key[1] else None
            done = getattr(task, "done", None)
            if done is not None and done():
                self.slots.pop(key, None)

    def _foreign(self, slot: Slot, token: Token) -> Strand:
        """The strand in this slot of a position that was inherited from another one."""
        if slot.foreign is None:
            slot.foreign = WeakKeyDictionary()
        strand = slot.foreign.get(token)
        if strand is None:
            strand = slot.foreign[token] = self.new_strand(token.position, None)
        return strand

    def task_starting(self, position: Position | None) -> None:
        self.state().pending = position

    def task_created(self, task: object, position: Position | None) -> None:
        state = self.state()
        waiting, state.pending = state.pending, None
        if waiting is not None and position is not None:  # else an eager start has taken it
            self._new_slot(Slot(self.new_strand(position, None), True), _current_greenlet(), task)

    def cover(self, strand: Strand) -> Strand:
        """A strand for traces of their own that run on top of this one; `uncover` ends it."""
        cover = self.new_strand(None, None)
        cover.covered = strand
        strand.cover = cover
        return cover

    def uncover(self, cover: Strand) -> None:
        covered = cover.covered
        if covered is not None and not cover.detached and covered.cover is cover:
            covered.cover = None

    def position_died(self, position: Position) -> None:
        if position.epoch == self.epoch:
            self.deaths.append((POSITION_DEATH, position.id))

    def strand_died(self, strand: Strand) -> None:
        if strand.epoch == self.epoch:
            self.open_roots.discard(strand.id)
            self.deaths.append((STRAND_DEATH, strand.id))

    def forked(self) -> None:
        """In the child of a fork: what the parent recorded is not ours, and executions that it had open are not either."""
        self.epoch += 1
        self.open_roots = set()
        self.rings = []
        self.deaths = deque()
        self.slots = {}
        self._local = threading.local()


def nothing() -> None:
    """What is called where nobody listens."""


def _current_task() -> object | None:
    # Any: the modules, imported by the program or not at all.
    events: Any = sys.modules.get("asyncio.events")
    if events is None:
        return None
    try:
        loop = events._get_running_loop()  # documented for profilers and the like; never raises
        if loop is None:
            return None
        tasks: Any = sys.modules["asyncio.tasks"]
        return tasks.current_task(loop)  # type: ignore[no-any-return]  # asyncio.Task | None
    except (AttributeError, KeyError):  # asyncio is being imported on another thread
        return None


def _current_greenlet() -> object | None:
    """The greenlet that is running, None for the thread's own."""
    module: Any = sys.modules.get("greenlet")  # Any: as above
    if module is None:
        return None
    try:
        current = module.getcurrent()
    except AttributeError:
        return None
    return current if current.parent is not None else None
