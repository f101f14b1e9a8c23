"""The one session of a process: options, the stack of recordings, forks and exit.

Changes are rare and made under one lock; probes only read attributes of the recorder that are set here.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tracectx.clock import clock_of
from tracectx.config import Limits, Options, options_from_environment, options_with
from tracectx.core.choice import CHOICE
from tracectx.core.events import RECORDING_DEATH
from tracectx.core.reference.recordings import RecordingFold
from tracectx.errors import ConfigError
from tracectx.probes import labels, propagation
from tracectx.probes.runtime import attachments
from tracectx.session.aggregator import Aggregator
from tracectx.session.statistics import RecordingStats

if TYPE_CHECKING:
    from tracectx.core.snapshot import Snapshot
    from tracectx.tree.calling_context_tree import CallingContextTree

_FIXED_ONCE_RECORDED = (
    "clock", "loops", "max_memory", "max_trace_executions", "max_operations", "max_contexts", "max_shapes",
)  # fmt: skip


class Recording:
    """A tree of its own, for a block or a test, and the default one of the process."""

    def __init__(self, session: Session, options: Options) -> None:
        self._session = session
        self._options = options
        self._fold = session.open_fold(options)
        self._detached: list[Any] = []  # Any: what the recorder's detach gives
        handle, deaths = self._fold.handle, session.core.recorder.deaths
        weakref.finalize(self, deaths.append, (RECORDING_DEATH, handle.id)).atexit = False

    @property
    def options(self) -> Options:
        return self._options

    @property
    def fold(self) -> RecordingFold:
        return self._fold

    def __enter__(self) -> Recording:
        self._detached.append(self._session.core.recorder.detach())
        self._session.push(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._session.pop(self)
        self._session.core.recorder.reattach(self._detached.pop())

    def snapshot(self) -> CallingContextTree:
        """The tree of everything that completed before the call."""
        from tracectx.tree.calling_context_tree import CallingContextTree  # numpy is loaded with the first question

        return CallingContextTree(self.columns())

    def columns(self) -> Snapshot:
        """The snapshot that `snapshot` wraps."""
        session = self._session
        cost = session.probe_cost_ns()
        attachments().settle()
        return session.aggregator.run(lambda: session.core.snapshot(self._fold, attachments().name, cost))

    def stats(self) -> RecordingStats:
        session = self._session
        attachments().settle()
        counters = session.aggregator.run(lambda: session.core.counters(self._fold))
        clock = self._fold.setup.clock
        limits = self._fold.setup.limits
        return RecordingStats(
            **counters,
            core=session.core.name,
            core_reason=CHOICE.reason,
            attach=attachments().name,
            clock=clock.name,
            tick_ns=clock.tick_ns,
            probe_cost_ns=session.probe_cost_ns(),
            limits={name: getattr(limits, name) for name in limits.__slots__},
        )

    def reset(self) -> None:
        """Forgets everything recorded; traces open now vanish when they end, counted."""
        self._session.aggregator.run(lambda: self._session.core.reset(self._fold))

    def reopen(self, options: Options) -> None:
        """Takes other options; those that are fixed once something is recorded only before that."""
        self._fold = self._session.open_fold(options)
        self._options = options

    def reconfigure(self, options: Options) -> None:
        self._options = options
        self._fold.handle.sample = options.sample

    def forked(self) -> None:
        self._fold = self._session.core.fold_of(self._fold)


class Session:
    """Created once, when tracectx is imported."""

    def __init__(self) -> None:
        self.core = CHOICE.core
        self.aggregator = Aggregator(self.core, Options().fold_interval)
        self._lock = threading.RLock()
        self._probe_cost_ns: int | None = None
        recorder = self.core.recorder
        recorder.on_full = self.aggregator.fold_full_ring
        recorder.on_thread = self.aggregator.start
        self.aggregator.on_fork = self._forked_child
        self.recordings = [Recording(self, options_from_environment())]
        recorder.outermost = self.recordings[0].fold.handle
        self._apply()
        recorder.on_asyncio = propagation.install
        os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._in_child)
        atexit.register(self._exit)

    @property
    def current(self) -> Recording:
        """The innermost recording."""
        return self.recordings[-1]

    def open_fold(self, options: Options) -> RecordingFold:
        clock = clock_of(options.clock)
        if clock.name == "custom":
            clock = self._guarded(clock)
        linger_ns = int(options.trace_linger * 1e9)
        return self.aggregator.run(
            lambda: self.core.open_recording(
                int.from_bytes(os.urandom(8), "big"), clock, Limits.of(options), options.loops, linger_ns, options.sample
            )
        )

    def new_recording(self, given: dict[str, Any]) -> Recording:  # Any: options_with checks each
        return Recording(self, options_with(self.current.options, given))

    def push(self, recording: Recording) -> None:
        with self._lock:
            self.recordings.append(recording)
            self._apply()

    def pop(self, recording: Recording) -> None:
        with self._lock:
            if recording in self.recordings[1:]:
                self.recordings.remove(recording)
            self._apply()
        self.aggregator.run(lambda: self.core.close(recording.fold))

    def configure(self, given: dict[str, Any]) -> None:  # Any: options_with checks each
        with self._lock:
            recording = self.current
            options = options_with(recording.options, given)
            clock_of(options.clock)
            fixed = [name for name in _FIXED_ONCE_RECORDED if getattr(options, name) != getattr(recording.options, name)]
            if not fixed:
                recording.reconfigure(options)
            elif self.aggregator.run(lambda: self.core.recorded_anything(recording.fold)):
                raise ConfigError(
                    f"{', '.join(fixed)} cannot change once something is recorded: configure before the first probed"
                    " call, or call tracectx.reset() first"
                )
            else:
                recording.reopen(options)
                if recording is self.recordings[0]:
                    self.core.recorder.outermost = recording.fold.handle
            self._apply()

    def set_enabled(self, enabled: bool) -> None:
        with self._lock:
            recorder = self.core.recorder
            if recorder.enabled != enabled:
                recorder.enabled = enabled
                self.aggregator.run(self.core.truncate_open)

    def probe_cost_ns(self) -> int:
        if self._probe_cost_ns is None:
            self._probe_cost_ns = self.core.measure_probe_cost_ns()
        return self._probe_cost_ns

    def _apply(self) -> None:
        """Makes the innermost recording the one that new traces go to."""
        recorder, recording = self.core.recorder, self.current
        options, limits = recording.options, recording.fold.setup.limits
        recorder.recording = recording.fold.handle
        recorder.capacity = limits.ring_events
        recorder.drop_when_full = options.when_full == "drop"
        recorder.max_operations = limits.operations
        labels.set_max_labels(limits.labels)
        propagation.propagate_threads(options.propagate_threads)
        self.aggregator.interval = options.fold_interval

    def _guarded(self, clock: Any) -> Any:  # Any: a Clock in, a Clock out
        return type(clock)(clock.name, _GuardedReader(clock.read, self.core.recorder.probe_failed), clock.tick_ns)

    def _before_fork(self) -> None:
        self.aggregator.stop()

    def _after_fork(self) -> None:
        # A thread started here would still count as one that was there at the fork (3.12 warns of that).
        self.core.recorder.wake = self.aggregator.start

    def _in_child(self) -> None:
        self.aggregator.forked()

    def _forked_child(self) -> None:
        self._lock = threading.RLock()
        self.core.forked()
        for recording in self.recordings:
            recording.forked()
        self.core.recorder.outermost = self.recordings[0].fold.handle
        self._apply()

    def _exit(self) -> None:
        self.aggregator.exit()
        where = self.recordings[0].options.report_at_exit
        if where:
            try:
                self._report_at_exit(where)
            except Exception as error:  # the program has ended; its exit status is not ours to change
                with suppress(Exception):
                    sys.stderr.write(f"tracectx: no report at exit: {error}\n")

    def _report_at_exit(self, where: bool | str) -> None:
        from tracectx.report.write import report  # loads rich

        tree = self.recordings[0].snapshot()
        if where is True:
            report(tree)
            return
        with open(str(where), "w", encoding="utf-8") as file:
            report(tree, file=file, format="json" if str(where).endswith(".json") else "text")


class _GuardedReader:
    """A clock of the user's, which may fail: it then stands still, and the error is counted."""

    def __init__(self, read: Callable[[], int], failed: Callable[[BaseException], None]) -> None:
        self._read = read
        self._failed = failed
        self._last = 0

    def __call__(self) -> int:
        try:
            self._last = int(self._read())
        except RecursionError:
            pass  # the program is at its limit: that is its own doing, and its exits must still be recorded
        except Exception as error:
            self._failed(error)
        return self._last


SESSION = Session()
