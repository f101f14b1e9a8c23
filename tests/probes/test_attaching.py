"""Which attachment is chosen, what it holds while something is probed, and what it leaves behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import types
from collections.abc import Generator
from typing import Any

import pytest

from tests.probes.conftest import tools
from tests.probes.recorded import Recorded
from tracectx.errors import ConfigError
from tracectx.probes.attach.choose import Attachments
from tracectx.probes.attach.identity import WeakIdentityMap
from tracectx.probes.attach.site import Site
from tracectx.probes.probe import probe, unprobe
from tracectx.probes.runtime import recorder

monitoring: Any = getattr(sys, "monitoring", None)  # Any: 3.10 does not know it
needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with 3.12")
no_monitoring = pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring is there")


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(ConfigError, match="TRACECTX_ATTACH must be one of 'auto', 'monitoring', 'wrapping', got 'magic'"):
        Attachments(recorder(), "magic")


@no_monitoring
def test_where_there_is_no_monitoring_functions_are_wrapped_and_the_reason_is_kept() -> None:
    attachments = Attachments(recorder(), "auto")
    assert attachments.name == "wrapping"
    assert attachments.reason.startswith("sys.monitoring needs Python 3.12, this is 3.1")
    with pytest.raises(ConfigError, match=r"TRACECTX_ATTACH=monitoring is impossible: sys\.monitoring needs Python 3.12"):
        Attachments(recorder(), "monitoring")


def test_wrapping_can_be_forced_by_the_environment() -> None:
    source = """
        from tracectx.probes.runtime import attachments
        print(attachments().name, attachments().reason)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env={**os.environ, "TRACECTX_ATTACH": "wrapping"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "wrapping TRACECTX_ATTACH=wrapping"


def fresh() -> types.FunctionType:
    def f() -> None: ...

    assert isinstance(f, types.FunctionType)
    return f


@needs_monitoring
def test_without_a_free_tool_id_functions_are_wrapped_or_it_is_an_error() -> None:
    free = [tool for tool in (3, 4) if monitoring.get_tool(tool) is None]
    for tool in free:
        monitoring.use_tool_id(tool, "someone")
    try:
        automatic = Attachments(recorder(), "auto")
        function = fresh()
        wrapper = automatic.attach(function, Site("f", 0))
        assert wrapper is not function
        assert automatic.name == "wrapping"
        assert automatic.reason.startswith("sys.monitoring has no free tool id: taken are 4 by ")
        with pytest.raises(ConfigError, match=r"TRACECTX_ATTACH=monitoring is impossible: .* no free tool id"):
            Attachments(recorder(), "monitoring").attach(fresh(), Site("f", 0))
    finally:
        for tool in free:
            monitoring.free_tool_id(tool)


@needs_monitoring
def test_the_tool_id_is_held_only_while_something_is_probed() -> None:
    before = tools()
    attachments = Attachments(recorder(), "monitoring")
    function = fresh()
    attachments.attach(function, Site("f", 0))
    assert len(tools() - before) == 1
    attachments.detach(function)
    assert tools() == before
    attachments.attach(function, Site("f", 0))
    del function
    gc.collect()
    assert tools() == before


@needs_monitoring
def test_global_events_are_set_only_while_something_is_probed() -> None:
    attachments = Attachments(recorder(), "monitoring")
    function = fresh()
    before = tools()
    attachments.attach(function, Site("f", 0))
    (tool,) = tools() - before
    events = monitoring.events
    assert monitoring.get_events(tool) == events.PY_UNWIND | events.PY_THROW
    attachments.detach(function)
    assert monitoring.get_tool(tool) is None


def test_functions_that_share_their_code_are_told_apart(rec: Recorded) -> None:
    first, second = fresh(), fresh()
    assert first.__code__ is second.__code__
    probed = probe(first, name="first")
    probed()
    second()
    assert rec.counts == {"first": 1}
    unprobe(probed)
    assert first.__code__ is second.__code__


def test_a_finaliser_is_wrapped_since_it_may_run_while_a_callback_does(rec: Recorded) -> None:
    class C:
        @probe(name="del")
        def __del__(self) -> None: ...

    C()
    assert hasattr(vars(C)["__del__"], "__wrapped__")
    assert rec.counts == {"del": 1}


def test_what_the_collector_runs_inside_a_probe_is_counted(rec: Recorded) -> None:
    @probe(name="freed")
    def freed() -> None: ...

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            freed()

    @probe(name="f")
    def f() -> None: ...

    @probe(name="g")
    def g() -> Generator[int, None, None]:
        yield 1

    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(200):
            Cycle()
            f()
            list(g())
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert rec.counts == {"freed": 200, "f": 200, "g": 200}


def test_deep_recursion_is_counted_level_by_level(rec: Recorded) -> None:
    @probe(name="down")
    def down(n: int) -> int:
        return 0 if n == 0 else 1 + down(n - 1)

    assert down(100) == 100
    assert rec.counts == {"down": 101}


def test_a_removed_probe_does_not_record_through_a_wrapper_that_is_left(rec: Recorded) -> None:
    probed = probe(fresh(), name="f")
    bare = unprobe(probed)
    probed()
    bare()
    assert rec.counts == {}
    again = probe(probed, name="again")
    again()
    assert rec.counts == {"again": 1}


def test_an_identity_map_forgets_what_is_gone() -> None:
    died: list[str] = []
    entries: WeakIdentityMap[str] = WeakIdentityMap(died.append)
    first, second = fresh(), fresh()
    entries.add(first, "first")
    entries.add(second, "second")
    assert (entries.get(first), entries.get(second), len(entries)) == ("first", "second", 2)
    del first
    gc.collect()
    assert (died, len(entries), entries.owners()) == (["first"], 1, [second])
