"""Everything that `probe` accepts: counted, named, and otherwise as before."""

from __future__ import annotations

import asyncio
import enum
import functools
import sys
import traceback
import types
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.probes.recorded import Recorded
from tracectx.errors import ConfigError, ProbeError
from tracectx.probes.attach.choose import Attachments
from tracectx.probes.probe import probe, unprobe

HERE = __name__


def add(a: int, b: int = 2) -> int:
    return a + b


def local(function: str) -> str:
    """The name of what a test function calls `function`."""
    return f"{HERE}.{function}"


def test_a_function(rec: Recorded) -> None:
    @probe
    def f(a: int, b: int = 2) -> int:
        return a + b

    assert (f(1), f(1, b=5)) == (3, 6)
    assert rec.counts == {local("test_a_function.<locals>.f"): 2}


def test_a_function_that_raises_ends_raised_and_the_error_is_the_same_object(rec: Recorded) -> None:
    error = ValueError("body")

    @probe(name="f")
    def f() -> None:
        raise error

    with pytest.raises(ValueError, match="body") as caught:
        f()
    assert caught.value is error
    assert rec.endings == {"f raised": 1}


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_base_exception_ends_a_function_raised(rec: Recorded, kind: type[BaseException]) -> None:
    error = kind()

    @probe(name="f")
    def f() -> None:
        raise error

    with pytest.raises(kind) as caught:
        f()
    assert caught.value is error
    assert rec.endings == {"f raised": 1}


def test_a_coroutine_function(rec: Recorded) -> None:
    @probe(name="c")
    async def c(n: int) -> int:
        await asyncio.sleep(0)
        return n

    assert asyncio.run(c(3)) == 3
    assert rec.endings == {"c returned": 1}


def test_a_coroutine_that_was_never_awaited_is_not_counted(rec: Recorded) -> None:
    @probe(name="c")
    async def c() -> None: ...

    coroutine = c()
    assert isinstance(coroutine, types.CoroutineType)
    coroutine.close()
    assert rec.counts == {}


def test_a_cancelled_coroutine_ends_cancelled(rec: Recorded) -> None:
    @probe(name="c")
    async def c() -> None:
        await asyncio.sleep(100)

    async def main() -> None:
        task = asyncio.create_task(c())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert rec.endings == {"c cancelled": 1}


def test_a_closed_coroutine_ends_closed(rec: Recorded) -> None:
    @probe(name="c")
    async def c() -> None:
        await waits()

    coroutine = c()
    coroutine.send(None)
    coroutine.close()
    assert rec.endings == {"c closed": 1}


def test_a_generator_based_coroutine(rec: Recorded) -> None:
    @probe(name="c")
    @types.coroutine
    def c(n: int) -> Generator[str, None, int]:
        yield "waits"
        return n

    async def main() -> int:
        return await c(3)

    coroutine = main()
    assert coroutine.send(None) == "waits"
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    assert stop.value.value == 3
    assert rec.endings == {"c returned": 1}


def test_a_generator(rec: Recorded) -> None:
    @probe(name="g")
    def g(n: int) -> Generator[int, str, str]:
        got = yield n
        return got

    generator = g(1)
    assert next(generator) == 1
    with pytest.raises(StopIteration) as stop:
        generator.send("sent")
    assert stop.value.value == "sent"
    assert rec.endings == {"g returned": 1}


@pytest.mark.parametrize("protected", [True, False], ids=["inside try", "outside try"])
@pytest.mark.parametrize("how", ["close", "collect"])
def test_a_generator_that_is_closed_or_collected_ends_closed(rec: Recorded, protected: bool, how: str) -> None:
    @probe(name="cleanup")
    def cleanup() -> None: ...

    @probe(name="g")
    def g() -> Generator[int, None, None]:
        yield 0
        if protected:
            try:
                yield 1
            finally:
                cleanup()
        else:
            yield 2

    @probe(name="root")
    def root() -> None:
        kept.append(g())
        next(kept[0])
        next(kept[0])

    kept: list[Generator[int, None, None]] = []
    root()
    if how == "close":
        kept[0].close()
        assert rec.traces == ["root(g#(cleanup))" if protected else "root(g#)"]
    kept.clear()
    assert rec.traces == ["root(g#(cleanup))" if protected else "root(g#)"]
    assert rec.recording.stats().open == 0


def test_frames_of_closed_generators_that_are_kept_do_not_confuse_later_calls(rec: Recorded) -> None:
    @probe(name="g")
    def g() -> Generator[int, None, None]:
        yield 0

    @probe(name="f")
    def f() -> None: ...

    kept = [g() for _ in range(100)]
    for generator in kept:
        next(generator)
        generator.close()
        f()
        list(g())
    assert rec.endings == {"g closed": 100, "g returned": 100, "f returned": 100}
    assert rec.recording.stats().open == 0


def test_a_generator_that_raises_ends_raised(rec: Recorded) -> None:
    @probe(name="g")
    def g() -> Generator[int, None, None]:
        yield 1
        raise ValueError("body")

    with pytest.raises(ValueError, match="body"):
        list(g())
    assert rec.endings == {"g raised": 1}


def test_an_error_thrown_in_is_not_seen_as_handled_after_it_was_caught(rec: Recorded) -> None:
    @probe(name="g")
    def g() -> Generator[object, None, None]:
        try:
            yield 1
        except KeyError as error:
            depth = len(traceback.extract_tb(error.__traceback__))
        yield depth, sys.exc_info()

    generator = g()
    next(generator)
    assert generator.throw(KeyError("thrown")) == (1, (None, None, None))
    assert list(generator) == []
    assert rec.endings == {"g returned": 1}


def test_an_async_generator(rec: Recorded) -> None:
    @probe(name="ag")
    async def ag(n: int) -> AsyncGenerator[int, str]:
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async def main() -> list[int]:
        return [item async for item in ag(3)]

    assert asyncio.run(main()) == [0, 1, 2]
    assert rec.endings == {"ag returned": 1}


def test_asend_athrow_and_aclose_reach_an_async_generator(rec: Recorded) -> None:
    got: list[object] = []

    @probe(name="ag")
    async def ag() -> AsyncGenerator[int, str]:
        got.append((yield 1))
        try:
            yield 2
        except KeyError:
            got.append("caught")
        try:
            yield 3
        finally:
            await asyncio.sleep(0)
            got.append("closed")

    async def main() -> None:
        generator = ag()
        assert await generator.asend(None) == 1  # type: ignore[arg-type]  # the first value is None for all of them
        assert await generator.asend("sent") == 2
        assert await generator.athrow(KeyError()) == 3
        await generator.aclose()

    asyncio.run(main())
    assert got == ["sent", "caught", "closed"]
    assert rec.endings == {"ag closed": 1}


def test_an_async_generator_left_behind_is_closed_by_the_loop(rec: Recorded) -> None:
    closed: list[str] = []

    @probe(name="ag")
    async def ag() -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            closed.append("yes")

    async def main() -> None:
        async for _ in ag():
            break
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert closed == ["yes"]
    assert rec.endings == {"ag closed": 1}


def test_a_class_is_the_same_class_with_its_methods_probed(rec: Recorded) -> None:
    class Shop:
        def __init__(self) -> None:
            self.items = 3

        def __call__(self) -> int:
            return self._count()

        def __len__(self) -> int:
            return self.items

        def _count(self) -> int:
            return len(self)

        @staticmethod
        def static(a: int) -> int:
            return a

        @classmethod
        def kind(cls) -> type[Shop]:
            return cls

        @property
        def size(self) -> int:
            return self.items

        @functools.cached_property
        def once(self) -> int:
            return self.items

    probed = probe(Shop)
    assert probed is Shop
    shop = Shop()

    class Sub(Shop):
        pass

    assert (shop(), shop.static(1), Shop.static(2), shop.size, shop.once) == (3, 1, 2, 3, 3)
    assert Sub.kind() is Sub
    prefix = local("test_a_class_is_the_same_class_with_its_methods_probed.<locals>.Shop")
    assert rec.counts == {
        f"{prefix}.__init__": 1,
        f"{prefix}.__call__": 1,
        f"{prefix}._count": 1,
        f"{prefix}.static": 2,
        f"{prefix}.kind": 1,
        f"{prefix}.size": 1,
    }
    unprobe(Shop)
    assert (shop(), Shop.static(2), shop.size) == (3, 2, 3)
    assert sum(rec.counts.values()) == 7


def test_a_name_for_a_class_is_the_prefix_of_its_methods(rec: Recorded) -> None:
    @probe(name="orders.Order")
    class Order:
        def total(self) -> int:
            return 1

    Order().total()
    assert rec.counts == {"orders.Order.total": 1}


def test_a_dataclass_and_an_enum_stay_what_they_are(rec: Recorded) -> None:
    @probe(name="Point")
    @dataclass(frozen=True)
    class Point:
        x: int

        def doubled(self) -> Point:
            return Point(2 * self.x)

    @probe(name="Colour")
    class Colour(enum.Enum):
        RED = 1

        def shown(self) -> str:
            return self.name.lower()

    assert Point(2).doubled() == Point(4)
    assert Colour.RED.shown() == "red"
    assert list(Colour) == [Colour.RED]
    assert {"Point.doubled": 1, "Colour.shown": 1}.items() <= rec.counts.items()


@pytest.mark.parametrize("outside", [True, False], ids=["above", "below"])
def test_a_static_method_probed_above_or_below_the_decorator(rec: Recorded, outside: bool) -> None:
    def m(a: int) -> int:
        return a

    class C:
        made = probe(name="m")(staticmethod(m)) if outside else staticmethod(probe(name="m")(m))

    assert (C.made(1), C().made(2)) == (1, 2)
    assert rec.counts == {"m": 2}


@pytest.mark.parametrize("outside", [True, False], ids=["above", "below"])
def test_a_class_method_gets_the_class_it_is_called_on(rec: Recorded, outside: bool) -> None:
    def m(cls: type) -> type:
        return cls

    class C:
        made: Any = probe(name="m")(classmethod(m)) if outside else classmethod(probe(name="m")(m))  # Any: a descriptor

    class Sub(C):
        pass

    assert (C.made(), Sub.made(), Sub().made()) == (C, Sub, Sub)
    assert rec.counts == {"m": 3}


def test_a_property_stays_one_and_keeps_its_setter(rec: Recorded) -> None:
    class C:
        def __init__(self) -> None:
            self._x = 1

        @property
        def x(self) -> int:
            """The x."""
            return self._x

        @x.setter
        def x(self, value: int) -> None:
            self._x = value

        x = probe(name="x")(x)

    c = C()
    c.x = 5
    assert c.x == 5
    assert isinstance(vars(C)["x"], property)
    assert vars(C)["x"].__doc__ == "The x."
    assert rec.counts == {"x": 1}


def test_a_cached_property_is_timed_once(rec: Recorded) -> None:
    class C:
        @probe(name="x")  # type: ignore[prop-decorator]  # mypy allows no decorator on top of any property
        @functools.cached_property
        def x(self) -> int:
            return 7

    c = C()
    assert (c.x, c.x) == (7, 7)
    assert rec.counts == {"x": 1}


def test_a_partial(rec: Recorded) -> None:
    partial = probe(functools.partial(add, 1))
    assert (partial(), partial(b=5)) == (3, 6)
    assert (partial.func, partial.args, isinstance(partial, functools.partial)) == (add, (1,), True)
    assert rec.counts == {local("add"): 2}


def test_above_lru_cache_every_call_is_counted_and_the_cache_is_reachable(rec: Recorded) -> None:
    @probe(name="f")
    @functools.cache
    def f(n: int) -> int:
        return n

    assert [f(1), f(1), f(2)] == [1, 1, 2]
    assert (f.cache_info().hits, f.cache_info().misses) == (1, 2)
    f.cache_clear()
    assert f.cache_info().misses == 0
    assert rec.counts == {"f": 3}


def test_below_lru_cache_only_misses_are_counted(rec: Recorded) -> None:
    @functools.cache
    @probe(name="f")
    def f(n: int) -> int:
        return n

    assert [f(1), f(1), f(2)] == [1, 1, 2]
    assert rec.counts == {"f": 2}


def test_an_lru_cache_as_a_method_is_bound(rec: Recorded) -> None:
    class C:
        @probe(name="m")
        @functools.cache  # noqa: B019  # the object lives as long as the test
        def m(self, n: int) -> tuple[C, int]:
            return self, n

    c = C()
    assert c.m(1) == c.m(1) == (c, 1)
    assert C.m.cache_info().hits == 1
    assert rec.counts == {"m": 2}


def test_singledispatch_still_dispatches_and_registers(rec: Recorded) -> None:
    @probe(name="show")
    @functools.singledispatch
    def show(value: object) -> str:
        return "object"

    @show.register
    def _(value: int) -> str:
        return "int"

    assert (show("x"), show(1), show.dispatch(int)(1)) == ("object", "int", "int")
    assert rec.counts == {"show": 2}


def test_a_builtin_and_a_callable_instance(rec: Recorded) -> None:
    class Adder:
        bias = 1

        def __call__(self, n: int) -> int:
            return n + self.bias

    length = probe(len)
    adder = probe(Adder())
    assert (length("abc"), adder(2), adder.bias, isinstance(adder, Adder)) == (3, 3, 1, True)
    assert rec.counts == {
        "builtins.len": 1,
        local("test_a_builtin_and_a_callable_instance.<locals>.Adder"): 1,
    }


def test_a_callable_instance_that_makes_coroutines_is_timed_to_their_end(rec: Recorded) -> None:
    class Waiter:
        async def __call__(self) -> int:
            await asyncio.sleep(0)
            inside()
            return 1

    @probe(name="inside")
    def inside() -> None: ...

    waiter = probe(Waiter(), name="waiter")
    assert asyncio.run(waiter()) == 1
    assert rec.traces == ["waiter(inside)"]


def test_a_bound_method_is_probed_for_its_object_alone(rec: Recorded) -> None:
    class C:
        def m(self) -> int:
            return 1

    c, other = C(), C()
    m = probe(c.m, name="m")
    assert (m(), other.m(), c.m()) == (1, 1, 1)
    assert rec.counts == {"m": 1}


def test_a_probe_put_twice_counts_once_and_keeps_its_first_name(rec: Recorded) -> None:
    def f() -> None: ...

    once = probe(f, name="f")
    assert probe(once) is once
    assert probe(once, name="f") is once
    once()
    assert rec.counts == {"f": 1}


def test_two_probes_of_one_name_are_one_operation(rec: Recorded) -> None:
    @probe(name="both")
    def f() -> None: ...

    @probe(name="both")
    def g() -> None: ...

    f()
    g()
    assert rec.counts == {"both": 2}


def test_defining_a_function_again_counts_each_call_once(rec: Recorded) -> None:
    source = "from tracectx.probes.probe import probe\n@probe(name='cell')\ndef f(): pass"
    namespace: dict[str, object] = {}
    for _ in range(3):
        exec(source, namespace)
        namespace["f"]()  # type: ignore[operator]  # defined by the source
    assert rec.counts == {"cell": 3}


def test_a_root_probe_begins_a_trace_of_its_own(rec: Recorded) -> None:
    @probe(name="job", root=True)
    def job() -> None: ...

    @probe(name="main")
    def main() -> None:
        job()

    main()
    assert rec.traces == ["job", "main"]


def test_unprobe_while_the_function_runs_does_not_lose_its_exit(rec: Recorded) -> None:
    @probe(name="f")
    def f() -> None:
        unprobe(running[0])

    running = [f]
    f()
    assert rec.endings == {"f returned": 1}


def test_unprobe_while_a_generator_is_suspended_does_not_lose_its_end(rec: Recorded) -> None:
    @probe(name="g")
    def g() -> Generator[int, None, None]:
        yield 1

    generator = g()
    next(generator)
    bare = unprobe(g)
    assert list(generator) == []
    assert list(bare()) == [1]
    assert rec.endings == {"g returned": 1}


def test_unprobe_of_what_has_no_probe_gives_it_back(attach: Attachments) -> None:
    assert unprobe(add) is add
    assert unprobe(len) is len


@pytest.mark.parametrize(
    ("put", "error", "message"),
    [
        (lambda: probe(5), ProbeError, "cannot probe 5: expected a function, a class"),
        (lambda: probe(None), ProbeError, "cannot probe None"),
        (lambda: probe(int), ProbeError, "cannot probe the class int: it is built in"),
        (lambda: probe(add, name=3), ProbeError, "the name of a probe must be a str, got 3"),  # type: ignore[call-overload]  # wrong on purpose
        (lambda: probe(add, name=" "), ConfigError, "the name of a probe must not be empty, got ' '"),
        (lambda: probe(root=1), ProbeError, "root must be True or False, got 1"),  # type: ignore[call-overload]  # wrong on purpose
        (lambda: probe(label="x"), ProbeError, "label must be a function of the call's arguments, got 'x'"),  # type: ignore[call-overload]  # wrong on purpose
    ],
)
def test_bad_arguments_raise_where_the_probe_is_put(
    attach: Attachments, put: types.FunctionType, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        put()


def test_a_second_probe_with_another_name_is_an_error(attach: Attachments) -> None:
    f = probe(lambda: None, name="first")
    with pytest.raises(ConfigError, match="first has a probe of that name; it cannot get a second one named 'second'"):
        probe(f, name="second")


def test_a_label_for_a_class_is_an_error(attach: Attachments) -> None:
    class Many: ...

    with pytest.raises(ConfigError, match="a label needs one signature"):
        probe(Many, label=lambda: "x")


@types.coroutine
def waits() -> Generator[None, None, None]:
    yield
