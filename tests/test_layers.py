"""Imports point down only (DESIGN: layers), and late ones are late for their weight."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracectx

PACKAGE = Path(tracectx.__file__).parent
LAYERS = (
    {"errors", "config", "clock"},
    {"stats"},
    {"core"},
    {"tree"},
    {"models"},
    {"scale"},
    {"report", "formats"},
    {"probes"},
    {"session"},
    {"testing", "cli", "pytest_plugin", "integrations"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = ("tracectx.tree.", "tracectx.report.", "tracectx.core.reference.export", "tracectx.probes.attach.proxy")
"""What loads numpy, rich or wrapt, or is only needed with a question: all that may be imported inside functions."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node, node.module or ""


def late_imports(tree: ast.AST) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for _, name in imported(function):
                yield name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down_only(path: Path) -> None:
    layer = layer_of(path)
    assert layer in RANK, f"{layer} has no place among the layers"
    for node, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        if name.split(".")[0] != "tracectx":
            continue
        assert name != "tracectx", f"line {node.lineno} imports the package root"
        other = name.split(".")[1]
        assert RANK[other] <= RANK[layer], f"line {node.lineno}: {layer} imports {other}, which is above it"
        if RANK[layer] == 0 and other != layer:
            assert other == "errors", f"line {node.lineno}: {layer} may import nothing but errors"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_late_imports_are_late_for_their_weight(path: Path) -> None:
    for name in late_imports(ast.parse(path.read_text(encoding="utf-8"))):
        if name.startswith("tracectx"):
            assert name.startswith(HEAVY), f"{name} is imported inside a function"
        else:
            heavy = {"numpy", "scipy", "pandas", "rich", "wrapt", "importlib"}
            assert name.split(".")[0] in heavy, f"{name} is imported inside a function"


def test_a_folders_init_says_what_stage_it_is_and_defines_nothing() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path
        if path.parent != PACKAGE:
            defined = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
            assert not defined, path
