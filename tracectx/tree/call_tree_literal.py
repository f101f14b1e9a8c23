"""Dynamic call trees as text: the words of the syntax, read and written. Knows nothing of trees.

    tree      = node | "(" node {"," node} ")"            the second: several roots
    node      = ["~"] name [ending] [repeat] ["(" node {"," node} ")"]
    name      = a run of characters without space , ( ) " ~ ! ^ # ? *   or a JSON string
    ending    = "!" raised | "^" cancelled | "#" closed | "?" abandoned; returned without a mark
    repeat    = "*" low ["-" high]

`~` marks an asynchronous child. Space between words means nothing. `A.a(C.c*2-3(D.d), ~"GET /items"!)` is one tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from tracectx.core.snapshot import ENDINGS
from tracectx.errors import ConfigError

MARKS = dict(zip(ENDINGS, ("", "!", "^", "#", "?"), strict=True))
_ENDING_OF = {mark: ending for ending, mark in MARKS.items()}

_BARE = re.compile(r'[^\s,()"~!^#?*]+')
_HEAD = re.compile(
    r"""(?P<is_async>~?) \s* (?P<name>"(?:[^"\\]|\\.)*" | [^\s,()"~!^#?*]+) \s*
        (?P<ending>[!^#?]?) \s* (?:\* (?P<low>\d{1,18}) (?:-(?P<high>\d{1,18}))?)?""",
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"\s*")


class Head(NamedTuple):
    """All of a node but its children."""

    operation: str | None
    ending: str
    is_async: bool
    repeat: tuple[int, int]


def heads(text: str) -> Iterator[tuple[int, Head]]:
    """The depth and head of every node of a literal, in preorder. `ConfigError` says what was expected, and where."""
    at, depth, is_forest = _skip(text, 0), 0, False
    if text.startswith("(", at):
        yield 0, Head(None, "returned", False, (1, 1))
        at, depth, is_forest = _skip(text, at + 1), 1, True
    while True:
        head, at = _head(text, at)
        yield depth, head
        if text.startswith("(", at):
            at, depth = _skip(text, at + 1), depth + 1
            continue
        while text.startswith(")", at) and depth:
            at, depth = _skip(text, at + 1), depth - 1
        if depth == 0:
            if at != len(text):
                raise _error(text, at, "the end")
            return
        if not text.startswith(",", at):
            raise _error(text, at, "',', '(' or ')'")
        at = _skip(text, at + 1)
        if is_forest and depth == 1 and text.startswith("(", at):
            raise _error(text, at, "a name")


def written(head: Head) -> str:
    """A head as it is read."""
    name = head.operation or ""
    if head.operation is not None and not _BARE.fullmatch(name):
        name = json.dumps(name)
    low, high = head.repeat
    repeat = "" if high == low == 1 else f"*{low}" if low == high else f"*{low}-{high}"
    return f"{'~' if head.is_async else ''}{name}{MARKS[head.ending]}{repeat}"


def _head(text: str, at: int) -> tuple[Head, int]:
    match = _HEAD.match(text, at)
    if match is None:
        raise _error(text, at, "a name")
    name = match["name"]
    if name.startswith('"'):
        try:
            name = json.loads(name)
        except ValueError:
            raise _error(text, match.start("name"), "a JSON string") from None
    low = int(match["low"] or 1)
    high = int(match["high"] or low)
    if not 1 <= low <= high:
        raise _error(text, match.start("low"), "a repeat *low-high with 1 <= low <= high")
    return Head(name, _ENDING_OF[match["ending"]], bool(match["is_async"]), (low, high)), _skip(text, match.end())


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _error(text: str, at: int, expected: str) -> ConfigError:
    found = repr(text[at : at + 20]) if at < len(text) else "the end"
    return ConfigError(f"a call tree like 'A.a(B.b, ~C.c)': expected {expected} at character {at}, got {found}")
