"""DESIGN.md section 5: generators and async generators, wherever they are resumed, closed or collected."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager

import pytest

import tracectx
from tests.strands.programs import agen, b, gen, s, s2
from tests.support import drawn, times_of
from tracectx.session.session import Recording
from tracectx.testing import ManualClock


def test_interleaved_generators_keep_their_own_children(rec: Recording) -> None:
    @tracectx.probe(name="consume")
    def consume() -> None:
        for _ in zip(gen(2), gen(2), strict=False):
            s2()

    consume()
    assert drawn(rec) == ["consume(gen(s s) gen#(s s) s2(s) s2(s))"]


def test_the_consumers_work_is_neither_the_generators_time_nor_its_child(rec: Recording, clock: ManualClock) -> None:
    @tracectx.probe(name="g")
    def g() -> Iterator[int]:
        for item in range(3):
            clock.advance_ns(2)
            yield item

    @tracectx.probe(name="consume")
    def consume() -> None:
        for _ in g():
            clock.advance_ns(10)
            s()

    consume()
    assert drawn(rec) == ["consume(g s s s)"]
    assert times_of(rec, "g") == {
        "count": 1, "response": 6, "self": 6, "suspended": 0, "resumptions": 3, "outermost": 6,
    }  # fmt: skip
    assert times_of(rec, "consume")["response"] == 36
    assert times_of(rec, "consume")["self"] == 30


def test_a_generator_closed_elsewhere_ends_in_the_trace_it_began_in(rec: Recording) -> None:
    @tracectx.probe(name="opener")
    def opener() -> Generator[int, None, None]:
        generator = gen(3)
        next(generator)
        return generator  # type: ignore[return-value]  # an Iterator that is a Generator

    @tracectx.probe(name="closer")
    def closer(generator: Generator[int, None, None]) -> None:
        next(generator)
        s2()
        generator.close()

    closer(opener())
    assert drawn(rec) == ["closer(s2(s))", "opener(gen#(s s))"]


def test_a_generator_may_go_on_and_end_in_another_thread(rec: Recording) -> None:
    @tracectx.probe(name="opener")
    def opener() -> Iterator[int]:
        generator = gen(3)
        next(generator)
        return generator

    @tracectx.probe(name="finisher")
    def finisher(generator: Iterator[int]) -> None:
        s2()
        list(generator)

    thread = threading.Thread(target=finisher, args=(opener(),))
    thread.start()
    thread.join()
    assert drawn(rec) == ["finisher(s2(s))", "opener(gen(s s s))"]


def test_a_generator_that_is_collected_ends_in_its_trace(rec: Recording) -> None:
    @tracectx.probe(name="leaves_it")
    def leaves_it() -> None:
        next(gen(3))
        gc.collect()
        s2()

    leaves_it()
    assert drawn(rec) == ["leaves_it(gen#(s) s2(s))"]


def test_a_generator_suspended_inside_try_ends_alike(rec: Recording) -> None:
    @tracectx.probe(name="tries")
    def tries() -> Iterator[int]:
        try:
            yield 1
        finally:
            s()

    @tracectx.probe(name="main")
    def main() -> None:
        generator = tries()
        next(generator)
        del generator
        gc.collect()

    main()
    assert drawn(rec) == ["main(tries#(s))"]


def test_a_generator_that_never_ends_is_unfinished_and_not_in_the_statistics(rec: Recording) -> None:
    generator = gen(3)
    next(generator)
    stats = rec.stats()
    assert (stats.open, stats.folded, stats.open_traces) == (1, 1, 1)
    assert times_of(rec, "gen")["count"] == 0
    assert times_of(rec, "s")["count"] == 1
    list(generator)
    assert drawn(rec) == ["gen(s s s)"]


def test_yield_from_nests(rec: Recording) -> None:
    @tracectx.probe(name="outer")
    def outer() -> Iterator[int]:
        yield from gen(2)
        s2()

    @tracectx.probe(name="main")
    def main() -> None:
        list(outer())

    main()
    assert drawn(rec) == ["main(outer(gen(s s) s2(s)))"]


def test_send_throw_return_and_close_are_as_without_the_probe(rec: Recording) -> None:
    seen: list[object] = []

    @tracectx.probe(name="g")
    def g() -> Generator[str, object, str]:
        seen.append((yield "first"))
        try:
            yield "second"
        except KeyError as error:
            seen.append(error)
        yield "third"
        return "result"

    def delegates() -> Generator[str, object, None]:
        seen.append((yield from g()))

    error = KeyError("thrown")
    generator = delegates()
    assert next(generator) == "first"
    assert generator.send("sent") == "second"
    assert generator.throw(error) == "third"
    with pytest.raises(StopIteration):
        next(generator)
    assert seen == ["sent", error, "result"]
    assert seen[1] is error

    closed = g()
    next(closed)
    closed.close()
    with pytest.raises(StopIteration):
        next(closed)
    assert drawn(rec) == ["g", "g#"]


def test_an_exception_from_a_generator_is_the_same_object(rec: Recording) -> None:
    error = ValueError("mine")

    @tracectx.probe(name="g")
    def g() -> Iterator[int]:
        yield 1
        raise error

    with pytest.raises(ValueError, match="mine") as caught:
        list(g())
    assert caught.value is error
    assert drawn(rec) == ["g!"]


def test_a_context_manager_made_of_a_probed_generator_works(rec: Recording, clock: ManualClock) -> None:
    @contextmanager
    @tracectx.probe(name="cm")
    def cm() -> Iterator[str]:
        clock.advance_ns(1)
        try:
            yield "value"
        finally:
            clock.advance_ns(2)
            s()

    with cm() as value:
        clock.advance_ns(100)
        assert value == "value"
    with pytest.raises(ValueError, match="body"), cm():
        raise ValueError("body")
    assert drawn(rec) == ["cm!(s)", "cm(s)"]
    assert times_of(rec, "cm")["response"] == 6


def test_an_async_generator_is_one_execution(rec: Recording) -> None:
    @tracectx.probe(name="AG")
    async def consumes() -> None:
        async for _ in agen():
            await b()

    asyncio.run(consumes())
    assert drawn(rec) == ["AG(agen(s s s) B(s) B(s) B(s))"]


def test_a_segment_of_an_async_generator_lasts_from_asend_to_its_item_waiting_included(
    rec: Recording, clock: ManualClock
) -> None:
    @tracectx.probe(name="ag")
    async def ag() -> AsyncIterator[int]:
        for item in range(2):
            clock.advance_ns(1)
            await ticks(10)
            yield item

    async def ticks(nanoseconds: int) -> None:
        asyncio.get_running_loop().call_soon(clock.advance_ns, nanoseconds)
        await asyncio.sleep(0)

    @tracectx.probe(name="consume")
    async def consume() -> None:
        async for _ in ag():
            clock.advance_ns(100)

    asyncio.run(consume())
    assert drawn(rec) == ["consume(ag)"]
    figures = times_of(rec, "ag")
    assert (figures["response"], figures["self"], figures["suspended"]) == (22, 2, 20)
    assert times_of(rec, "consume")["response"] == 222
    assert times_of(rec, "consume")["self"] == 200


def test_an_async_generator_closed_in_another_task_ends_where_it_began(rec: Recording) -> None:
    @tracectx.probe(name="opener")
    async def opener() -> AsyncIterator[int]:
        generator = agen()
        await generator.__anext__()
        return generator

    @tracectx.probe(name="closer")
    async def closer(generator: AsyncIterator[int]) -> None:
        s()
        await generator.aclose()  # type: ignore[attr-defined]  # an AsyncIterator that is an AsyncGenerator
        s2()

    async def main() -> None:
        generator = await asyncio.create_task(opener())
        await asyncio.create_task(closer(generator))

    asyncio.run(main())
    assert drawn(rec) == ["closer(s s2(s))", "opener(agen#(s))"]


def test_an_async_generator_begun_and_closed_in_two_tasks_leaves_no_trace_elsewhere(
    rec: Recording, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program of report T25."""

    @tracectx.probe(name="ag")
    async def ag() -> AsyncIterator[int]:
        yield 1
        yield 2

    @tracectx.probe(name="other")
    def other() -> None: ...

    async def main() -> None:
        generator = ag()
        await asyncio.create_task(generator.__anext__())  # type: ignore[arg-type]  # an awaitable that is a coroutine
        await asyncio.create_task(generator.aclose())  # type: ignore[attr-defined]  # it is an AsyncGenerator
        other()

    asyncio.run(main())
    assert drawn(rec) == ["ag#", "other"]
    assert capfd.readouterr().err == ""


def test_children_of_interleaved_generators_are_called_by_them_alone(rec: Recording) -> None:
    """The program of report T29."""

    @tracectx.probe(name="child")
    def child(_: str) -> None: ...

    @tracectx.probe(name="outside")
    def outside() -> None: ...

    @tracectx.probe(name="g")
    def g(name: str) -> Iterator[None]:
        for _ in range(2):
            child(name)
            yield

    first, second = g("a"), g("b")
    next(first)
    next(second)
    outside()
    next(first)
    next(second)
    first.close()  # type: ignore[attr-defined]  # an Iterator that is a Generator
    second.close()  # type: ignore[attr-defined]  # as above
    assert drawn(rec) == ["g#(child child)", "g#(child child)", "outside"]
    assert rec.stats().open == 0


def test_an_async_generator_finalised_by_the_loop_ends_in_its_trace(rec: Recording) -> None:
    @tracectx.probe(name="leaky")
    async def leaky() -> None:
        async for _ in agen():
            break
        s2()
        await asyncio.sleep(0)
        s2()

    asyncio.run(leaky())
    assert drawn(rec) == ["leaky(agen#(s) s2(s) s2(s))"]


def test_a_generator_held_across_awaits_keeps_its_children(rec: Recording) -> None:
    @tracectx.probe(name="two")
    async def two() -> None:
        generator = gen(2)
        next(generator)
        await b()
        next(generator)
        s2()
        assert list(generator) == []

    asyncio.run(two())
    assert drawn(rec) == ["two(gen(s s) B(s) s2(s))"]


def test_spans_in_interleaved_generators_keep_nothing_open(rec: Recording) -> None:
    @tracectx.probe(name="g")
    def g() -> Iterator[None]:
        with tracectx.span("part"):
            s()
            yield
            s()

    @tracectx.probe(name="main")
    def main() -> None:
        first, second = g(), g()
        for generator in (first, second, first, second):
            next(generator, None)

    main()
    assert drawn(rec) == ["main(g(part(s s)) g(part(s s)))"]
