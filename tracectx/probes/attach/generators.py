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
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any, TypeAlias

AnyGenerator: TypeAlias = "GeneratorType[Any, Any, Any] | CoroutineType[Any, Any, Any] | AsyncGeneratorType[Any, Any]"
# Any: whatever the program's generators hand out

_WORD = ctypes.sizeof(ctypes.c_void_p)
_FRAME_WORDS = range(2, 8)  # after the object header; the pointer to the interpreter's frame is among the first fields
_CLOSED_WITHOUT_EVENT = 4  # RESUME's flag: no exception handler surrounds this yield


def silent_yields(code: CodeType) -> frozenset[int]:
    """Offsets of the yields at which a close runs no code of the generator, so causes no event (3.13 and newer)."""
    if sys.version_info < (3, 13):
        return frozenset()
    instructions = list(dis.get_instructions(code))
    return frozenset(
        before.offset
        for before, after in itertools.pairwise(instructions)
        if before.opname == "YIELD_VALUE" and after.opname == "RESUME" and (after.arg or 0) & _CLOSED_WITHOUT_EVENT
    )


def _example() -> Generator[None, None, None]:
    yield


def _word(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value


def _calibrate() -> Callable[[FrameType], AnyGenerator | None] | None:
    """Finds where a frame points into its generator, on two generators whose frames are known."""
    if sys.implementation.name != "cpython" or sys.version_info < (3, 12):
        return None
    first, second = _example(), _example()
    assert isinstance(first, GeneratorType) and isinstance(second, GeneratorType)
    size = sys.getsizeof(first)
    for index in _FRAME_WORDS:
        distance = _word(id(first.gi_frame) + index * _WORD) - id(first)
        if 0 < distance < size and _word(id(second.gi_frame) + index * _WORD) - id(second) == distance:
            return _finder(index * _WORD, distance)
    return None


def _finder(field: int, distance: int) -> Callable[[FrameType], AnyGenerator | None]:
    type_field = object.__basicsize__ - _WORD
    frame_attributes = {
        id(GeneratorType): "gi_frame",
        id(CoroutineType): "cr_frame",
        id(AsyncGeneratorType): "ag_frame",
    }

    def find(frame: FrameType) -> AnyGenerator | None:
        """The generator, coroutine or async generator that runs in `frame`; call it for frames of such code only."""
        address = _word(id(frame) + field) - distance
        attribute = frame_attributes.get(_word(address + type_field))
        if attribute is None:
            return None
        candidate: AnyGenerator = ctypes.cast(address, ctypes.py_object).value
        return candidate if getattr(candidate, attribute) is frame else None

    return find


FIND_BY_FRAME = _calibrate()
