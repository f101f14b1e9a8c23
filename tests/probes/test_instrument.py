"""`instrument`: probes by name, now and on import, and their complete removal."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.probes.recorded import Recorded
from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.attach.choose import Attachments
from tracectx.probes.instrument import instrument
from tracectx.probes.patterns import ModulePattern, matches
from tracectx.probes.probe import probe, unprobe

FILES = {
    "shop/__init__.py": "from shop.db import query\n\ndef total():\n    return query() + 1\n",
    "shop/db.py": """
        import functools

        def query():
            return 41

        alias = query

        def _private():
            return 1

        async def later():
            return 2

        def items():
            yield 1

        @functools.lru_cache
        def cached():
            return 3

        class Session:
            def __init__(self):
                self.x = 1

            def __call__(self):
                return self._hidden()

            def __len__(self):
                return 4

            def _hidden(self):
                return 5

            @staticmethod
            def static():
                return 6

            @classmethod
            def made(cls):
                return cls

            @property
            def size(self):
                return 7

            @functools.cached_property
            def once(self):
                return 8

            class Inner:
                def deep(self):
                    return 9

        class Sub(Session):
            def own(self):
                return 10
    """,
    "shop/web/__init__.py": "",
    "shop/web/views.py": """
        from os.path import join
        from shop.db import query as ask

        def index():
            return ask()
    """,
    "shop/tests/__init__.py": "def helper():\n    return 1\n",
    "shopping.py": "def other():\n    return 1\n",
}

DB = {
    "shop.db.query",
    "shop.db._private",
    "shop.db.later",
    "shop.db.items",
    "shop.db.cached",
    "shop.db.Session.__init__",
    "shop.db.Session.__call__",
    "shop.db.Session._hidden",
    "shop.db.Session.static",
    "shop.db.Session.made",
    "shop.db.Session.size",
    "shop.db.Session.Inner.deep",
    "shop.db.Sub.own",
}
ALL = DB | {"shop.total", "shop.web.views.index", "shop.tests.helper"}


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package on the path that is not imported yet."""
    for name, source in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("shop", "shopping")]:
        del sys.modules[name]


def load(*names: str) -> list[Any]:  # Any: modules whose contents only the program on disk knows
    return [importlib.import_module(name) for name in names]


def everything() -> list[Any]:  # Any: as above
    return load("shop", "shop.db", "shop.web", "shop.web.views", "shop.tests", "shopping")


def state() -> dict[str, object]:
    """All that probes could change: the contents of modules and classes, and the code of functions, by identity."""
    found: dict[str, object] = {}
    for name in [name for name in sys.modules if name.partition(".")[0] in ("shop", "shopping")]:
        for attribute, value in vars(sys.modules[name]).items():
            if attribute == "__builtins__":
                continue
            found[f"{name}.{attribute}"] = id(value), id(getattr(value, "__code__", None))
            if isinstance(value, type):
                for part, inside in vars(value).items():
                    function = getattr(inside, "__func__", getattr(inside, "fget", inside))
                    found[f"{name}.{attribute}.{part}"] = id(inside), id(getattr(function, "__code__", None))
    return found


def test_a_package_that_is_imported_is_instrumented_with_all_below_it(rec: Recorded) -> None:
    root, db, *_ = everything()
    with instrument("shop.*") as instrumentation:
        assert set(instrumentation.operations) == ALL
        assert instrumentation.skipped == {}
        assert root.total() == 42
        session = db.Sub()
        assert (session(), len(session), session.static(), session.size, session.once) == (5, 4, 6, 7, 8)
        assert db.Sub.made() is db.Sub
        assert (db.Session.Inner().deep(), session.own(), db.alias(), db.cached(), list(db.items())) == (
            9,
            10,
            41,
            3,
            [1],
        )
    assert rec.counts == {
        "shop.total": 1,
        "shop.db.query": 2,
        "shop.db.Session.__init__": 1,
        "shop.db.Session.__call__": 1,
        "shop.db.Session._hidden": 1,
        "shop.db.Session.static": 1,
        "shop.db.Session.size": 1,
        "shop.db.Session.made": 1,
        "shop.db.Session.Inner.deep": 1,
        "shop.db.Sub.own": 1,
        "shop.db.cached": 1,
        "shop.db.items": 1,
    }


def test_removal_restores_everything_byte_for_byte(rec: Recorded) -> None:
    modules = everything()
    before = state()
    instrumentation = instrument("shop.*")
    late = ModuleType("shop.late")
    sys.modules["shop.late"] = late
    exec("from shop.db import query", vars(late))
    instrumentation.remove()
    instrumentation.remove()
    del sys.modules["shop.late"]
    assert state() == before
    assert late.query is modules[1].query
    assert modules[0].total() == 42
    assert rec.counts == {}


def test_what_is_not_imported_yet_is_instrumented_on_import_without_being_imported(rec: Recorded) -> None:
    instrumentation = instrument("shop.*")
    assert instrumentation.skipped == {"shop.*": "not imported yet"}
    assert not any(name.startswith("shop") for name in sys.modules)
    (root,) = load("shop")
    assert set(instrumentation.operations) == DB | {"shop.total"}
    assert instrumentation.skipped == {}
    assert "shop.web" not in sys.modules
    (views,) = load("shop.web.views")
    assert (root.total(), views.index()) == (42, 41)
    assert rec.traces == ["index(query)", "total(query)"]
    instrumentation.remove()
    load("shop.tests")
    assert "shop.tests.helper" not in instrumentation.operations


def test_references_taken_by_from_import_are_seen(rec: Recorded) -> None:
    (root, _, _, views, *_) = everything()
    with instrument("shop.db"):
        assert (root.query(), views.ask(), views.index()) == (41, 41, 41)
    assert rec.counts == {"shop.db.query": 3}
    assert (root.query(), views.ask()) == (41, 41)
    assert rec.counts == {"shop.db.query": 3}


def test_without_rebinding_a_wrapper_is_not_seen_by_such_references(attach: Attachments, rec: Recorded) -> None:
    (root, *_) = everything()
    with instrument("shop.db:query", rebind=False):
        root.query()
    assert rec.counts == ({} if attach.name == "wrapping" else {"shop.db.query": 1})


def test_exclusions_are_patterns_over_modules_and_operations(attach: Attachments) -> None:
    everything()
    exclude = ("shop.tests.*", "shop.db.Session.*", "shop.db:_private", "shop.*.views")
    with instrument("shop.*", exclude=exclude) as instrumentation:
        left = {name for name in DB if not name.startswith("shop.db.Session.")} - {"shop.db._private"}
        assert set(instrumentation.operations) == left | {"shop.total"}


def test_a_module_alone_a_class_and_names(attach: Attachments) -> None:
    root, db, *_ = everything()
    with instrument("shop") as instrumentation:
        assert instrumentation.operations == ("shop.total",)
    with instrument(root) as instrumentation:
        assert instrumentation.operations == ("shop.total",)
    with instrument(db.Sub, "shop.db:Session.size", "shop.db:Session.__len__", "shop.db:query") as instrumentation:
        assert instrumentation.operations == (
            "shop.db.Sub.own",
            "shop.db.Session.size",
            "shop.db.Session.__len__",
            "shop.db.query",
        )
    with instrument("shop.db:Session") as instrumentation:
        assert set(instrumentation.operations) == {name for name in DB if ".Session." in name}


def test_a_name_is_instrumented_on_import(rec: Recorded) -> None:
    with instrument("shop.db:query", "shop.db:nothing") as instrumentation:
        assert instrumentation.skipped == {"shop.db:query": "not imported yet", "shop.db:nothing": "not imported yet"}
        (db,) = load("shop.db")
        assert db.query() == 41
        assert instrumentation.operations == ("shop.db.query",)
        assert instrumentation.skipped == {"shop.db:nothing": "shop.db does not define 'nothing'"}
    assert rec.counts == {"shop.db.query": 1}


def test_a_package_that_cannot_be_found_is_skipped_with_that_reason(attach: Attachments) -> None:
    with instrument("shopp.*") as instrumentation:
        assert instrumentation.skipped == {"shopp.*": "not imported yet, and no module named 'shopp' is found now"}


def test_what_has_a_probe_already_keeps_it_and_is_counted_once(rec: Recorded) -> None:
    (_, db, *_) = everything()
    db._private = probe(db._private, name="mine")
    with instrument("shop.db") as first, instrument("shop.db") as second:
        assert first.skipped == {"shop.db._private": "has a probe already, as mine"}
        assert second.operations == ()
        assert second.skipped["shop.db.items"] == "has a probe already, as shop.db.items"
        db._private()
        list(db.items())
    db._private()
    db._private = unprobe(db._private)
    assert rec.counts == {"mine": 2, "shop.db.items": 1}


def test_functions_that_run_while_probes_are_removed_end_as_they_should(rec: Recorded) -> None:
    (_, db, *_) = everything()
    instrumentation = instrument("shop.db")
    items = db.items()
    next(items)
    instrumentation.remove()
    assert list(items) == []
    assert rec.endings == {"shop.db.items returned": 1}


@pytest.mark.parametrize(
    ("targets", "options", "error", "message"),
    [
        ((), {}, ConfigError, "instrument needs at least one target"),
        ((5,), {}, ProbeError, "cannot instrument 5: expected a pattern such as 'shop.\\*'"),
        ((len,), {}, ProbeError, "for a function use tracectx.probe"),
        ((int,), {}, ProbeError, "cannot instrument the class int: it is built in"),
        (("*",), {}, ConfigError, "a pattern must begin with the name of a package"),
        (("shop..db",), {}, ConfigError, "cannot instrument 'shop..db': expected dotted names"),
        (("",), {}, ConfigError, "cannot instrument ''"),
        (("shop.db:",), {}, ConfigError, "expected 'module:function' or 'module:Class.method'"),
        (("os.path:jion",), {}, ConfigError, "does not define 'jion'; did you mean 'join'"),
        (("shop.*",), {"exclude": "shop.x"}, ProbeError, "exclude must be a sequence of patterns"),
        (("shop.*",), {"exclude": (3,)}, ProbeError, "exclude must hold patterns such as 'shop.tests.\\*', got 3"),
        (("shop.*",), {"rebind": 1}, ProbeError, "rebind must be True or False, got 1"),
    ],
)
def test_bad_arguments_raise_before_anything_is_probed(
    attach: Attachments, targets: tuple[str, ...], options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        instrument(*targets, **options)  # type: ignore[arg-type]  # wrong on purpose


def test_an_inherited_method_is_named_where_it_is_defined(attach: Attachments) -> None:
    load("shop.db")
    with pytest.raises(ConfigError, match=r"'Sub\._hidden' \(it is inherited: name the class that defines it\)"):
        instrument("shop.db:Sub._hidden")


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("shop.*", "shop", True),
        ("shop.*", "shop.db.deep", True),
        ("shop.*", "shopping", False),
        ("shop", "shop.db", False),
        ("shop.*.views", "shop.web.views", True),
        ("shop.*.views", "shop.web", False),
    ],
)
def test_patterns_match_dotted_names(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


def test_the_root_of_a_pattern_is_what_precedes_its_first_wildcard() -> None:
    assert ModulePattern("shop.web.*.views").root == "shop.web"
    assert ModulePattern("shop.we*").root == "shop"
    assert ModulePattern("shop.web").root == "shop.web"
