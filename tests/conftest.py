"""Which core and attachment a run is on, and that no test leaves anything behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tracectx.core.choice import CHOICE
from tracectx.probes import runtime
from tracectx.session.session import SESSION


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-stress", action="store_true", help="run the tests that take minutes, too")


def pytest_report_header() -> str:
    return f"tracectx: {CHOICE.core.name} core ({CHOICE.reason}), attached by {runtime.attachments().name}"


def pytest_sessionstart() -> None:
    """A run that says which core and attachment it is on must be on it."""
    demanded = os.environ.get("TRACECTX_EXPECT_CORE"), os.environ.get("TRACECTX_EXPECT_ATTACH")
    actual = CHOICE.core.name, runtime.attachments().name
    for wanted, got in zip(demanded, actual, strict=True):
        if wanted and wanted != got:
            raise pytest.UsageError(f"this run was to be on {wanted}, and is on {got}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-stress"):
        return
    for item in items:
        if item.get_closest_marker("stress"):
            item.add_marker(pytest.mark.skip(reason="takes minutes: --run-stress"))


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    yield
    assert len(SESSION.recordings) == 1, "a recording block is still open"
    assert SESSION.core.recorder.enabled, "recording is still disabled"
    position = SESSION.core.recorder.position()
    assert position is None, "an execution is still open"
