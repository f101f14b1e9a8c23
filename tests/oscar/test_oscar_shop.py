"""A real web shop: what tracectx counts in it against an independent recorder, and ten threads at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from examples.oscar_shop.comparison import compare

ROOT = Path(__file__).resolve().parents[2]
RECORDER_FOR = {"monitoring": "calls", "wrapping": "wrappers"}
"""Monitoring sees a function by whatever reference it is called; a wrapper only where it could be put."""

CACHED = [
    "oscar.apps.dashboard.nav._dashboard_url_names_to_config",
    "oscar.core.loading.cached_import_string",
    "oscar.core.loading.get_class_loader",
]
"""Oscar's functions under `lru_cache`: the independent recorder passes over them, and no request calls one."""


def counted(recorder: str) -> dict[str, Any]:  # Any: JSON
    command = [sys.executable, "-m", "tests.oscar.count_executions", recorder, "60"]
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(finished.stdout)
    return result


def test_one_thread_gives_the_counts_of_an_independent_recorder_over_the_same_run() -> None:
    ours = counted("tracectx")
    theirs = counted(RECORDER_FOR[ours["attach"]])
    assert ours["found"] == sorted([*theirs["found"], *CACHED])
    assert ours["errors"] == theirs["errors"] == []
    for what in ("operations", "callers", "stacks", "executions"):
        assert ours[what] == theirs[what], what


@pytest.mark.stress
@pytest.mark.timeout(1200)
def test_ten_threads_lose_no_execution_and_tell_their_cpu_time_beside_the_bare_run() -> None:
    comparison = compare(requests=1000, threads=10, seed=7, rounds=1)
    (bare,), (instrumented,) = comparison.bare, comparison.instrumented
    assert bare.outcome.errors == instrumented.outcome.errors == []
    assert instrumented.executions > 200_000
    assert instrumented.lost == 0
    print(f"cpu {bare.outcome.cpu_seconds:.1f} s bare, {comparison.added_cpu_seconds:+.1f} s instrumented")
