"""An asyncio service with tasks, a cache, an async generator and a thread: why is `handle_request` sometimes slow?

python examples/async_service.py --requests 300
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import tracectx

PROFILE, PAGE, PAGES, RENDER = 0.02, 0.000_5, 3, 0.001  # seconds, and pages


@dataclass
class Service:
    """What it waits for is a parameter: `wait` in the event loop, `work` in a thread."""

    wait: Callable[[float], Awaitable[None]] = asyncio.sleep
    work: Callable[[float], None] = time.sleep
    cache: dict[int, str] = field(default_factory=dict)

    @tracectx.probe
    async def handle_request(self, user: int) -> str:
        profile, articles = await asyncio.gather(self.profile(user), self.articles())
        return await asyncio.to_thread(self.render, profile, articles)

    @tracectx.probe
    async def profile(self, user: int) -> str:
        if user not in self.cache:
            self.cache[user] = await self.load_profile(user)
        return self.cache[user]

    @tracectx.probe
    async def load_profile(self, user: int) -> str:
        await self.wait(PROFILE)
        return f"user {user}"

    @tracectx.probe
    async def articles(self) -> list[str]:
        return [page async for page in self.pages()]

    @tracectx.probe
    async def pages(self) -> AsyncIterator[str]:
        for number in range(PAGES):
            await self.wait(PAGE)
            yield f"page {number}"

    @tracectx.probe
    def render(self, profile: str, articles: list[str]) -> str:
        self.work(RENDER)
        return "\n".join([profile, *articles])


async def serve(requests: int, service: Service, seed: int = 1, clients: int = 5) -> None:
    """Some clients at a time send seeded requests of a few users."""
    rng = random.Random(seed)
    users = iter([rng.randrange(requests // 4 + 1) for _ in range(requests)])

    async def client() -> None:
        for user in users:
            await service.handle_request(user)

    await asyncio.gather(*(client() for _ in range(clients)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=300)
    asyncio.run(serve(parser.parse_args().requests, Service()))
    tracectx.report()
