"""`span`: blocks as operations."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator

import pytest

from tests.probes.recorded import Recorded
from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.probe import probe
from tracectx.probes.span import span


def test_a_block_is_an_execution_and_what_runs_in_it_is_its_child(rec: Recorded) -> None:
    @probe(name="f")
    def f() -> None: ...

    with span("parse"):
        f()
        with span("inner"):
            f()
    assert rec.traces == ["parse(f inner(f))"]


def test_a_block_that_raises_ends_raised_and_lets_the_error_through(rec: Recorded) -> None:
    with pytest.raises(ValueError, match="body"), span("parse"):
        raise ValueError("body")
    assert rec.endings == {"parse raised": 1}


def test_an_async_block_is_an_execution(rec: Recorded) -> None:
    @probe(name="child")
    async def child() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        async with span("parse"):
            await asyncio.gather(child(), child())

    asyncio.run(main())
    assert rec.traces == ["parse(~child ~child)"]


def test_a_cancelled_block_ends_cancelled(rec: Recorded) -> None:
    async def main() -> None:
        async def waits() -> None:
            with span("wait"):
                await asyncio.sleep(100)

        task = asyncio.create_task(waits())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert rec.endings == {"wait cancelled": 1}


def test_one_span_is_reusable_and_reentrant(rec: Recorded) -> None:
    parse = span("parse")

    def nested(depth: int) -> None:
        with parse:
            if depth:
                nested(depth - 1)

    with parse, parse:
        pass
    nested(2)
    assert rec.traces == ["parse(parse(parse))", "parse(parse)"]


def test_one_span_may_be_open_in_interleaved_tasks_and_generators(rec: Recorded) -> None:
    shared = span("shared")

    async def waits(ending: Exception | None) -> None:
        with shared:
            await asyncio.sleep(0)
            if ending:
                raise ending

    async def main() -> None:
        await asyncio.gather(waits(ValueError()), waits(None), return_exceptions=True)

    asyncio.run(main())
    assert rec.endings == {"shared raised": 1, "shared returned": 1}

    @probe(name="g")
    def g() -> Generator[None, None, None]:
        with shared:
            yield

    a, b = g(), g()
    for generator in (a, b, a, b):
        next(generator, None)
    assert rec.endings == {"shared raised": 1, "shared returned": 3, "g returned": 2}


def test_one_span_may_be_open_in_many_threads(rec: Recorded) -> None:
    shared = span("shared")
    barrier = threading.Barrier(4)

    def work() -> None:
        for _ in range(50):
            with shared:
                barrier.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rec.counts == {"shared": 200}
    assert rec.recording.stats().open == 0


def test_an_exit_stack_closes_the_spans_that_it_opened(rec: Recorded) -> None:
    parse = span("parse")
    with contextlib.ExitStack() as stack:
        stack.enter_context(parse)
        stack.enter_context(parse)
    assert rec.traces == ["parse(parse)"]


def test_a_root_span_begins_a_trace_of_its_own(rec: Recorded) -> None:
    with span("outer"), span("job", root=True):
        pass
    assert rec.traces == ["job", "outer"]


def test_a_label_refines_the_operation(rec: Recorded) -> None:
    with span("parse", label="big"), span("parse", label=3), span("parse", label=None):
        pass
    assert rec.traces == ["parse[big](parse[3](parse))"]


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        (3, {}, ProbeError, "the name of a span must be a str, got 3"),
        (None, {"label": "x"}, ProbeError, "the name of a span must be a str, got None"),
        ("", {}, ConfigError, "the name of a span must not be empty, got ''"),
        ("x", {"root": 1}, ProbeError, "root must be True or False, got 1"),
        ("x", {"label": 0.5}, ProbeError, "a label must be a str, an int or None, got 0.5 for x"),
    ],
)
def test_bad_arguments_raise_where_the_span_is_made(
    name: str, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        span(name, **options)  # type: ignore[arg-type]  # wrong on purpose
