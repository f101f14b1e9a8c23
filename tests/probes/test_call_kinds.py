"""43 kinds of call, each with a specialisation of its own in the interpreter, and one that raises.

They are probed before they ever ran or after they were warmed up, with the probe removed, and probed again.
"""

from __future__ import annotations

import types
from dataclasses import dataclass

import pytest

from tests.probes.recorded import Recorded
from tracectx.probes.attach.choose import Attachments
from tracectx.probes.placing import Wish, put, take

CALLS = 300
CLASS = "class C:\n def {}\no = C()"


@dataclass(frozen=True)
class Kind:
    source: str
    owner: str  # "" for the module
    attribute: str
    call: str
    refers: bool = False  # calls by a reference to the function that was taken before it was probed


KINDS = {
    "plain": Kind("def f(): return 1", "", "f", "f()"),
    "exact arguments": Kind("def f(a, b): return a", "", "f", "f(1, 2)"),
    "defaults": Kind("def f(a, b=2): return a", "", "f", "f(1)"),
    "varargs": Kind("def f(*a): return a", "", "f", "f(1, 2, 3)"),
    "keywords": Kind("def f(a, *, b=1): return a", "", "f", "f(a=1, b=2)"),
    "unpacked": Kind("def f(*a, **k): return a\nt = (1, 2); k = {'x': 1}", "", "f", "f(*t, **k)"),
    "method": Kind(CLASS.format("m(self): return 1"), "C", "m", "o.m()"),
    "method with slots": Kind("class C:\n __slots__ = ()\n def m(self): return 1\no = C()", "C", "m", "o.m()"),
    "bound method": Kind(CLASS.format("m(self): return 1") + "; b = o.m", "C", "m", "b()", refers=True),
    "method of the class": Kind(CLASS.format("m(self): return 1"), "C", "m", "C.m(o)"),
    "super": Kind(
        "class B:\n def m(self): return 1\nclass C(B):\n def m(self): return super().m()\no = C()", "B", "m", "o.m()"
    ),
    "static method": Kind("class C:\n @staticmethod\n def m(): return 1", "C", "m", "C.m()"),
    "class method": Kind("class C:\n @classmethod\n def m(cls): return 1", "C", "m", "C.m()"),
    "property": Kind("class C:\n @property\n def p(self): return 1\no = C()", "C", "p", "o.p"),
    "init": Kind(CLASS.format("__init__(self): self.x = 1"), "C", "__init__", "C()"),
    "init with an argument": Kind("class C:\n def __init__(self, a): self.x = a", "C", "__init__", "C(1)"),
    "init with varargs": Kind("class C:\n def __init__(self, *a): self.x = a", "C", "__init__", "C(1)"),
    "init with slots": Kind("class C:\n __slots__ = ('x',)\n def __init__(self, a): self.x = a", "C", "__init__", "C(1)"),
    "init inherited": Kind("class B:\n def __init__(self): self.x = 1\nclass C(B): pass", "B", "__init__", "C()"),
    "new": Kind("class C:\n def __new__(cls): return object.__new__(cls)", "C", "__new__", "C()"),
    "call": Kind(CLASS.format("__call__(self): return 1"), "C", "__call__", "o()"),
    "getitem": Kind(CLASS.format("__getitem__(self, i): return 1"), "C", "__getitem__", "o[0]"),
    "setitem": Kind(CLASS.format("__setitem__(self, i, v): pass"), "C", "__setitem__", "o[0] = 1"),
    "getattribute": Kind(CLASS.format("__getattribute__(self, n): return 1"), "C", "__getattribute__", "o.zz"),
    "getattr": Kind(CLASS.format("__getattr__(self, n): return 1"), "C", "__getattr__", "o.zz"),
    "add": Kind(CLASS.format("__add__(self, n): return 1"), "C", "__add__", "o + 1"),
    "eq": Kind(CLASS.format("__eq__(self, n): return True"), "C", "__eq__", "o == 1"),
    "bool": Kind(CLASS.format("__bool__(self): return True"), "C", "__bool__", "1 if o else 0"),
    "contains": Kind(CLASS.format("__contains__(self, x): return True"), "C", "__contains__", "1 in o"),
    "enter": Kind(
        "class C:\n def __enter__(self): return 1\n def __exit__(self, *a): pass\no = C()",
        "C",
        "__enter__",
        "\n  with o: pass",
    ),
    "iter": Kind(CLASS.format("__iter__(self): return iter(())"), "C", "__iter__", "\n  for x in o: pass"),
    "next": Kind(
        "class C:\n def __next__(self): raise StopIteration\n def __iter__(self): return self\no = C()",
        "C",
        "__next__",
        "\n  for x in o: pass",
    ),
    "map": Kind("def f(x): return x", "", "f", "list(map(f, (1,)))"),
    "sort key": Kind("def f(x): return x", "", "f", "sorted((1,), key=f)"),
    "partial": Kind("import functools\ndef f(x): return x\np = functools.partial(f, 1)", "", "f", "p()", refers=True),
    "lru_cache miss": Kind(
        "import functools\ndef f(x): return x\ng = functools.lru_cache(maxsize=0)(f)", "", "f", "g(1)", refers=True
    ),
    "descriptor": Kind("class D:\n def __get__(self, o, t): return 1\nclass C:\n d = D()\no = C()", "D", "__get__", "o.d"),
    "closure": Kind("def mk():\n y = 1\n def f(): return y\n return f\nf = mk()", "", "f", "f()"),
    "generator": Kind("def f():\n yield 1", "", "f", "list(f())"),
    "metaclass call": Kind("class M(type):\n def __call__(c): return 1\nclass C(metaclass=M): pass", "M", "__call__", "C()"),
    "init_subclass": Kind("class B:\n def __init_subclass__(cls): pass", "B", "__init_subclass__", "type('X', (B,), {})"),
    "del": Kind("class C:\n def __del__(self): pass", "C", "__del__", "C()"),
    "hash": Kind(CLASS.format("__hash__(self): return 1"), "C", "__hash__", "hash(o)"),
    "raises": Kind("def f(): raise ValueError\ndef g():\n try: f()\n except ValueError: pass", "", "f", "g()"),
}


def test_there_are_43_kinds_and_one_that_raises() -> None:
    assert len(KINDS) == 43 + 1


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_call_is_counted_once_while_probed_and_never_otherwise(
    attach: Attachments, rec: Recorded, kind: Kind, warm: bool
) -> None:
    module = types.ModuleType("kinds")
    exec(kind.source, vars(module))
    exec(f"def run(n):\n for _ in range(n):\n  {kind.call}", vars(module))
    run = vars(module)["run"]
    owner = vars(module)[kind.owner] if kind.owner else module
    if warm:
        run(CALLS)

    _probe(owner, kind.attribute, "first")
    run(CALLS)
    run(CALLS)
    _unprobe(owner, kind.attribute)
    run(CALLS)
    _probe(owner, kind.attribute, "again")
    run(CALLS)
    _unprobe(owner, kind.attribute)
    run(CALLS)

    if kind.refers and attach.name == "wrapping":
        assert rec.counts == {}  # what refers to the function itself goes past a wrapper
    else:
        assert rec.counts == {"first": 2 * CALLS, "again": CALLS}
    assert rec.errors == 0


def _probe(owner: object, attribute: str, name: str) -> None:
    value = vars(owner)[attribute]
    probed = put(value, Wish(name))
    if probed is not value:
        setattr(owner, attribute, probed)


def _unprobe(owner: object, attribute: str) -> None:
    value = vars(owner)[attribute]
    bare = take(value)
    if bare is not value:
        setattr(owner, attribute, bare)
