"""Every argument that the functions of `tracectx` refuse, with the words in which they do."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracectx
from tracectx.errors import ConfigError, FormatError, ProbeError, TracectxError, UnknownOperation
from tracectx.testing import ManualClock, call_tree, fold

LEVELS = "'operation', 'caller', 'stack', 'subtree', 'trace'"
_untyped: Any = tracectx  # Any: what is tested here is what a type checker would refuse


def tree() -> tracectx.CallingContextTree:
    return fold([("shop.buy(shop.pay)", [5, 3])])


def coroutine_function() -> Callable[[], Any]:  # Any: never run
    async def later() -> None: ...

    return later


def probed_twice() -> None:
    def function() -> None: ...

    tracectx.probe(tracectx.probe(function, name="first"), name="second")


class Labelled:
    def method(self) -> None: ...


PROBE: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (
        lambda: tracectx.probe(7),
        ProbeError,
        (
            "cannot probe 7: expected a function, a class, another callable, a static or class method, a property or a cached"
            " property"
        ),
    ),
    (lambda: _untyped.probe(len, name=7), ProbeError, "the name of a probe must be a str, got 7"),
    (lambda: tracectx.probe(name=" "), ConfigError, "the name of a probe must not be empty, got ' '"),
    (lambda: _untyped.probe(root="yes"), ProbeError, "root must be True or False, got 'yes'"),
    (lambda: _untyped.probe(label="x"), ProbeError, "label must be a function of the call's arguments, got 'x'"),
    (lambda: tracectx.probe(int), ProbeError, "cannot probe the class int: it is built in, so its methods cannot be replaced"),
    (
        lambda: tracectx.probe(Labelled, label=str),
        ConfigError,
        "a label needs one signature, and the class Labelled has many: label its methods",
    ),
    (
        probed_twice,
        ConfigError,
        (
            "first has a probe of that name; it cannot get a second one named 'second': give the name once, or call"
            " tracectx.unprobe first"
        ),
    ),
]
SPAN: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (lambda: _untyped.span(7), ProbeError, "the name of a span must be a str, got 7"),
    (lambda: tracectx.span(""), ConfigError, "the name of a span must not be empty, got ''"),
    (lambda: _untyped.span("s", root=1), ProbeError, "root must be True or False, got 1"),
    (lambda: _untyped.span("s", label=0.5), ProbeError, "a label must be a str, an int or None, got 0.5 for s"),
]
PROPAGATE: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (lambda: _untyped.propagate(7), ProbeError, "propagate needs a callable, got 7"),
    (
        lambda: tracectx.propagate(coroutine_function()),
        ProbeError,
        (
            "propagate needs a synchronous callable, got <function coroutine_function.<locals>.later at 0x...>: tasks take"
            " their position along by themselves"
        ),
    ),
]
INSTRUMENT: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (tracectx.instrument, ConfigError, "instrument needs at least one target, such as 'shop.*'"),
    (
        lambda: _untyped.instrument(len),
        ProbeError,
        (
            "cannot instrument <built-in function len>: expected a pattern such as 'shop.*', a name such as"
            " 'shop.db:Session.query', a module or a class; for a function use tracectx.probe"
        ),
    ),
    (lambda: tracectx.instrument(int), ProbeError, "cannot instrument the class int: it is built in"),
    (lambda: tracectx.instrument(""), ConfigError, "cannot instrument '': expected dotted names such as 'shop' or 'shop.*'"),
    (
        lambda: tracectx.instrument("*"),
        ConfigError,
        "cannot instrument '*': a pattern must begin with the name of a package, such as 'shop.*'",
    ),
    (
        lambda: tracectx.instrument("shop:"),
        ConfigError,
        "cannot instrument 'shop:': expected 'module:function' or 'module:Class.method'",
    ),
    (lambda: _untyped.instrument("shop.*", rebind=1), ProbeError, "rebind must be True or False, got 1"),
    (
        lambda: tracectx.instrument("shop.*", exclude="shop.tests"),
        ProbeError,
        "exclude must be a sequence of patterns such as ('shop.tests.*',), got 'shop.tests'",
    ),
    (
        lambda: _untyped.instrument("shop.*", exclude=(7,)),
        ProbeError,
        "exclude must hold patterns such as 'shop.tests.*', got 7",
    ),
    (
        lambda: tracectx.instrument("posixpath:joyn"),
        ConfigError,
        "posixpath does not define 'joyn'; did you mean 'join'?",
    ),
]
TREE: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (lambda: tree()["shop.by"], UnknownOperation, "no operation 'shop.by' among 2 recorded; nearest: shop.buy, shop.pay"),
    (lambda: tree().contexts("xyzzy"), UnknownOperation, "no operation 'xyzzy' among 2 recorded"),
    (lambda: tree().contexts(level="path"), ConfigError, f"level must be one of {LEVELS}, got 'path'"),
    (lambda: tree().contexts("shop.buy", "path"), ConfigError, f"level must be one of {LEVELS}, got 'path'"),
    (lambda: tree().to_dataframe("path"), ConfigError, f"level must be one of {LEVELS}, got 'path'"),
    (lambda: tree().std_reduction("path"), ConfigError, f"level must be one of {LEVELS}, got 'path'"),
    (lambda: tree().std_reduction("stack", "xyzzy"), UnknownOperation, "no operation 'xyzzy' among 2 recorded"),
    (
        lambda: tree().std_reduction("stack", average="mean"),
        ConfigError,
        "average must be 'pooled' or 'operations', got 'mean'",
    ),
    (lambda: tree().std_reduction("stack", time="wall"), ConfigError, "time must be 'response' or 'self', got 'wall'"),
    (
        lambda: tree().since(7),  # type: ignore[arg-type]  # wrong on purpose
        ConfigError,
        "since() takes an earlier tree of the same recording, got 7",
    ),
    (lambda: tracectx.merge([]), ConfigError, "merge takes at least one tree, got none"),
    (lambda: _untyped.merge([7]), ConfigError, "merge takes trees, got 7"),
    (lambda: _untyped.merge(tree()), ConfigError, "merge takes several trees, got one: merge([a, b])"),
    (
        lambda: tracectx.merge([tree(), fold(["a"], loops="bucketed")]),
        ConfigError,
        "recordings with different loops cannot be merged: 'bucketed' and 'exact'; record them with the same loops",
    ),
]
QUANTILES: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (
        lambda q=q: tree()["shop.buy"].response_time.quantile(q),  # type: ignore[misc]  # mypy cannot type a default of a lambda
        ConfigError,
        f"a quantile must be between 0 and 1, got {q!r}",
    )
    for q in (-0.1, 1.1, 95, math.nan, True, "0.5", None)
]
TESTING: list[tuple[Callable[[], object], type[TracectxError], str]] = [
    (
        lambda: call_tree("a(b"),
        ConfigError,
        "a call tree like 'A.a(B.b, ~C.c)': expected ',', '(' or ')' at character 3, got the end",
    ),
    (lambda: fold([("a(b)", [5])]), ConfigError, "2 executions in preorder, got 1 times"),
    (
        lambda: fold([("a(b)", [5, 6])]),
        ConfigError,
        "a takes 5 ns, less than its synchronous children together: 6 ns",
    ),
    (lambda: fold(["a(b*2)"]), ConfigError, "a literal trace lists each execution by itself, got a repeat in"),
    (lambda: fold(["a"], colour=3), ConfigError, "unknown option 'colour': expected one of sample, "),
    (
        lambda: ManualClock().advance(-1),
        ConfigError,
        "a clock advances by 0 or more, got -1000000000 ns; use set_ns to step it back",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), [*PROBE, *SPAN, *PROPAGATE, *INSTRUMENT, *TREE, *QUANTILES])
def test_an_argument_that_cannot_be_used_is_refused(
    call: Callable[[], object], kind: type[TracectxError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert re.sub(r"0x[0-9a-fA-F]+", "0x...", str(caught.value)) == message


@pytest.mark.parametrize(("call", "kind", "message"), TESTING)
def test_a_literal_that_cannot_be_folded_says_why(call: Callable[[], object], kind: type[TracectxError], message: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


def test_a_file_that_is_none_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a tree, but long enough")
    with pytest.raises(FormatError) as caught:
        tracectx.load(path)
    assert str(caught.value).startswith(f"{path}: expected a .tctx file, which begins with b'")
    assert str(caught.value).endswith(", got b'not a tr'")


def test_a_file_that_is_not_there_is_the_error_of_open(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tracectx.load(tmp_path / "none.tctx")


@pytest.mark.parametrize(
    ("kind", "standard"),
    [(ConfigError, ValueError), (ProbeError, TypeError), (FormatError, ValueError), (UnknownOperation, KeyError)],
)
def test_every_error_is_one_of_tracectx_and_of_the_language(kind: type[Exception], standard: type[Exception]) -> None:
    assert issubclass(kind, TracectxError)
    assert issubclass(kind, standard)


def test_a_name_that_tracectx_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tracectx' has no attribute 'profile'$"):
        _untyped.profile
    assert isinstance(tracectx, types.ModuleType)
