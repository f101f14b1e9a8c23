"""What a stream can take: whether it is a terminal, and texts whose names its encoding lacks."""

from __future__ import annotations

import codecs
import os
import re
from typing import IO

from tracectx.errors import ConfigError

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def check_stream(file: object) -> None:
    """`ConfigError` for what cannot be written to."""
    if not callable(getattr(file, "write", None)):
        cure = "; open(path, 'w') gives one" if isinstance(file, (str, os.PathLike)) else ""
        raise ConfigError(f"file must be a text file that is open for writing, got {file!r}{cure}")


def can_show(stream: IO[str], text: str) -> bool:
    """Whether the encoding of a stream has all characters of a text."""
    try:
        text.encode(_encoding(stream))
    except UnicodeEncodeError:
        return False
    return True


def shown(stream: IO[str], text: str) -> str:
    """A text with what the encoding lacks as `\\xf6`: a name must not make a report fail."""
    encoding = _encoding(stream)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def shown_json(stream: IO[str], text: str) -> str:
    """JSON that means the same, in ASCII where the encoding lacks a character."""
    return text if can_show(stream, text) else _NOT_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    """As JSON escapes: one or two UTF-16 units."""
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _encoding(stream: IO[str]) -> str:
    """Of a stream that has none, or one that Python does not know, UTF-8."""
    try:
        return codecs.lookup(getattr(stream, "encoding", None) or "utf-8").name
    except LookupError:
        return "utf-8"
