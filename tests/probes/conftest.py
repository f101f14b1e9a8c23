"""Tests of probes run with each way of attaching that this Python has, and leave no tool id of monitoring taken."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

import tracectx
from tests.probes.recorded import Recorded
from tracectx.probes import placing
from tracectx.probes.attach.choose import Attachments
from tracectx.probes.runtime import recorder
from tracectx.testing import ManualClock

MODES = ["wrapping", "monitoring"] if sys.version_info >= (3, 12) else ["wrapping"]


@pytest.fixture(params=MODES)
def attach(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attachments]:
    """The way of attaching that `probe` and `instrument` use in this test."""
    mode: str = request.param
    attachments = Attachments(recorder(), mode)
    assert attachments.name == mode
    monkeypatch.setattr(placing, "attachments", lambda: attachments)
    before = tools()
    yield attachments
    if not tools() <= before:
        gc.collect()  # of the test's functions, which may be in cycles
    assert tools() <= before, "a tool id of sys.monitoring was left taken"


@pytest.fixture
def rec(attach: Attachments) -> Iterator[Recorded]:
    with tracectx.recording(clock=ManualClock(), loops="exact", trace_linger=1e6) as recording:
        yield Recorded(recording, attach)


def tools() -> set[int]:
    if sys.version_info < (3, 12):
        return set()
    return {tool for tool in (3, 4) if sys.monitoring.get_tool(tool) is not None}
