"""Probed functions, and programs that are run by themselves."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import tracectx

ROOT = Path(__file__).parents[2]


@tracectx.probe(name="inner")
def inner() -> None: ...


@tracectx.probe(name="outer")
def outer(calls: int = 1) -> None:
    for _ in range(calls):
        inner()


def run(source: str, *, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that is written to a file `program.py` in `cwd`."""
    (cwd / "program.py").write_text(textwrap.dedent(source), encoding="utf-8")
    variables = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "PATH": "/usr/bin:/bin", **environment}
    command = [sys.executable, "-W", "error", "program.py"]
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False, timeout=60)


def counters(recording: tracectx.Recording) -> dict[str, int]:
    """The counters of executions and traces that are not 0."""
    stats = recording.stats()
    names = (
        "recorded", "folded", "open", "unfinished", "dropped", "traces", "open_traces", "dropped_traces", "truncated_traces",
        "late_executions", "sampled_out_traces", "vanished_executions", "clock_steps",
    )  # fmt: skip
    return {name: getattr(stats, name) for name in names if getattr(stats, name)}
