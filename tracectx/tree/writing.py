"""Writes a snapshot to a file: whole or not at all, even if the machine stops in between."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

from tracectx.core.snapshot import Snapshot
from tracectx.tree.file_format import encoded


def write(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Replaces the file at `path` by that of a canonical snapshot. `OSError` as from `open`; what was there then stays."""
    target = os.path.realpath(path)  # a link stays a link
    temporary = f"{target}.{secrets.token_hex(8)}.tmp"
    content = encoded(snapshot)
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(target))


def _sync_folder(folder: str) -> None:
    """Makes the new name last. Not every system can; the contents are safe either way."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
