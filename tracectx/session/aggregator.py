"""The background thread that folds, and the only door to the fold for everybody else.

Work on what is folded runs on the aggregator's thread where there is one: a signal handler that asks for a report in the middle
of another request then waits its turn instead of finding a half-made state. Where no thread can run (interpreter exit, a
server without threads), it runs on the caller's thread.

The thread is started on demand and stopped before a fork. It is not registered with `threading`.
"""

from __future__ import annotations

import _thread
import os
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from tracectx.core.reference.core import ReferenceCore
from tracectx.errors import TracectxError

T = TypeVar("T")

_IDLE_INTERVAL = 1.0
_STOP_TIMEOUT = 5.0


class _Request(Generic[T]):
    """Work to be done, and a lock that is free once it is."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.finished = _thread.allocate_lock()
        self.finished.acquire()
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.work()
        except BaseException as error:
            self.error = error
        finally:
            self.finished.release()


class Aggregator:
    """Folds every `interval` seconds, less often while nothing happens."""

    def __init__(self, core: ReferenceCore, interval: float) -> None:
        self.interval = interval
        self._core = core
        self._requests: queue.SimpleQueue[_Request[object] | None] = queue.SimpleQueue()
        self._starting = _thread.allocate_lock()
        self._stopped: _thread.LockType | None = None  # free once the thread has ended; None: there is none
        self._running = False  # the thread has shown that it lives
        self._owner = 0  # the thread that holds the consumer's lock
        self._exiting = False
        self._pid = os.getpid()
        self.on_fork: Callable[[], None] = _nothing

    def start(self) -> None:
        """Starts the thread, if there is none and one can be had. Called from inside a probe: never raises."""
        self._notice_fork()
        if self._exiting or self._stopped is not None or not self._starting.acquire(blocking=False):
            return
        try:
            stopped = _thread.allocate_lock()
            stopped.acquire()
            self._stopped = stopped
            _thread.start_new_thread(self._loop, (stopped, self._requests))
        except RuntimeError:  # no thread can be started now
            self._stopped = None
        finally:
            self._starting.release()

    def stop(self) -> None:
        """Ends the thread and waits for it. What is asked for later runs on the caller's thread, or starts a new one."""
        stopped = self._stopped
        if stopped is None or self._owner == threading.get_ident():
            return
        self._requests.put(None)
        if stopped.acquire(timeout=_STOP_TIMEOUT):
            self._stopped = None
        self._running = False

    def exit(self) -> None:
        """The interpreter is going down: no more threads."""
        self._exiting = True
        self.stop()

    def run(self, work: Callable[[], T]) -> T:
        """Runs `work` with everything that was recorded before the call folded."""
        self._notice_fork()

        def drained() -> T:
            self._core.settle()
            return work()

        if self._owner == threading.get_ident():
            raise TracectxError(
                "a snapshot or report was asked for from inside the fold (by a __del__ that ran there); ask elsewhere"
            )
        if not self._running:
            return self._here(drained)
        request = _Request(drained)
        self._requests.put(request)  # type: ignore[arg-type]  # the queue does not look at results
        while not request.finished.acquire(timeout=_IDLE_INTERVAL):
            if not self._running:  # the thread ended before it came to the request
                return self._here(drained)
        if request.error is not None:
            raise request.error
        return request.result  # type: ignore[return-value]  # set, since there was no error

    def fold_full_ring(self) -> None:
        """A producer found its ring full and waits until it is read, unless it is the fold that records."""
        if self._owner != threading.get_ident():
            self.run(_nothing)

    def _here(self, work: Callable[[], T]) -> T:
        with self._core.recorder.consumer_lock:
            self._owner = threading.get_ident()
            try:
                return work()
            finally:
                self._owner = 0

    def _loop(self, stopped: _thread.LockType, requests: queue.SimpleQueue[_Request[object] | None]) -> None:
        self._running = True
        self._core.recorder.state().home = None  # what the collector runs here belongs to whoever records then
        wait = self.interval
        try:
            while True:
                try:
                    request = requests.get(timeout=wait)
                except queue.Empty:
                    wait = self._fold_idle(wait)
                    continue
                if request is None:
                    return
                wait = self.interval
                self._here(request.run)
        finally:
            self._running = False
            stopped.release()

    def _fold_idle(self, wait: float) -> float:
        """Folds what is there, and gives the time to wait for the next turn."""
        before = sum(ring.consumed for ring in list(self._core.recorder.rings))
        try:
            self._here(self._core.drain)
        except Exception as error:
            self._core.recorder.probe_failed(error)
        after = sum(ring.consumed for ring in list(self._core.recorder.rings))
        return self.interval if after != before else min(2 * wait, max(self.interval, _IDLE_INTERVAL))

    def _notice_fork(self) -> None:
        """A fork that no hook announced (from C) left us without thread, and with the parent's data."""
        if os.getpid() != self._pid:
            self.forked()

    def forked(self) -> None:
        """In the child of a fork: the thread is gone, and so are those who waited for it."""
        self._pid = os.getpid()
        self._requests = queue.SimpleQueue()
        self._starting = _thread.allocate_lock()
        self._stopped = None
        self._running = False
        self._owner = 0
        self.on_fork()


def _nothing() -> None:
    return None
