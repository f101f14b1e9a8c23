"""`detached`, `propagate`, and the hooks of asyncio and threads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from tests.probes.recorded import Recorded
from tracectx.errors import ProbeError
from tracectx.probes.probe import probe
from tracectx.probes.propagation import detached, install, propagate, propagate_threads, uninstall


@pytest.fixture
def threads() -> Iterator[None]:
    propagate_threads(True)
    yield
    propagate_threads(False)


def calls() -> tuple[Callable[[], str], Callable[[Callable[[], object]], object]]:
    """A probed child, and a probed parent that runs what it is given."""

    @probe(name="child")
    def child() -> str:
        return "done"

    @probe(name="parent")
    def parent(body: Callable[[], object]) -> object:
        return body()

    return child, parent


def run_in_thread(target: Callable[[], object]) -> None:
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()


def test_what_starts_in_a_detached_block_is_a_trace_of_its_own(rec: Recorded) -> None:
    child, parent = calls()

    def body() -> None:
        child()
        with detached():
            child()
        child()

    parent(body)
    assert rec.traces == ["child", "parent(child child)"]


def test_a_thread_is_a_root_and_hangs_from_where_propagate_was_called(rec: Recorded) -> None:
    child, parent = calls()
    parent(lambda: run_in_thread(child))
    parent(lambda: run_in_thread(propagate(child)))
    assert rec.traces == ["child", "parent", "parent(~child)"]


def test_propagate_keeps_signature_arguments_results_and_errors(rec: Recorded) -> None:
    def divide(a: int, b: int = 1) -> float:
        return a / b

    carried = propagate(divide)
    assert carried.__name__ == "divide"
    assert carried(4, b=2) == 2
    with pytest.raises(ZeroDivisionError):
        carried(1, 0)


async def coroutine() -> None: ...


def generator() -> Generator[None, None, None]:
    yield


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "propagate needs a callable, got 5"),
        (coroutine, "synchronous callable"),
        (generator, "synchronous callable"),
    ],
)
def test_propagate_says_what_it_needs(given: Callable[[], object], message: str) -> None:
    with pytest.raises(ProbeError, match=message):
        propagate(given)


def test_threads_and_pools_propagate_when_switched_on(rec: Recorded, threads: None) -> None:
    child, parent = calls()
    parent(lambda: run_in_thread(child))
    with ThreadPoolExecutor(1) as pool:
        parent(lambda: pool.submit(child).result())
        assert pool.submit(child).result() == "done"
        parent(lambda: list(pool.map(lambda _: child(), (1, 2))))
    assert rec.traces == ["child", "parent(~child ~child)", "parent(~child)", "parent(~child)"]
    parent(lambda: run_in_thread(child))


def test_a_thread_class_with_its_own_run_propagates(rec: Recorded, threads: None) -> None:
    child, parent = calls()

    class Worker(threading.Thread):
        def run(self) -> None:
            child()

    def body() -> None:
        worker = Worker()
        worker.start()
        worker.join()
        assert "run" not in vars(worker)

    parent(body)
    assert rec.traces == ["parent(~child)"]


def test_a_process_pool_is_never_touched(threads: None) -> None:
    assert "submit" in vars(ProcessPoolExecutor)
    assert vars(ProcessPoolExecutor)["submit"].__module__ == "concurrent.futures.process"
    assert not hasattr(vars(ProcessPoolExecutor)["submit"], "__wrapped__")


def test_hooks_are_put_once_and_taken_out_completely(rec: Recorded) -> None:
    uninstall()
    bare = asyncio.BaseEventLoop.create_task, asyncio.to_thread, threading.Thread.start, ThreadPoolExecutor.submit
    try:
        install()
        install()
        propagate_threads(True)
        propagate_threads(True)
        assert asyncio.BaseEventLoop.create_task.__wrapped__ is bare[0]  # type: ignore[attr-defined]  # set by the hook
        assert asyncio.to_thread.__wrapped__ is bare[1]  # type: ignore[attr-defined]  # set by the hook
        assert asyncio.iscoroutinefunction(asyncio.to_thread)
        uninstall()
        now = asyncio.BaseEventLoop.create_task, asyncio.to_thread, threading.Thread.start, ThreadPoolExecutor.submit
        assert now == bare
    finally:
        install()


def test_a_task_that_cannot_be_made_leaves_no_position_behind(rec: Recorded) -> None:
    child, parent = calls()

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def body() -> None:
            with pytest.raises(TypeError):
                loop.create_task(5)  # type: ignore[arg-type]  # noqa: RUF006  # wrong on purpose

        parent(body)
        await asyncio.to_thread(child)

    asyncio.run(main())
    assert rec.traces == ["child", "parent"]


def test_tasks_of_uvloop_hang_from_where_they_are_created(rec: Recorded) -> None:
    uvloop = pytest.importorskip("uvloop")

    @probe(name="child")
    async def child() -> None:
        await asyncio.sleep(0)

    @probe(name="parent")
    def parent(loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        return loop.create_task(child())

    async def main() -> None:
        await parent(asyncio.get_running_loop())

    loop = uvloop.new_event_loop()
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()
    assert rec.traces == ["parent(~child)"]


def test_probing_does_not_import_asyncio_and_hooks_it_once_the_program_has() -> None:
    source = """
        import sys
        import tracectx

        @tracectx.probe
        def f(): pass

        f()
        assert "asyncio" not in sys.modules, "imported"
        import asyncio
        f()
        assert hasattr(asyncio.BaseEventLoop.create_task, "__wrapped__")
        assert hasattr(asyncio.to_thread, "__wrapped__")
        assert asyncio.to_thread is asyncio.threads.to_thread
        from tracectx.probes import propagation
        propagation.uninstall()
        assert not hasattr(asyncio.to_thread, "__wrapped__")
        assert asyncio.to_thread is asyncio.threads.to_thread
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(source)], check=True, timeout=60)


def test_switched_off_by_the_environment_probe_gives_its_argument_back() -> None:
    source = """
        import tracectx
        def f(): return 1
        class C: pass
        assert tracectx.probe(f) is f
        assert tracectx.probe(name="x")(f) is f
        assert tracectx.probe(C) is C
        assert tracectx.unprobe(f) is f
        assert tracectx.propagate(f) is f
        with tracectx.span("x"), tracectx.detached(), tracectx.instrument("json.*") as instrumentation:
            assert instrumentation.operations == ()
        import asyncio
        assert not hasattr(asyncio.to_thread, "__wrapped__")
        assert tracectx.stats().recorded == 0
    """
    import os

    environment = {**os.environ, "TRACECTX": "0"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(source)], check=True, timeout=60, env=environment)
