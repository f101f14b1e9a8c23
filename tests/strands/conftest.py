from __future__ import annotations

from collections.abc import Iterator

import pytest

import tracectx
from tracectx.session.session import Recording
from tracectx.testing import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def rec(clock: ManualClock) -> Iterator[Recording]:
    """An exact recording whose traces wait for what may still come, as long as it takes."""
    with tracectx.recording(clock=clock, loops="exact", trace_linger=1e6) as recording:
        yield recording
