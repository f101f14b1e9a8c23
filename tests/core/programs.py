"""Random programs, run on a core of their own and under an exact model that knows nothing of events.

A program is a list of small numbers. `Machine.run` reads them as actions of some threads: enter, leave, start a generator,
resume it, suspend it, take a position and run something from it later, let time pass, fold. What makes no sense at a moment is
skipped, so every list is a program.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tracectx.clock import Clock
from tracectx.config import Limits, Options, options_with
from tracectx.core.choice import CHOICE
from tracectx.core.interface import GENERATOR
from tracectx.core.reference.location import VARIABLE
from tracectx.core.snapshot import ENDINGS, Snapshot
from tracectx.testing.manual_clock import ManualClock

OPERATIONS = tuple(f"o{number}" for number in range(6))
THREADS = 3


@dataclass(eq=False)
class Execution:
    """What the model knows of one execution."""

    stack: tuple[str, ...]
    entered_ns: int
    self_ns: int = 0
    handed_out_ns: int = 0
    suspended_at_ns: int | None = None
    response_ns: int = 0
    ending: int | None = None


@dataclass(eq=False)
class Block:
    """Something open on a thread: an execution, a segment of a generator, or a position that was adopted."""

    kind: str
    execution: Execution | None
    handle: Any  # Any: token, resumable or what `adopt` gave


@dataclass(eq=False)
class Generator:
    resumable: Any  # Any: of the core in use
    execution: Execution | None = None


@dataclass(eq=False)
class Thread:
    state: Any  # Any: the recorder's
    context: Any = None  # Any: what its context variable holds while another thread runs
    blocks: list[Block] = field(default_factory=list)

    def running(self) -> Execution | None:
        return next((block.execution for block in reversed(self.blocks) if block.execution is not None), None)


class Machine:
    """Runs a program. `executions` is the model's account of what ended."""

    def __init__(self, **options: Any) -> None:  # Any: as options_with takes
        chosen = options_with(Options(), {"trace_linger": 1e6, **options})
        VARIABLE.set(None)  # an example that failed may have left its position
        self.clock = ManualClock(1_000)
        self.core = type(CHOICE.core)()
        self.recorder = self.core.recorder
        self.recording = self.core.open_recording(
            7, Clock("custom", self.clock, 1), Limits.of(chosen), chosen.loops, int(chosen.trace_linger * 1e9), 1.0
        )
        self.recorder.recording = self.recorder.outermost = self.recording.handle
        self.recorder.capacity = Limits.of(chosen).ring_events
        self.recorder.max_operations = Limits.of(chosen).operations
        self.recorder.drop_when_full = chosen.when_full == "drop"
        self.recorder.on_full = self.core.drain
        self.threads = [Thread(None) for _ in range(THREADS)]
        self.thread = self.threads[0]
        self.generators: list[Generator] = []
        self.positions: list[tuple[Any, Execution | None]] = []  # Any: of the core in use
        self.executions: list[Execution] = []
        self._base: dict[int, list[Execution]] = {}

    def run(self, program: list[int]) -> None:
        actions = (
            self._enter, self._enter, self._enter, self._leave, self._leave, self._leave, self._tick, self._generator,
            self._resume, self._suspend, self._position, self._adopt, self._switch, self._fold, self._vanish, self._forget,
        )  # fmt: skip
        for number in program:
            actions[number % len(actions)](number // len(actions))

    def finish(self) -> Snapshot:
        """Ends everything in a proper order, and gives the snapshot."""
        for index in range(THREADS):
            self._switch(index)
            while self.thread.blocks:
                self._leave(0)
        for generator in list(self.generators):
            generator.resumable.vanish(3)
            self._end_generator(generator, 3)
        self.positions.clear()
        self.core.settle()
        return self.core.snapshot(self.recording, "test", 0)

    def _parent(self) -> Execution | None:
        """The innermost execution of the current strand: below an adopted position nothing of the thread counts."""
        for block in reversed(self.thread.blocks):
            if block.kind == "adopt" or block.execution is not None:
                return block.execution if block.kind != "adopt" else block.handle[1]
        return None

    def _new(self, operation: str, root: bool) -> Execution:
        parent = None if root else self._parent()
        above = parent.stack if parent is not None else ()
        return Execution((*above, operation), self.clock.now_ns)

    def _operation(self, name: str) -> int:
        return self.recorder.operation(name, "")

    def _enter(self, number: int) -> None:
        name, root = OPERATIONS[number % len(OPERATIONS)], number % 11 == 10
        execution = self._new(name, root)
        token = self.recorder.enter(self._operation(name), root)
        self.thread.blocks.append(Block("execution", execution, token))

    def _leave(self, number: int) -> None:
        """Ends whatever is innermost."""
        if not self.thread.blocks:
            return
        block = self.thread.blocks.pop()
        ending = number % 3
        if block.kind == "adopt":
            self.recorder.restore(block.handle[0])
        elif block.kind == "segment":
            block.handle.resumable.finish(ending)
            self._end_generator(block.handle, ending)
        else:
            if block.handle is not None:
                self.recorder.leave(block.handle, ending)
            assert block.execution is not None
            block.execution.response_ns = self.clock.now_ns - block.execution.entered_ns
            self._ended(block.execution, ending)

    def _end_generator(self, generator: Generator, ending: int) -> None:
        self.generators.remove(generator)
        execution = generator.execution
        if execution is None:
            return
        if execution.suspended_at_ns is not None:
            execution.handed_out_ns += self.clock.now_ns - execution.suspended_at_ns
        execution.response_ns = self.clock.now_ns - execution.entered_ns - execution.handed_out_ns
        self._ended(execution, ending)

    def _ended(self, execution: Execution, ending: int) -> None:
        execution.ending = ending
        self.executions.append(execution)

    def _tick(self, number: int) -> None:
        self.clock.advance_ns(number)
        for thread in self.threads:
            running = thread.running()
            if running is not None:
                running.self_ns += number

    def _generator(self, number: int) -> None:
        """A generator is made and runs its first segment."""
        name = OPERATIONS[number % len(OPERATIONS)]
        generator = Generator(self.recorder.resumable(self._operation(name), GENERATOR, False))
        generator.execution = self._new(name, False)
        self.generators.append(generator)
        generator.resumable.resume()
        self.thread.blocks.append(Block("segment", generator.execution, generator))

    def _resume(self, number: int) -> None:
        waiting = [g for g in self.generators if g.execution is not None and g.execution.suspended_at_ns is not None]
        if not waiting:
            return
        generator = waiting[number % len(waiting)]
        execution = generator.execution
        assert execution is not None
        assert execution.suspended_at_ns is not None
        execution.handed_out_ns += self.clock.now_ns - execution.suspended_at_ns
        execution.suspended_at_ns = None
        generator.resumable.resume()
        self.thread.blocks.append(Block("segment", execution, generator))

    def _suspend(self, number: int) -> None:
        if self.thread.blocks and self.thread.blocks[-1].kind == "segment":
            block = self.thread.blocks.pop()
            assert block.execution is not None
            block.execution.suspended_at_ns = self.clock.now_ns
            block.handle.resumable.suspend(True)

    def _vanish(self, number: int) -> None:
        """A generator is collected while it is suspended."""
        waiting = [g for g in self.generators if g.execution is not None and g.execution.suspended_at_ns is not None]
        if waiting:
            generator = waiting[number % len(waiting)]
            generator.resumable.vanish(3)
            self._end_generator(generator, 3)

    def _position(self, number: int) -> None:
        position = self.recorder.position()
        if position is not None:
            self.positions.append((position, self._parent()))

    def _adopt(self, number: int) -> None:
        if self.positions:
            position, execution = self.positions[number % len(self.positions)]
            self.thread.blocks.append(Block("adopt", None, (self.recorder.adopt(position), execution)))

    def _forget(self, number: int) -> None:
        if self.positions:
            self.positions.pop(number % len(self.positions))

    def _switch(self, number: int) -> None:
        """The next thread goes on, in a context of its own."""
        following = self.threads[number % THREADS]
        if following is self.thread:
            return
        self.thread.context = VARIABLE.get()
        self.thread.state = getattr(self.recorder._local, "state", None)
        self.thread = following
        if following.state is None:
            if hasattr(self.recorder._local, "state"):
                del self.recorder._local.state
        else:
            self.recorder._local.state = following.state
        VARIABLE.set(following.context)
        following.context = None

    def _fold(self, number: int) -> None:
        self.core.drain()


def by_stack(machine: Machine) -> Counter[tuple[tuple[str, ...], int]]:
    """The model's executions by path and ending."""
    return Counter((execution.stack, execution.ending or 0) for execution in machine.executions)


def folded_by_stack(snapshot: Snapshot) -> Counter[tuple[tuple[str, ...], int]]:
    """The same of a snapshot without contexts over a limit."""
    counts: Counter[tuple[tuple[str, ...], int]] = Counter()
    for row, leaf_stack in enumerate(snapshot.leaves.stack):
        path, stack = [], leaf_stack
        while stack >= 0:
            path.append(snapshot.operations[snapshot.stacks.operation[stack]])
            stack = snapshot.stacks.parent[stack]
        for ending in range(len(ENDINGS)):
            if snapshot.leaves.endings[ending][row]:
                counts[tuple(reversed(path)), ending] += snapshot.leaves.endings[ending][row]
    return counts


def totals(snapshot: Snapshot) -> dict[str, tuple[int, int, int]]:
    """Count, response time and self time (nanoseconds) by operation."""
    sums = dict.fromkeys(snapshot.operations, (0, 0, 0))
    leaves = snapshot.leaves
    for row, operation in enumerate(leaves.operation):
        name = snapshot.operations[operation]
        count, response, self_time = sums[name]
        sums[name] = (
            count + leaves.count[row],
            response + leaves.response.sum_low[row],
            self_time + leaves.self_time.sum_low[row],
        )
    return {name: figures for name, figures in sums.items() if figures[0]}


def model_totals(machine: Machine) -> dict[str, tuple[int, int, int]]:
    sums: dict[str, tuple[int, int, int]] = {}
    for execution in machine.executions:
        count, response, self_time = sums.get(execution.stack[-1], (0, 0, 0))
        figures = (count + 1, response + execution.response_ns, self_time + execution.self_ns)
        sums[execution.stack[-1]] = figures
    return sums
