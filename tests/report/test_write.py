"""Where a report goes, its colours, and every argument that it refuses."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

import tracectx
from tests.report.trees import helped, orders, text_of
from tracectx.errors import ConfigError, UnknownOperation


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format must be one of 'text', 'json', got 'xml'"),
        ({"format": None}, "format must be one of 'text', 'json', got None"),
        (
            {"rows": 3},
            "unknown report option 'rows': expected one of operations, findings, contexts, operation, level, width",
        ),
        (
            {"unicode": 3},
            "unknown report option 'unicode': expected one of operations, findings, contexts, operation, level, width",
        ),
        ({"operations": -1}, "operations must be a whole number of at least 0, got -1"),
        ({"operations": True}, "operations must be a whole number of at least 0, got True"),
        ({"findings": 1.5}, "findings must be a whole number of at least 0, got 1.5"),
        ({"contexts": "6"}, "contexts must be a whole number of at least 0, got '6'"),
        ({"width": 79}, "width must be at least 80 columns, got 79"),
        ({"width": "wide"}, "width must be at least 80 columns, got 'wide'"),
        ({"width": True}, "width must be at least 80 columns, got True"),
        ({"level": "operation"}, "level must be one of 'caller', 'stack', 'subtree', 'trace', got 'operation'"),
        ({"level": 3}, "level must be one of 'caller', 'stack', 'subtree', 'trace', got 3"),
        ({"format": "json", "operations": 3}, "unknown report option 'operations': JSON has none"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(options: dict[str, Any], message: str) -> None:  # Any: wrong on purpose
    with pytest.raises(ConfigError) as caught:
        text_of(orders(), **options)
    assert str(caught.value) == message


def test_something_that_is_no_tree_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        tracectx.report(7)  # type: ignore[arg-type]  # wrong on purpose
    assert str(caught.value) == "report takes a tree, such as tracectx.snapshot() gives, got 7"


def test_an_unknown_operation_names_the_nearest() -> None:
    with pytest.raises(UnknownOperation) as caught:
        text_of(orders(), operation="web.shop.Order.now")
    assert str(caught.value).startswith("no operation 'web.shop.Order.now' among 3 recorded; nearest: web.shop.Order.new")


@pytest.mark.parametrize("operation", [7, None, ""])
def test_nothing_is_written_when_an_argument_is_refused(operation: object) -> None:
    file = io.StringIO()
    with pytest.raises((ConfigError, UnknownOperation)):
        tracectx.report(orders(), file=file, width=1 if operation is None else 100, operation=operation)
    assert file.getvalue() == ""


def test_without_a_file_it_goes_to_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    tracectx.report(orders())
    written = capsys.readouterr()
    assert written.out == text_of(orders())
    assert written.err == ""


def test_a_terminal_gets_colours_and_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    tracectx.report(helped(), file=terminal)
    text = terminal.getvalue()
    assert "\x1b[1mtracectx:" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == text_of(helped())


def test_a_narrow_terminal_gets_the_narrowest_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    tracectx.report(helped(), file=terminal)
    assert terminal.getvalue() == text_of(helped(), width=80)


def test_the_same_tree_gives_the_same_report() -> None:
    assert text_of(helped()) == text_of(helped())
