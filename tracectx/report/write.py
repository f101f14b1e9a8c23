"""Writes a report where it is asked for: with a little colour on a terminal, plain everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import IO, Any

from rich.console import Console
from rich.text import Text

from tracectx.errors import ConfigError
from tracectx.report.json_format import json_lines
from tracectx.report.streams import can_show, check_stream, shown, shown_json
from tracectx.report.text import NARROWEST, TextOptions, text_lines
from tracectx.tree.calling_context_tree import CallingContextTree

FORMATS = ("text", "json")
_GLYPHS = "▁█←µ…·"
"""What a report is drawn with, of which encodings have some and not others."""
_OPTIONS = tuple(field.name for field in fields(TextOptions) if field.name != "unicode")


def report(
    tree: CallingContextTree,
    *,
    file: IO[str] | None = None,
    format: str = "text",
    **options: Any,  # Any: TextOptions checks each
) -> None:
    """Writes the report of a tree.

    Text options: `operations=10` rows of the table, `findings=3` operations explained, `contexts=6` of each, `operation=NAME`
    for one alone, `level=` to look at instead of the best one, `width=100`. `ConfigError` for anything else.
    """
    if format not in FORMATS:
        raise ConfigError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    if not isinstance(tree, CallingContextTree):
        raise ConfigError(f"report takes a tree, such as tracectx.snapshot() gives, got {tree!r}")
    unknown = sorted(set(options) - set(_OPTIONS if format == "text" else ()))
    if unknown:
        expected = f"expected one of {', '.join(_OPTIONS)}" if format == "text" else "JSON has none"
        raise ConfigError(f"unknown report option {unknown[0]!r}: {expected}")
    stream = file if file is not None else sys.stdout
    check_stream(stream)
    known = tree.info.counters
    if format == "json":
        for line in json_lines(tree, known):
            stream.write(shown_json(stream, line) + "\n")
        return
    _write_text(tree, stream, known, options)


def _write_text(tree: CallingContextTree, stream: IO[str], counters: Mapping[str, int], options: dict[str, Any]) -> None:
    # Any: as above.
    # FORCE_COLOR is meant for standard output, and would put control characters into files.
    console = Console(
        file=stream, highlight=False, soft_wrap=True, force_terminal=None if stream is sys.stdout else _isatty(stream)
    )
    if console.is_terminal and "width" not in options:
        options = {**options, "width": max(NARROWEST, console.width)}
    lines = (
        shown(stream, line) for line in text_lines(tree, counters, TextOptions(**options, unicode=can_show(stream, _GLYPHS)))
    )
    if not console.is_terminal:
        for line in lines:
            stream.write(line + "\n")
        return
    for line in lines:
        console.print(Text(line, style=_style(line)))


def _style(line: str) -> str:
    if line.startswith(("tracectx:", "Why ")):
        return "bold"
    if line.startswith(("operation ", "  share", "More:", "… and", ".. and")):
        return "dim"
    return ""


def _isatty(stream: IO[str]) -> bool:
    """As rich asks: what has no answer is no terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False
