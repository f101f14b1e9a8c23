"""Module-level functions and classes for tests that need what pickle and other processes can find by name."""

from __future__ import annotations

import functools


def plain(a: int, b: int = 2, *rest: str, key: str = "k", **more: object) -> str:
    """Plain's text."""
    return f"{a} {b} {rest} {key} {more}"


async def coroutine(a: int) -> int:
    return a


class Basket:
    def total(self, factor: int = 1) -> int:
        return 7 * factor


@functools.cache
def cached(n: int) -> int:
    return n
