"""From the frame of a generator to the generator, and what its end looks like from outside. CPython 3.12 and newer.

A frame has no public way to its generator before Python 3.14, and only the generator can be referenced weakly. Where
the layout is not as `_calibrate` expects, `FIND_BY_FRAME` is None and generators are wrapped instead.
"""

from __future__ import annotations

import ctypes
import dis
import itertools
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any, TypeAlias

AnyGenerator: TypeAlias = "GeneratorType[Any, Any, Any] | CoroutineType[Any, Any, Any] | AsyncGeneratorType[Any, Any]"
# Any: whatever the program's generators hand out

_WORD = ctypes.sizeof(ctypes.c_void_p)
_FRAME_WORDS = range(2, 8)  # after the object header; the pointer to the interpreter's frame is among the first fields

# What RESUME after a yield says in its argument: where it comes from, and whether no exception handler surrounds it.
_ORIGIN, _AFTER_YIELD, _UNPROTECTED = 3, 1, 4

_FRAME_ATTRIBUTES = {id(GeneratorType): "gi_frame", id(CoroutineType): "cr_frame", id(AsyncGeneratorType): "ag_frame"}


@dataclass(frozen=True, slots=True)
class Yields:
    """Offsets at which a code stops for a while: of YIELD_VALUE (`f_lasti` then, before 3.13) and of what follows."""

    items: frozenset[int]  # they hand out an item; the others wait
    silent: frozenset[int]  # closing there runs none of the code, so causes no event (3.13 and newer)


def yields_of(code: CodeType, items: bool) -> Yields:
    """The yields of a code. A `yield from` hands out items too; `items` is False where all wait."""
    handing_out: list[int] = []
    silent: list[int] = []
    for before, after in itertools.pairwise(dis.get_instructions(code)):
        if before.opname == "YIELD_VALUE" and after.opname == "RESUME":
            if items and ((after.arg or 0) & _ORIGIN == _AFTER_YIELD or not code.co_flags & CO_ASYNC_GENERATOR):
                handing_out += (before.offset, after.offset)
            if sys.version_info >= (3, 13) and (after.arg or 0) & _UNPROTECTED:
                silent += (before.offset, after.offset)
    return Yields(frozenset(handing_out), frozenset(silent))


def is_finished(generator: object) -> bool:
    """Whether a generator, coroutine or async generator will never run again; False for one that is gone."""
    for attribute in _FRAME_ATTRIBUTES.values():
        if hasattr(generator, attribute):
            return getattr(generator, attribute) is None
    return False


def _example() -> Generator[None, None, None]:
    yield


def _word(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value


def _calibrate() -> Callable[[FrameType], AnyGenerator | None] | None:
    """Finds where a frame points into its generator, on two generators whose frames are known."""
    if sys.implementation.name != "cpython" or sys.version_info < (3, 12):
        return None
    first, second = _example(), _example()
    assert isinstance(first, GeneratorType)
    assert isinstance(second, GeneratorType)
    size = sys.getsizeof(first)
    for index in _FRAME_WORDS:
        distance = _word(id(first.gi_frame) + index * _WORD) - id(first)
        if 0 < distance < size and _word(id(second.gi_frame) + index * _WORD) - id(second) == distance:
            return _finder(index * _WORD, distance)
    return None


def _finder(field: int, distance: int) -> Callable[[FrameType], AnyGenerator | None]:
    type_field = object.__basicsize__ - _WORD

    def find(frame: FrameType) -> AnyGenerator | None:
        """The generator, coroutine or async generator that runs in `frame`; call it for frames of such code only."""
        address = _word(id(frame) + field) - distance
        attribute = _FRAME_ATTRIBUTES.get(_word(address + type_field))
        if attribute is None:
            return None
        candidate: AnyGenerator = ctypes.cast(address, ctypes.py_object).value
        return candidate if getattr(candidate, attribute) is frame else None

    return find


FIND_BY_FRAME = _calibrate()
