"""A probed function answers introspection, pickling and inheritance as it did before."""

from __future__ import annotations

import abc
import asyncio
import copy
import inspect
import pickle
import sys
import traceback
import types
import typing
from collections.abc import AsyncGenerator, Callable, Generator, Iterator

import pytest

from tests.probes import sample
from tests.probes.recorded import Recorded
from tracectx.probes.attach.choose import Attachments
from tracectx.probes.probe import probe, unprobe


def plain(a: int, b: int = 2, *rest: str, key: str = "k", **more: object) -> str:
    """Plain's text."""
    return f"{a}{b}{rest}{key}{more}"


async def coroutine(a: int) -> int:
    return a


def generator(a: int) -> Generator[int, None, None]:
    yield a


async def async_generator(a: int) -> AsyncGenerator[int, None]:
    yield a


FUNCTIONS = [plain, coroutine, generator, async_generator]


@pytest.fixture(params=FUNCTIONS, ids=lambda function: function.__name__)
def pair(request: pytest.FixtureRequest, attach: Attachments) -> Iterator[tuple[types.FunctionType, types.FunctionType]]:
    """A function and the same with a probe, made from one definition."""
    bare = request.param
    other = types.FunctionType(bare.__code__, bare.__globals__, bare.__name__, bare.__defaults__, bare.__closure__)
    other.__kwdefaults__, other.__annotations__ = bare.__kwdefaults__, bare.__annotations__
    other.__doc__, other.__qualname__ = bare.__doc__, bare.__qualname__
    probed = probe(other)
    yield bare, probed
    unprobe(probed)


@pytest.mark.parametrize(
    "question",
    [
        inspect.signature,
        inspect.getfullargspec,
        typing.get_type_hints,
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        asyncio.iscoroutinefunction,
        inspect.isfunction,
        inspect.isroutine,
        inspect.getdoc,
        inspect.getsource,
        inspect.getmodule,
        lambda f: (f.__name__, f.__qualname__, f.__module__, f.__doc__),
        lambda f: (f.__defaults__, f.__kwdefaults__),
        type,
    ],
)
def test_introspection_answers_as_before(
    pair: tuple[types.FunctionType, types.FunctionType], question: Callable[[object], object]
) -> None:
    bare, probed = pair
    assert question(probed) == question(bare)


def test_getcallargs_knows_the_arguments(pair: tuple[types.FunctionType, types.FunctionType]) -> None:
    bare, probed = pair
    assert inspect.getcallargs(probed, 1) == inspect.getcallargs(bare, 1)


def test_a_monitored_function_is_the_same_object_with_equal_code(attach: Attachments) -> None:
    def f() -> None: ...

    code = f.__code__
    probed = probe(f)
    if attach.name == "monitoring":
        assert probed is f
        assert f.__code__ == code
        unprobe(f)
        assert f.__code__ is code
    else:
        assert probed.__wrapped__ is f  # type: ignore[attr-defined]  # as functools.wraps sets it
        assert f.__code__ is code


@pytest.mark.parametrize("name", ["plain", "coroutine", "cached"])
def test_a_probed_function_is_pickled_by_reference(attach: Attachments, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    probed = probe(getattr(sample, name))
    monkeypatch.setattr(sample, name, probed)
    assert pickle.loads(pickle.dumps(probed)) is probed
    assert copy.deepcopy(probed) is probed
    assert copy.copy(probed) is probed
    unprobe(probed)


def test_a_bound_method_of_a_probed_class_is_pickled(attach: Attachments) -> None:
    probe(sample.Basket)
    assert pickle.loads(pickle.dumps(sample.Basket().total))(2) == 14
    unprobe(sample.Basket)


def test_removing_a_probe_from_a_class_restores_what_was_there(attach: Attachments) -> None:
    before = dict(vars(sample.Basket))
    code = sample.Basket.total.__code__
    probe(sample.Basket)
    unprobe(sample.Basket)
    assert dict(vars(sample.Basket)) == before
    assert sample.Basket.total.__code__ is code


@pytest.mark.parametrize("outside", [True, False], ids=["above", "below"])
def test_an_abstract_method_stays_abstract(rec: Recorded, outside: bool) -> None:
    def m(self: object) -> int:
        return 1

    class Base(abc.ABC):  # noqa: B024  # its method is made abstract without the decorator's syntax
        made = probe(abc.abstractmethod(m)) if outside else abc.abstractmethod(probe(m))

    class Concrete(Base):
        @probe(name="made")
        def made(self) -> int:
            return 2

    with pytest.raises(TypeError, match="abstract"):
        Base()
    assert Concrete().made() == 2
    assert rec.counts == {"made": 1}
    unprobe(m)


def test_super_and_isinstance_work_in_a_probed_class(rec: Recorded) -> None:
    @probe(name="Base")
    class Base:
        def m(self) -> list[str]:
            return ["base"]

    @probe(name="Sub")
    class Sub(Base):
        def m(self) -> list[str]:
            return [*super().m(), "sub"]

    assert Sub().m() == ["base", "sub"]
    assert isinstance(Sub(), Base)
    assert rec.traces == ["m(m)"]


def test_arguments_and_results_are_the_objects_themselves(rec: Recorded) -> None:
    @probe
    def same(value: object) -> object:
        return value

    marker = object()
    assert same(marker) is marker


def test_wrong_arguments_raise_the_functions_own_error(attach: Attachments) -> None:
    def f(a: int) -> int:
        return a

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        probe(f)()  # type: ignore[call-arg]  # wrong on purpose


@pytest.mark.parametrize("kind", ["function", "coroutine", "generator", "async generator", "builtin"])
def test_a_probe_adds_at_most_one_frame_to_a_traceback_and_it_is_hidden(attach: Attachments, kind: str) -> None:
    frames = _frames_of_failure(kind, attach)
    ours = [frame for frame in frames if frame.f_globals["__name__"].startswith("tracectx.")]
    assert len(ours) == (1 if attach.name == "wrapping" or kind == "builtin" else 0)
    assert all(frame.f_locals["__tracebackhide__"] is True for frame in ours)


def _frames_of_failure(kind: str, attach: Attachments) -> list[types.FrameType]:
    def fails() -> None:
        raise ValueError("body")

    async def fails_later() -> None:
        await asyncio.sleep(0)
        raise ValueError("body")

    def fails_after_an_item() -> Generator[int, None, None]:
        yield 1
        raise ValueError("body")

    async def fails_after_an_async_item() -> AsyncGenerator[int, None]:
        yield 1
        raise ValueError("body")

    async def consume() -> None:
        async for _ in probe(fails_after_an_async_item)():
            pass

    runs: dict[str, Callable[[], object]] = {
        "function": probe(fails),
        "coroutine": lambda: asyncio.run(probe(fails_later)()),
        "generator": lambda: list(probe(fails_after_an_item)()),
        "async generator": lambda: asyncio.run(consume()),
        "builtin": lambda: probe(sorted)([1, "x"]),  # type: ignore[type-var]  # wrong on purpose
    }
    with pytest.raises((ValueError, TypeError)) as caught:
        runs[kind]()
    return [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]


def test_probes_leave_the_debuggers_hooks_alone(rec: Recorded) -> None:
    before = sys.gettrace(), sys.getprofile()

    @probe
    def f() -> tuple[object, object]:
        return sys.gettrace(), sys.getprofile()

    assert f() == before
    assert (sys.gettrace(), sys.getprofile()) == before


def test_a_dead_call_keeps_neither_arguments_nor_results(rec: Recorded) -> None:
    import weakref

    class Big: ...

    @probe(label=lambda value: "x")
    def f(value: object) -> object:
        return [value]

    big = Big()
    reference = weakref.ref(big)
    f(big)
    del big
    assert reference() is None
