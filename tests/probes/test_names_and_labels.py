"""The names of operations, and the labels that refine them."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import textwrap
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from tests.probes.recorded import Recorded
from tracectx.errors import ProbeError
from tracectx.probes.labels import forget_labels, set_max_labels
from tracectx.probes.naming import component_of, main_name, operation_name
from tracectx.probes.probe import probe, unprobe


class Shop:
    def buy(self) -> None: ...

    class Inner:
        def deep(self) -> None: ...

    def __call__(self) -> None: ...


def test_a_function_is_named_by_module_and_qualname_and_belongs_to_its_module() -> None:
    assert operation_name(test_a_method_belongs_to_its_class) == (
        f"{__name__}.test_a_method_belongs_to_its_class",
        __name__,
    )


def test_a_method_belongs_to_its_class() -> None:
    assert operation_name(Shop.buy) == (f"{__name__}.Shop.buy", f"{__name__}.Shop")
    assert operation_name(Shop.Inner.deep) == (f"{__name__}.Shop.Inner.deep", f"{__name__}.Shop.Inner")
    assert operation_name(Shop().buy) == (f"{__name__}.Shop.buy", f"{__name__}.Shop")


def test_a_local_function_keeps_its_place_in_its_name_and_belongs_to_the_module() -> None:
    def local() -> None: ...

    here = "test_a_local_function_keeps_its_place_in_its_name_and_belongs_to_the_module"
    assert operation_name(local) == (f"{__name__}.{here}.<locals>.local", __name__)


def test_a_partial_is_named_by_its_function_and_an_instance_by_its_class() -> None:
    assert operation_name(functools.partial(functools.partial(Shop.buy)))[0] == f"{__name__}.Shop.buy"
    assert operation_name(Shop())[0] == f"{__name__}.Shop"
    assert operation_name(len) == ("builtins.len", "builtins")


def test_a_name_alone_belongs_to_what_is_before_its_last_dot() -> None:
    assert component_of("shop.db.query") == "shop.db"
    assert component_of("parse") == "parse"


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        ({"__spec__": type("Spec", (), {"name": "shop.cli"}), "__file__": "/x/cli.py"}, "shop.cli"),
        ({"__spec__": None, "__file__": "/x/run_shop.py"}, "run_shop"),
        ({"__spec__": None}, "__main__"),
    ],
)
def test_the_main_module_has_the_name_by_which_it_would_be_imported(namespace: dict[str, object], name: str) -> None:
    assert main_name(namespace, "__main__") == name


@pytest.mark.parametrize("how", ["script", "module"])
def test_a_program_that_is_run_is_named_by_its_file(tmp_path: Path, how: str) -> None:
    source = """
        from tracectx.probes.naming import operation_name
        def f(): pass
        print(*operation_name(f))
    """
    (tmp_path / "shopcli.py").write_text(textwrap.dedent(source))
    program = [str(tmp_path / "shopcli.py")] if how == "script" else ["-m", "shopcli"]
    done = subprocess.run(
        [sys.executable, *program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join([str(tmp_path), *sys.path])},
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["shopcli.f", "shopcli"]


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    forget_labels()
    yield set_max_labels
    set_max_labels(100)
    forget_labels()


def test_a_label_makes_an_operation_of_its_own(rec: Recorded) -> None:
    @probe(name="shop.search", label=lambda text: "short" if len(text) < 4 else None)
    def search(text: str) -> None: ...

    for text in ("abc", "x", "longer"):
        search(text)
    assert rec.counts == {"shop.search[short]": 2, "shop.search": 1}


def test_a_label_may_be_a_whole_number(rec: Recorded) -> None:
    @probe(name="f", label=lambda n: n)
    def f(n: int) -> None: ...

    f(0)
    f(12)
    assert rec.counts == {"f[0]": 1, "f[12]": 1}


def test_over_the_limit_labels_are_other(rec: Recorded, limit: Callable[[int], None]) -> None:
    limit(2)

    @probe(name="limited", label=lambda n: n)
    def limited(n: int) -> None: ...

    for n in (1, 2, 3, 4, 1):
        limited(n)
    assert rec.counts == {"limited[1]": 2, "limited[2]": 1, "limited[(other)]": 2}


def test_a_label_gets_the_arguments_as_the_function_does(rec: Recorded) -> None:
    seen: list[object] = []

    def label(*args: object, **kwargs: object) -> None:
        seen.append((args, kwargs))

    class C:
        @probe(name="m", label=label)
        def m(self, a: int, /, b: int = 2, *rest: int, key: str = "k", **more: int) -> None: ...

    @probe(name="captured", label=label)
    def captured(a: int, b: int = 2) -> Callable[[], int]:
        return lambda: a + b  # makes the arguments cells

    c = C()
    c.m(1)
    c.m(1, b=3, key="x", z=9)
    c.m(1, 2, 3, 4)
    assert captured(a=1)() == 3
    assert seen == [
        ((c, 1, 2), {"key": "k"}),
        ((c, 1, 3), {"key": "x", "z": 9}),
        ((c, 1, 2, 3, 4), {"key": "k"}),
        ((1, 2), {}),
    ]
    unprobe(C)  # the label holds what it has seen, so it would keep the class alive


def test_labels_of_coroutines_generators_and_partials(rec: Recorded) -> None:
    @probe(name="c", label=lambda n: n)
    async def c(n: int) -> None: ...

    @probe(name="g", label=lambda n: n)
    def g(n: int) -> Generator[int, None, None]:
        yield n

    p = probe(functools.partial(lambda a, b: None, 1), name="p", label=lambda b: b)
    asyncio.run(c(1))
    list(g(2))
    p(3)
    assert rec.counts == {"c[1]": 1, "g[2]": 1, "p[3]": 1}


@pytest.mark.parametrize("label", [lambda n: 1 / 0, lambda: "x", lambda n: n + 0.5], ids=["raises", "arity", "type"])
def test_a_label_that_fails_is_counted_and_ignored(
    rec: Recorded, label: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    @probe(name="f", label=label)
    def f(n: int) -> int:
        return n

    before = rec.errors
    assert f(1) == 1
    assert rec.counts == {"f": 1}
    assert rec.errors == before + 1


def test_a_call_that_does_not_fit_raises_the_functions_own_error_and_asks_no_label(rec: Recorded) -> None:
    seen: list[int] = []

    @probe(name="f", label=seen.append)
    def f(a: int) -> int:
        return a

    before = rec.errors
    with pytest.raises(TypeError, match="positional argument"):
        f(1, 2)  # type: ignore[call-arg]  # wrong on purpose
    assert seen == []
    assert rec.errors == before


def test_the_error_of_a_label_says_what_was_expected() -> None:
    from tracectx.probes.labels import labelled
    from tracectx.probes.runtime import recorder

    with pytest.raises(ProbeError, match=r"a label must be a str, an int or None, got 0\.5 for shop\.search"):
        labelled(recorder(), "shop.search", "shop", 0.5)  # type: ignore[arg-type]  # wrong on purpose
