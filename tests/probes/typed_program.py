"""Read by mypy, never run: what type checkers make of probed code. Each comment says what `reveal_type` must show."""

# ruff: noqa: F821  # reveal_type is known to type checkers alone

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from typing import overload

from tracectx.probes.probe import probe, unprobe
from tracectx.probes.propagation import propagate


@probe
def bare(a: int, b: str = "x", *, key: bool = False) -> float:
    return 1.0


@probe(name="called", root=True, label=lambda a: str(a))
def called(a: int) -> list[str]:
    return []


@probe
async def coroutine(a: int) -> bytes:
    return b""


@probe()
def generator() -> Iterator[int]:
    yield 1


@probe
async def async_generator() -> AsyncIterator[int]:
    yield 1


@overload
def overloaded(a: int) -> int: ...
@overload
def overloaded(a: str) -> str: ...
@probe
def overloaded(a: int | str) -> int | str:
    return a


@probe
class Shop:
    @probe
    def method(self, a: int) -> str:
        return ""

    @probe
    @staticmethod
    def static(a: int) -> str:
        return ""

    @probe
    @classmethod
    def made(cls, a: int) -> Shop:
        return cls()

    @functools.cached_property
    def once(self) -> int:
        return 1


shop = Shop()
reveal_type(bare)  # def (a: int, b: str =, *, key: bool =) -> float
reveal_type(called)  # def (a: int) -> list[str]
reveal_type(coroutine)  # def (a: int) -> typing.Coroutine[Any, Any, bytes]
reveal_type(generator())  # typing.Iterator[int]
reveal_type(async_generator())  # typing.AsyncIterator[int]
reveal_type(overloaded(1))  # int
reveal_type(overloaded(""))  # str
reveal_type(shop)  # typed_program.Shop
reveal_type(shop.method)  # def (a: int) -> str
reveal_type(shop.static(1))  # str
reveal_type(Shop.made(1))  # typed_program.Shop
reveal_type(shop.once)  # int
reveal_type(unprobe(bare))  # def (a: int, b: str =, *, key: bool =) -> float
reveal_type(propagate(bare))  # def (a: int, b: str =, *, key: bool =) -> float
