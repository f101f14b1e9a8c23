"""DESIGN.md section 5: threads, executors, greenlets, roots of their own, forks and exits."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import tracectx
from tests.strands.programs import b, s, s2, unprobed
from tests.support import drawn, times_of
from tracectx.session.session import Recording
from tracectx.testing import ManualClock


def run_in_thread(function: object, *arguments: object) -> None:
    thread = threading.Thread(target=function, args=arguments)  # type: ignore[arg-type]  # any callable
    thread.start()
    thread.join()


def test_a_thread_starts_a_new_root_unless_the_position_is_propagated(rec: Recording) -> None:
    @tracectx.probe(name="plain")
    def plain() -> None:
        run_in_thread(s2)

    @tracectx.probe(name="carried")
    def carried() -> None:
        run_in_thread(tracectx.propagate(s2))

    plain()
    carried()
    assert drawn(rec) == ["carried(~s2(s))", "plain", "s2(s)"]


def test_a_reused_pool_thread_leaks_nothing(rec: Recording) -> None:
    with ThreadPoolExecutor(1) as pool:

        @tracectx.probe(name="request")
        def request() -> None:
            pool.submit(tracectx.propagate(s2)).result()

        request()
        pool.submit(s).result()
        request()
    assert drawn(rec) == ["request(~s2(s))", "request(~s2(s))", "s"]


def test_propagation_can_be_switched_on_for_threads_and_executors(clock: ManualClock) -> None:
    with (
        tracectx.recording(clock=clock, loops="exact", trace_linger=1e6, propagate_threads=True) as rec,
        ThreadPoolExecutor(1) as pool,
    ):

        @tracectx.probe(name="request")
        def request() -> None:
            run_in_thread(s2)
            pool.submit(s).result()

        request()
        assert drawn(rec) == ["request(~s ~s2(s))"]


def test_to_thread_propagates_and_run_in_executor_does_not(rec: Recording) -> None:
    @tracectx.probe(name="TT")
    async def to_thread() -> None:
        await asyncio.to_thread(s2)
        s()

    @tracectx.probe(name="RX")
    async def in_executor() -> None:
        await asyncio.get_running_loop().run_in_executor(None, s2)
        s()

    asyncio.run(to_thread())
    asyncio.run(in_executor())
    assert drawn(rec) == ["RX(s)", "TT(s ~s2(s))", "s2(s)"]


def test_a_loop_in_a_probe_in_a_thread_of_a_coroutine_nests(rec: Recording) -> None:
    @tracectx.probe(name="inthread")
    async def inthread() -> None:
        await b()

    @tracectx.probe(name="runloop")
    def runloop() -> None:
        asyncio.run(inthread())

    @tracectx.probe(name="TT")
    async def to_thread() -> None:
        await asyncio.to_thread(runloop)

    asyncio.run(to_thread())
    assert drawn(rec) == ["TT(~runloop(~inthread(B(s))))"]


def test_interleaved_greenlets_have_separate_strands(rec: Recording) -> None:
    greenlet = pytest.importorskip("greenlet")

    @tracectx.probe(name="gl1")
    def one() -> None:
        s()
        second.switch()
        s2()

    @tracectx.probe(name="gl2")
    def two() -> None:
        s2()
        first.switch()
        s()

    first, second = greenlet.greenlet(one), greenlet.greenlet(two)
    first.switch()
    second.switch()
    assert first.dead
    assert second.dead
    assert drawn(rec) == ["gl1(s s2(s))", "gl2(s2(s) s)"]


def test_a_root_probe_and_a_detached_block_start_traces_of_their_own(rec: Recording, clock: ManualClock) -> None:
    @tracectx.probe(name="own", root=True)
    def own() -> None:
        clock.advance_ns(5)
        s()

    @tracectx.probe(name="request")
    def request() -> None:
        clock.advance_ns(1)
        own()
        with tracectx.detached():
            s2()
        clock.advance_ns(1)
        s()

    request()
    assert drawn(rec) == ["own(s)", "request(s)", "s2(s)"]
    assert times_of(rec, "request")["response"] == 7
    assert times_of(rec, "request")["self"] == 2


def test_a_detached_worker_is_not_booked_to_the_request_that_started_it(rec: Recording) -> None:
    async def worker() -> None:
        await unprobed(2)
        await asyncio.to_thread(s2)

    @tracectx.probe(name="request")
    async def request() -> asyncio.Task[None]:
        with tracectx.detached():
            task = asyncio.create_task(worker())
        await b()
        return task

    async def main() -> None:
        await (await request())

    asyncio.run(main())
    assert drawn(rec) == ["request(B(s))", "s", "s", "s2(s)"]


def test_a_root_coroutine_starts_a_trace_of_its_own(rec: Recording) -> None:
    @tracectx.probe(name="own", root=True)
    async def own() -> None:
        await b()

    @tracectx.probe(name="request")
    async def request() -> None:
        await own()
        s()

    asyncio.run(request())
    assert drawn(rec) == ["own(B(s))", "request(s)"]


def test_each_level_of_a_recursion_is_an_execution(rec: Recording, clock: ManualClock) -> None:
    @tracectx.probe(name="fib")
    def fib(n: int) -> int:
        clock.advance_ns(1)
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    fib(15)
    figures = times_of(rec, "fib")
    assert figures["count"] == 1973, "2 F(16) - 1"
    assert figures["outermost"] == 1973
    assert figures["self"] == 1973


def test_a_runaway_recursion_leaves_the_stack_empty(rec: Recording) -> None:
    @tracectx.probe(name="runaway")
    def runaway() -> None:
        runaway()

    def deeper(frames: int) -> None:
        """Meets the limit at every offset of the frames that a probe needs."""
        if frames:
            deeper(frames - 1)
        else:
            with pytest.raises(RecursionError):
                runaway()

    for frames in range(12):
        deeper(frames)
    s2()
    assert rec.stats().open == 0
    assert "s2(s)" in drawn(rec)
    assert rec.stats().probe_errors == 0


def test_probes_in_del_signal_handlers_and_weakref_callbacks_are_counted_exactly(rec: Recording) -> None:
    class Cyclic:
        def __init__(self) -> None:
            self.me = self

        @tracectx.probe(name="del")
        def __del__(self) -> None:
            s()

    calls = {"handler": 0, "gone": 0}

    @tracectx.probe(name="handler")
    def handler(*_: object) -> None:
        calls["handler"] += 1
        s()

    @tracectx.probe(name="gone")
    def gone(_: object) -> None:
        calls["gone"] += 1
        s()

    thresholds = gc.get_threshold()
    before = signal.signal(signal.SIGALRM, handler)
    gc.set_threshold(1)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for _ in range(300):
            made = Cyclic()
            reference = weakref.ref(made, gone)
            del made
            s2()
            gc.collect(0)
        del reference
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.set_threshold(*thresholds)
    gc.collect()
    stats = rec.stats()
    assert stats.recorded == stats.folded
    assert stats.probe_errors == 0
    assert times_of(rec, "s2")["count"] == 300
    seen = {name: times_of(rec, name)["count"] for name in ("del", "handler", "gone", "s")}
    expected = {"del": 300, **calls, "s": 600 + calls["handler"] + calls["gone"]}
    assert seen == expected


def test_a_report_in_a_signal_handler_does_not_deadlock(rec: Recording) -> None:
    counts: list[int] = []

    def handler(*_: object) -> None:
        counts.append(rec.stats().recorded)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for _ in range(50):
            s2()
            rec.columns()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert counts == sorted(counts)
    assert rec.stats().recorded == 100


def test_a_forked_child_starts_empty_and_the_parent_loses_nothing(rec: Recording) -> None:
    @tracectx.probe(name="forks")
    def forks() -> int:
        s()
        child = os.fork()
        if child == 0:
            s2()
        return child

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        child = forks()
    if child == 0:  # the exit of `forks` is of an execution opened before the fork: not ours
        code = 9
        try:
            for _ in range(10):
                s2()
            code = 0 if drawn(rec) == ["s2(s)"] * 11 else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    s2()
    assert drawn(rec) == ["forks(s)", "s2(s)"]


REPORTS_AT_EXIT = """
import tracectx, atexit
@tracectx.probe
def f(): pass
for _ in range(100): f()
atexit.register(lambda: print(tracectx.snapshot().executions))
"""
DAEMON_THREADS = """
import tracectx, threading
@tracectx.probe
def f(): pass
def spin():
    while True: f()
for _ in range(8): threading.Thread(target=spin, daemon=True).start()
for _ in range(100): f()
print(100)
"""
NO_AGGREGATOR = """
import tracectx
from tracectx.session.session import SESSION
SESSION.aggregator.exit()
@tracectx.probe
def f(): pass
for _ in range(100): f()
print(tracectx.snapshot().executions)
"""


@pytest.mark.parametrize(
    "source", [REPORTS_AT_EXIT, DAEMON_THREADS, NO_AGGREGATOR], ids=["report at exit", "daemons", "no thread"]
)
def test_the_interpreter_exits_cleanly(source: str) -> None:
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", "100")
