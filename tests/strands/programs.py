"""Probed functions that several rows use, named as the drawn traces name them."""

from __future__ import annotations

import asyncio
import types
from collections.abc import AsyncIterator, Generator, Iterator

import tracectx


@tracectx.probe(name="s")
def s() -> None: ...


@tracectx.probe(name="s2")
def s2() -> None:
    s()


@tracectx.probe(name="B")
async def b() -> None:
    await asyncio.sleep(0)
    s()
    await asyncio.sleep(0)


async def unprobed(times: int = 1) -> None:
    for _ in range(times):
        s()
        await asyncio.sleep(0)


@tracectx.probe(name="gen")
def gen(items: int) -> Iterator[int]:
    for item in range(items):
        s()
        yield item


@tracectx.probe(name="agen")
async def agen() -> AsyncIterator[int]:
    for item in range(3):
        s()
        await asyncio.sleep(0)
        yield item


@types.coroutine
def suspended() -> Generator[None, None, None]:
    """Suspends the coroutine that awaits it, without any event loop."""
    yield
