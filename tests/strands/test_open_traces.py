"""DESIGN.md section 5: snapshots while traces are open, when a trace is complete, and what comes too late."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

import tracectx
from tests.strands.programs import b, s, s2
from tests.support import drawn
from tracectx.session.session import Recording
from tracectx.testing import ManualClock


@pytest.fixture
def lingering(clock: ManualClock) -> Iterator[Recording]:
    with tracectx.recording(clock=clock, loops="exact", trace_linger=10) as recording:
        yield recording


def counts(recording: Recording, level: str) -> dict[tuple[str, str | None], int]:
    """Executions by operation and, for a context that is not kept apart, the reason."""
    found: dict[tuple[str, str | None], int] = {}
    for context in recording.snapshot().contexts(level=level):
        key = (context.operation, context.other_reason)
        found[key] = found.get(key, 0) + context.count
    return found


def test_a_root_that_runs_for_ever_shows_what_has_completed_below_it(rec: Recording) -> None:
    seen: list[dict[tuple[str, str | None], int]] = []

    @tracectx.probe(name="main")
    def main() -> None:
        for _ in range(2):
            s2()
            seen.append(counts(rec, "trace"))
            seen.append(counts(rec, "subtree"))

    main()
    once, twice = {("s", "open"): 1, ("s2", "open"): 1}, {("s", "open"): 2, ("s2", "open"): 2}
    assert seen == [once, {("s", None): 1, ("s2", None): 1}, twice, {("s", None): 2, ("s2", None): 2}]
    assert counts(rec, "trace") == {("s", None): 2, ("s2", None): 2, ("main", None): 1}
    assert drawn(rec) == ["main(s2(s) s2(s))"]


def test_an_execution_that_waits_for_a_task_is_shown_without_its_subtree(rec: Recording) -> None:
    async def main() -> None:
        go = asyncio.Event()

        @tracectx.probe(name="waits")
        async def waits() -> None:
            await go.wait()

        @tracectx.probe(name="creator")
        async def creator() -> asyncio.Task[None]:
            s()
            return asyncio.create_task(waits())

        task = await creator()
        await asyncio.sleep(0)
        assert counts(rec, "stack") == {("creator", None): 1, ("s", None): 1}
        assert counts(rec, "subtree") == {("creator", "open"): 1, ("s", None): 1}
        go.set()
        await task

    asyncio.run(main())
    assert counts(rec, "trace") == {("creator", None): 1, ("s", None): 1, ("waits", None): 1}


def test_windows_between_snapshots_are_exact_while_traces_complete(rec: Recording, clock: ManualClock) -> None:
    trees: list[tracectx.CallingContextTree] = []

    @tracectx.probe(name="main")
    def main() -> None:
        s2()
        trees.append(rec.snapshot())
        clock.advance_ns(5)
        s2()

    main()
    main()
    later, earlier = rec.snapshot(), trees[0]
    window = later.since(earlier)
    assert {name: operation.count for name, operation in window.operations.items()} == {"main": 2, "s": 3, "s2": 3}
    assert (earlier.executions, window.executions, later.executions) == (2, 8, 10)


def test_what_comes_after_the_linger_is_late_and_keeps_its_stack(lingering: Recording, clock: ManualClock) -> None:
    async def main() -> None:
        go = asyncio.Event()

        @tracectx.probe(name="straggler")
        async def straggler() -> None:
            await b()
            await go.wait()
            s2()

        @tracectx.probe(name="request")
        async def request() -> asyncio.Task[None]:
            return asyncio.create_task(straggler())

        task = await request()
        for _ in range(5):
            await asyncio.sleep(0)
        clock.advance(9)
        assert lingering.stats().open_traces == 1
        clock.advance(1)
        stats = lingering.stats()
        assert (stats.traces, stats.late_executions) == (1, 2), "B and its s had completed below the straggler"
        assert counts(lingering, "trace")["request", None] == 1
        go.set()
        await task

    asyncio.run(main())
    stats = lingering.stats()
    assert (stats.open, stats.open_traces, stats.late_executions) == (0, 0, 5)
    contexts = {context.operation: context for context in lingering.snapshot().contexts(level="subtree")}
    assert contexts["straggler"].stack == ("request", "straggler")
    assert str(contexts["straggler"].shape).startswith("straggler")
    assert contexts["s2"].stack == ("request", "straggler", "s2")
    assert counts(lingering, "trace")["straggler", "late"] == 1


def test_a_position_that_somebody_holds_keeps_a_trace_open_until_it_is_let_go(rec: Recording) -> None:
    held: list[object] = []

    @tracectx.probe(name="request")
    def request() -> None:
        held.append(tracectx.propagate(s2))

    request()
    assert rec.stats().open_traces == 1
    held.clear()
    assert rec.stats().open_traces == 0
    assert drawn(rec) == ["request"]


def test_traces_of_a_block_that_has_closed_are_late(clock: ManualClock) -> None:
    @tracectx.probe(name="request")
    def request() -> object:
        return tracectx.propagate(s2)

    with tracectx.recording(clock=clock, loops="exact") as recording:
        carried = request()
        s()
    carried()  # type: ignore[operator]  # what propagate gives can be called
    del carried  # nobody holds the position any more
    stats = recording.stats()
    assert (stats.folded, stats.late_executions) == (4, 3)
    assert counts(recording, "trace") == {
        ("request", "late"): 1, ("s2", "late"): 1, ("s", "late"): 1, ("s", None): 1,
    }  # fmt: skip
