"""Memory stays under `max_memory` whatever a program does, with exact counts (DESIGN.md, section 6)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MAX_MEMORY = 64_000_000
ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.stress, pytest.mark.timeout(1800)]


def run(name: str, number: int) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.stress.scenarios", name, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1700, cwd=ROOT)
    figures: dict[str, int] = json.loads(done.stdout)
    print(name, number, figures)
    assert figures["recorded"] == figures["folded"] + figures["open"] + figures["unfinished"] + figures["dropped"]
    assert figures["in_leaves"] == figures["folded"]
    assert figures["probe_errors"] == 0
    assert figures["grown_bytes"] < MAX_MEMORY
    return figures


def test_a_million_distinct_traces() -> None:
    number = 1_000_000
    figures = run("distinct_traces", number)
    digits = sum(_digits(trace) for trace in range(number))
    assert (figures["traces"], figures["folded"]) == (number, number + digits)


def _digits(number: int) -> int:
    return 0 if number == 0 else 1 + _digits(number // 99)


def test_a_hundred_thousand_short_threads() -> None:
    figures = run("short_threads", 100_000)
    assert (figures["traces"], figures["folded"]) == (100_000, 100_000)


def test_a_hundred_thousand_spans_that_are_never_closed() -> None:
    figures = run("spans_never_closed", 100_000)
    assert (figures["recorded"], figures["folded"]) == (100_000, 0)


def test_a_main_with_a_million_calls_below_it_keeps_their_subtrees() -> None:
    figures = run("endless_main", 1_000_000)
    assert figures["folded"] == 1 + 999_999
    assert (figures["traces"], figures["truncated_traces"]) == (1, 1)
    assert figures["subtree_operations"] == 6, "handle and the five leaves that it calls"
