"""Trees from and to `.tctx` files. A file may come from a stranger: it is checked in full before anything is computed."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from tracectx.core.snapshot import Snapshot
from tracectx.errors import FormatError
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.file_checks import check, checked_info
from tracectx.tree.file_format import DIGEST_BYTES, PREFIX_BYTES, decoded, digest, header_bytes, parsed_header


def load(path: str | os.PathLike[str]) -> CallingContextTree:
    """The tree that `tree.save(path)` wrote.

    `FormatError` says what is wrong with a file that is none; `OSError` as from `open`. Takes memory in proportion to the
    size of the file, whatever is in it.
    """
    with open(path, "rb") as file:
        try:
            return CallingContextTree(_read(file))
        except FormatError as error:
            raise FormatError(f"{os.fspath(path)}: {error}") from None


def save(tree: CallingContextTree, path: str | os.PathLike[str]) -> None:
    """`tree.save(path)`."""
    tree.save(path)


def _read(file: BinaryIO) -> Snapshot:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise FormatError("expected a regular file, got a device or pipe")
    prefix = file.read(PREFIX_BYTES)
    length = header_bytes(prefix)
    left = status.st_size - PREFIX_BYTES - DIGEST_BYTES - length
    if left < 0:
        raise FormatError(f"at byte 12: expected a header within {status.st_size} bytes of file, got one of {length} bytes")
    text = file.read(length)
    header = parsed_header(text)
    if header.body_bytes != left:
        raise FormatError(f"expected columns of {header.body_bytes} bytes, as the header says, got {left}")
    rest = file.read(left + DIGEST_BYTES)
    if len(rest) != left + DIGEST_BYTES or digest(prefix + text + rest[:left]) != rest[left:]:
        raise FormatError("expected contents that fit the checksum at the end, got others: the file is damaged")
    snapshot = decoded(header, checked_info(header.info), memoryview(rest)[:left])
    check(snapshot)
    return snapshot
