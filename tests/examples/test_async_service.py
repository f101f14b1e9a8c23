"""The asynchronous service: one trace for each request, with what it did in tasks and in a thread."""

from __future__ import annotations

import asyncio

import tracectx
from examples.async_service import PAGES, Service, serve
from tracectx.testing import ManualClock

SERVICE = "examples.async_service.Service."
REQUESTS = 40


def recorded() -> tuple[tracectx.CallingContextTree, Service]:
    clock = ManualClock()

    async def wait(seconds: float) -> None:
        clock.advance(seconds)
        await asyncio.sleep(0)

    service = Service(wait, clock.advance)
    with tracectx.recording(clock=clock, loops="exact") as recording:
        asyncio.run(serve(REQUESTS, service, clients=1))
    return recording.snapshot(), service


def test_each_request_is_a_trace_and_its_tasks_and_thread_are_in_it() -> None:
    tree, service = recorded()
    assert tree.traces == REQUESTS
    assert tree.executions == 5 * REQUESTS + len(service.cache)
    # Each page is waited for, and then asked for the next.
    assert tree[SERVICE + "pages"].resumptions == 2 * PAGES * REQUESTS
    for name in ("profile", "articles", "render"):
        (context,) = tree.contexts(SERVICE + name, "stack")
        assert context.stack == (SERVICE + "handle_request", SERVICE + name)


def test_a_request_takes_longer_by_the_loading_of_a_profile_that_the_cache_missed() -> None:
    tree, service = recorded()
    means = {}
    for context in tree.contexts(SERVICE + "handle_request", "subtree"):
        assert context.shape
        loads = any(node.operation == SERVICE + "load_profile" for node in context.shape.walk())
        means[loads] = context.response_time.min_ns, context.response_time.max_ns, context.count
    # Three pages of 0.5 ms and 1 ms to render; 20 ms for a profile, while nothing else runs on this clock.
    assert means == {
        False: (2_500_000, 2_500_000, REQUESTS - len(service.cache)),
        True: (22_500_000, 22_500_000, len(service.cache)),
    }
