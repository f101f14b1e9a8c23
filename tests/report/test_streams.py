"""Streams that cannot show everything, and operations asked for by the name that the report shows."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import tracectx
from tests.report.trees import orders, text_of
from tracectx.errors import ConfigError
from tracectx.testing import fold
from tracectx.tree.calling_context_tree import CallingContextTree

NAME = "büro.\U0001f40d"


def written(tree: CallingContextTree, encoding: str, format: str) -> str:
    content = io.BytesIO()
    file = io.TextIOWrapper(content, encoding=encoding, newline="\n")
    tracectx.report(tree, file=file, format=format)
    file.flush()
    return content.getvalue().decode(encoding)


def test_a_name_that_the_encoding_lacks_is_escaped() -> None:
    assert "\nb\\xfcro.\\U0001f40d" in written(fold([(NAME, [5])]), "ascii", "text")
    assert "\nbüro.\\U0001f40d" in written(fold([(NAME, [5])]), "latin-1", "text")


def test_an_encoding_that_has_only_some_of_the_blocks_gets_none() -> None:
    assert "█" in written(orders(), "utf-8", "text")
    assert "█" not in written(orders(), "cp437", "text")


def test_a_name_is_as_it_is_where_the_encoding_has_it() -> None:
    assert f"\n{NAME}" in written(fold([(NAME, [5])]), "utf-8", "text")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_means_the_same_in_every_encoding(encoding: str) -> None:
    tree = fold([(NAME, [5])])
    assert json.loads(written(tree, encoding, "json")) == json.loads(text_of(tree, format="json"))


def test_an_encoding_that_nobody_knows_is_taken_for_utf_8() -> None:
    class Strange(io.StringIO):
        encoding = "klingon"

    file = Strange()
    tracectx.report(fold([(NAME, [5])]), file=file)
    assert f"\n{NAME}" in file.getvalue()


def test_a_file_has_no_colours_even_where_they_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in text_of(orders())


def test_a_path_is_no_open_file(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    with pytest.raises(ConfigError) as caught:
        tracectx.report(orders(), file=path)  # type: ignore[arg-type]  # wrong on purpose
    cure = "; open(path, 'w') gives one"
    assert str(caught.value) == f"file must be a text file that is open for writing, got {path!r}{cure}"
    assert not path.exists()


def test_an_operation_has_a_name() -> None:
    with pytest.raises(ConfigError) as caught:
        text_of(orders(), operation=["web.db.insert"])
    assert str(caught.value) == "operation must be the name of an operation, got ['web.db.insert']"


def test_an_operation_can_be_asked_for_as_the_report_calls_it() -> None:
    assert text_of(orders(), operation="Order.new") == text_of(orders(), operation="web.shop.Order.new")


def test_a_complete_name_comes_before_a_short_one() -> None:
    tree = fold([("Order.new", [1]), ("web.shop.Order.new", [2])])
    assert "\nOrder.new " in text_of(tree, operation="Order.new")
