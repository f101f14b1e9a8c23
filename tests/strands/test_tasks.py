"""DESIGN.md section 5: coroutines, tasks, callbacks and event loops."""

from __future__ import annotations

import asyncio
import contextvars
import sys

import pytest

import tracectx
from tests.strands.programs import b, s, s2, suspended, unprobed
from tests.support import drawn, times_of
from tracectx.session.session import Recording
from tracectx.testing import ManualClock

needs_eager_tasks = pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with 3.12")
needs_task_groups = pytest.mark.skipif(sys.version_info < (3, 11), reason="task groups came with 3.11")
needs_task_contexts = pytest.mark.skipif(sys.version_info < (3, 11), reason="create_task(context=) came with 3.11")


def test_unprobed_coroutines_in_between_change_nothing(rec: Recording) -> None:
    @tracectx.probe(name="A")
    async def a() -> None:
        await between()

    async def between() -> None:
        s()
        await b()
        s()

    asyncio.run(a())
    assert drawn(rec) == ["A(s B(s) s)"]


def test_a_coroutine_is_one_execution_whose_response_time_includes_waiting(rec: Recording, clock: ManualClock) -> None:
    @tracectx.probe(name="waits")
    async def waits() -> None:
        clock.advance_ns(1)
        await suspended()
        clock.advance_ns(2)

    coroutine = waits()
    clock.advance_ns(100)  # made, but not running: not its time
    coroutine.send(None)
    clock.advance_ns(10)
    with pytest.raises(StopIteration):
        coroutine.send(None)
    assert times_of(rec, "waits") == {
        "count": 1, "response": 13, "self": 3, "suspended": 10, "resumptions": 1, "outermost": 13,
    }  # fmt: skip


def test_the_caller_of_a_coroutine_is_where_it_first_runs(rec: Recording) -> None:
    @tracectx.probe(name="makes")
    def makes() -> object:
        return b()

    @tracectx.probe(name="runs")
    async def runs(made: list[object]) -> None:
        await made.pop()  # type: ignore[misc]  # it is the coroutine of b

    asyncio.run(runs([makes()]))
    assert drawn(rec) == ["makes", "runs(B(s))"]


def test_other_tasks_that_run_meanwhile_are_not_children(rec: Recording) -> None:
    @tracectx.probe(name="waits")
    async def waits() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def main() -> None:
        task = asyncio.create_task(waits())
        await asyncio.sleep(0)
        await asyncio.create_task(unprobed(2))
        await task

    asyncio.run(main())
    assert drawn(rec) == ["s", "s", "waits"]


def test_executions_in_a_task_hang_from_where_it_was_created(rec: Recording) -> None:
    @tracectx.probe(name="P")
    async def p() -> None:
        task = asyncio.create_task(unprobed(2))
        s2()
        await task
        s()

    asyncio.run(p())
    assert drawn(rec) == ["P(s2(s) s ~s ~s)"]


def test_a_task_may_be_created_by_a_synchronous_probe_that_has_returned(rec: Recording) -> None:
    @tracectx.probe(name="spawn")
    def spawn() -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(unprobed(2))

    async def main() -> None:
        task = spawn()
        await asyncio.sleep(0)
        s()
        await task

    asyncio.run(main())
    assert drawn(rec) == ["s", "spawn(~s ~s)"]


def test_a_task_may_be_created_before_the_loop_runs(rec: Recording) -> None:
    @tracectx.probe(name="spawn")
    def spawn(loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        return loop.create_task(unprobed(2))

    loop = asyncio.new_event_loop()
    task = spawn(loop)
    loop.run_until_complete(task)
    loop.close()
    assert drawn(rec) == ["spawn(~s ~s)"], "a task that is done keeps nothing open, though somebody still holds it"


def test_gather_makes_asynchronous_children_and_await_synchronous_ones(rec: Recording) -> None:
    async def both() -> None:
        await asyncio.gather(b(), b())

    @tracectx.probe(name="gathers")
    async def gathers() -> None:
        await both()

    @tracectx.probe(name="awaits")
    async def awaits() -> None:
        await b()
        await b()

    asyncio.run(gathers())
    asyncio.run(awaits())
    assert drawn(rec) == ["awaits(B(s) B(s))", "gathers(~B(s) ~B(s))"]


def test_the_order_of_asynchronous_children_is_not_part_of_the_shape(rec: Recording) -> None:
    @tracectx.probe(name="P")
    async def p(first: int) -> None:
        coroutines = [b(), unprobed()]
        await asyncio.gather(coroutines[first], coroutines[1 - first])

    asyncio.run(p(0))
    asyncio.run(p(1))
    assert drawn(rec) == ["P(~B(s) ~s)"] * 2
    assert len(rec.columns().classes.shape) == 1


@needs_task_groups
def test_a_task_group_makes_asynchronous_children(rec: Recording) -> None:
    @tracectx.probe(name="TG")
    async def grouped() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(b())
            group.create_task(unprobed())
            s()

    asyncio.run(grouped())
    assert drawn(rec) == ["TG(s ~B(s) ~s)"]


@needs_eager_tasks
def test_the_first_segment_of_an_eager_task_is_part_of_its_creators_time(rec: Recording, clock: ManualClock) -> None:
    @tracectx.probe(name="eager")
    async def eager() -> None:
        clock.advance_ns(3)
        await asyncio.sleep(0)
        clock.advance_ns(5)

    @tracectx.probe(name="EG")
    async def creator() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        clock.advance_ns(1)
        tasks = [asyncio.create_task(unprobed(2)), asyncio.create_task(eager())]
        s()
        clock.advance_ns(1)
        await asyncio.gather(*tasks)

    asyncio.run(creator())
    assert drawn(rec) == ["EG(s ~eager ~s ~s)"]
    assert times_of(rec, "eager")["response"] == 9, "it waited while its creator went on"
    assert times_of(rec, "eager")["self"] == 8
    assert times_of(rec, "EG")["self"] == 2, "not what the eager task ran inside it"
    assert times_of(rec, "EG")["response"] == 10


def test_asyncio_run_inside_a_synchronous_probe_makes_asynchronous_children(rec: Recording) -> None:
    @tracectx.probe(name="main")
    def main() -> None:
        asyncio.run(unprobed())
        s()

    @tracectx.probe(name="main2")
    def main2() -> None:
        asyncio.run(b())
        s()

    main()
    main2()
    assert drawn(rec) == ["main(s ~s)", "main2(s ~B(s))"]


def test_a_callback_is_a_child_of_the_coroutine_that_scheduled_it(rec: Recording) -> None:
    @tracectx.probe(name="CB")
    async def schedules() -> None:
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.call_soon(s2)
        loop.call_later(0, s)
        loop.call_later(0, event.set)
        await event.wait()
        s()

    @tracectx.probe(name="main")
    def main() -> None:
        asyncio.run(schedules())

    asyncio.run(schedules())
    main()
    assert drawn(rec) == ["CB(s ~s ~s2(s))", "main(~CB(s ~s ~s2(s)))"]


def test_a_done_callback_is_a_child_of_the_coroutine_that_added_it(rec: Recording) -> None:
    @tracectx.probe(name="adds")
    async def adds() -> None:
        future = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: s2())
        future.set_result(None)
        await asyncio.sleep(0)

    asyncio.run(adds())
    assert drawn(rec) == ["adds(~s2(s))"]


def test_cancellation_ends_each_execution_as_cancelled(rec: Recording) -> None:
    @tracectx.probe(name="inner")
    async def inner() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            s()

    async def between() -> None:
        await inner()

    @tracectx.probe(name="outer")
    async def outer() -> None:
        await between()

    @tracectx.probe(name="cancels")
    async def cancels() -> None:
        task = asyncio.create_task(outer())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        s2()

    asyncio.run(cancels())
    assert drawn(rec) == ["cancels(s2(s) ~outer^(inner^(s)))"]


def test_a_cancellation_that_is_caught_lets_the_execution_go_on(rec: Recording) -> None:
    @tracectx.probe(name="catches")
    async def catches() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            s()
            await asyncio.sleep(0)
            s2()

    @tracectx.probe(name="outer")
    async def outer() -> None:
        await catches()
        s()

    async def main() -> None:
        task = asyncio.create_task(outer())
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(main())
    assert drawn(rec) == ["outer(catches(s s2(s)) s)"]


def test_context_run_changes_nothing(rec: Recording) -> None:
    def runs() -> None:
        contextvars.copy_context().run(s2)
        contextvars.Context().run(s2)
        s()

    @tracectx.probe(name="sync")
    def sync() -> None:
        runs()

    @tracectx.probe(name="coro")
    async def coro() -> None:
        contextvars.copy_context().run(s2)
        s()

    sync()
    asyncio.run(coro())
    assert drawn(rec) == ["coro(s2(s) s)", "sync(s2(s) s2(s) s)"]


def test_coroutines_stepped_by_hand_keep_their_own_children(rec: Recording) -> None:
    @tracectx.probe(name="D")
    async def d() -> None:
        s()
        await suspended()
        s2()

    @tracectx.probe(name="hand")
    def hand() -> None:
        first, second = d(), d()
        first.send(None)
        second.send(None)
        s()
        for coroutine in (second, first):
            with pytest.raises(StopIteration):
                coroutine.send(None)

    hand()
    assert drawn(rec) == ["hand(D(s s2(s)) D(s s2(s)) s)"]


@needs_task_contexts
def test_tasks_that_share_an_explicit_context_stay_apart(rec: Recording) -> None:
    @tracectx.probe(name="shared")
    async def shared() -> None:
        context, loop = contextvars.copy_context(), asyncio.get_running_loop()
        await asyncio.gather(loop.create_task(unprobed(), context=context), loop.create_task(b(), context=context))

    asyncio.run(shared())
    assert drawn(rec) == ["shared(~B(s) ~s)"]


def test_a_task_that_outlives_its_creator_keeps_its_stack_and_its_creators_time(rec: Recording, clock: ManualClock) -> None:
    @tracectx.probe(name="child")
    async def child(go: asyncio.Event) -> None:
        await go.wait()
        clock.advance_ns(7)

    @tracectx.probe(name="parent")
    async def parent(go: asyncio.Event, tasks: list[asyncio.Task[None]]) -> None:
        clock.advance_ns(2)
        tasks.append(asyncio.create_task(child(go)))

    async def main() -> None:
        go, tasks = asyncio.Event(), list[asyncio.Task[None]]()
        await parent(go, tasks)
        assert rec.stats().open_traces == 1, "the trace waits for the task"
        clock.advance_ns(50)
        go.set()
        await tasks.pop()

    asyncio.run(main())
    assert drawn(rec) == ["parent(~child)"]
    assert times_of(rec, "parent")["response"] == 2


def test_uvloop_is_as_asyncio(rec: Recording) -> None:
    uvloop = pytest.importorskip("uvloop")

    @tracectx.probe(name="spawn")
    def spawn() -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(unprobed(2))

    @tracectx.probe(name="P")
    async def p() -> None:
        await spawn()
        await asyncio.gather(b(), b())
        await asyncio.to_thread(s2)

    loop = uvloop.new_event_loop()
    try:
        loop.run_until_complete(p())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
    assert drawn(rec) == ["P(spawn(~s ~s) ~B(s) ~B(s) ~s2(s))"]
