"""The functions of `tracectx` that are about recordings: what acts on the innermost one, and what reads trees."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import tracectx.report  # noqa: F401  # the folder: loaded later, it would take the place of the function `tracectx.report`
from tracectx.session.session import SESSION, Recording
from tracectx.session.statistics import RecordingStats

if TYPE_CHECKING:
    from tracectx.tree.calling_context_tree import CallingContextTree


def enable() -> None:
    """Records again. Takes effect at the next entry; a trace open across it is truncated."""
    SESSION.set_enabled(True)


def disable() -> None:
    """Records nothing until `enable`. Takes effect at the next entry; a trace open across it is truncated."""
    SESSION.set_enabled(False)


def configure(**options: Any) -> None:  # Any: each option has its own type
    """Changes options of the innermost recording; see `tracectx.config.Options`.

    `ConfigError` for an unknown option, a value that cannot be used, and for `clock`, `loops` and the limits of memory once
    something is recorded.
    """
    SESSION.configure(options)


def recording(**options: Any) -> Recording:  # Any: as above
    """A recording of its own for a `with` block: `with tracectx.recording(loops="exact") as rec: ...; rec.snapshot()`.

    Options that are not given are those of the recording around it.
    """
    return SESSION.new_recording(options)


def reset() -> None:
    """Forgets everything that the innermost recording holds; traces open now vanish when they end, counted."""
    SESSION.current.reset()


def snapshot() -> CallingContextTree:
    """The calling-context tree of everything that completed before the call, open traces included."""
    return SESSION.current.snapshot()


def stats() -> RecordingStats:
    """How the recording fares: recorded = folded + open + unfinished + dropped, and what was lost where."""
    return SESSION.current.stats()


def report(
    tree: CallingContextTree | None = None, file: IO[str] | None = None, format: str = "text", **options: Any
) -> None:  # Any: the options of the format's renderer, which checks them
    """Prints why operations are sometimes slow. `format`: "text" or "json"; `file`: stdout unless given."""
    from tracectx.report.write import report as write  # rich and numpy are loaded with the first report

    if tree is None:
        write(snapshot(), file=file, format=format, **options)
    else:
        write(tree, file=file, format=format, **options)


def load(path: str | os.PathLike[str]) -> CallingContextTree:
    """The tree that `tree.save(path)` wrote. `FormatError` says what is wrong with a file that is none."""
    from tracectx.tree.files import load as load_tree  # numpy is loaded with the first question

    return load_tree(path)


def merge(trees: Iterable[CallingContextTree]) -> CallingContextTree:
    """One tree of several, the same in every order. `ConfigError` if clock or `loops` differ, or there is none."""
    from tracectx.tree.merge import merge as merge_trees  # numpy is loaded with the first question

    return merge_trees(trees)
