"""An asynchronous service: requests share a cache that sometimes misses. Why is `handle_request` sometimes slow?

    python examples/async_service.py [--requests 300]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
from collections.abc import AsyncIterator

import tracectx

cache: dict[int, str] = {}


@tracectx.probe
async def query(key: int) -> str:
    """Stands for a database: it answers after a while."""
    await asyncio.sleep(0.002)
    return f"row {key}"


@tracectx.probe
async def cached(key: int) -> str:
    if key not in cache:
        cache[key] = await query(key)
    return cache[key]


@tracectx.probe
async def rows(keys: list[int]) -> AsyncIterator[str]:
    for key in keys:
        yield await cached(key)


@tracectx.probe
def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@tracectx.probe
async def handle_request(keys: list[int]) -> str:
    """Two parts at once, then a checksum in a thread."""
    head, tail = await asyncio.gather(collect(keys[:2]), collect(keys[2:]))
    return await asyncio.to_thread(checksum, head + tail)


async def collect(keys: list[int]) -> str:
    return "".join([row async for row in rows(keys)])


async def serve(requests: int, seed: int = 1) -> None:
    """Batches of requests at once, for keys of which few are hot."""
    choose = random.Random(seed)
    for _ in range(requests // 10):
        batch = [[int(choose.paretovariate(1.2)) for _ in range(4)] for _ in range(10)]
        await asyncio.gather(*(handle_request(keys) for keys in batch))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=600)
    asyncio.run(serve(arguments.parse_args().requests))
    tracectx.report()
