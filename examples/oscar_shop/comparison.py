"""CPU time of the instrumented shop beside the bare one: both in processes of their own, by turns.

A machine that slows down meanwhile slows down both.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from examples.oscar_shop.traffic import Outcome

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Run:
    """An outcome and, of an instrumented run, what became of the executions."""

    outcome: Outcome
    executions: int = 0
    lost: int = 0
    """Dropped, unfinished or still open after the last request."""


@dataclass(frozen=True, slots=True)
class Comparison:
    bare: Sequence[Run]
    instrumented: Sequence[Run]

    @property
    def added_cpu_seconds(self) -> float:
        return cpu_seconds(self.instrumented) - cpu_seconds(self.bare)


def compare(requests: int, threads: int, seed: int, rounds: int) -> Comparison:
    """Runs each kind `rounds` times. Needs no Django in the calling process."""
    size = [f"--requests={requests}", f"--threads={threads}", f"--seed={seed}"]
    bare, instrumented = [], []
    for _ in range(rounds):
        bare.append(_run([*size, "--uninstrumented"]))
        instrumented.append(_run(size))
    return Comparison(bare, instrumented)


def cpu_seconds(runs: Sequence[Run]) -> float:
    return median(run.outcome.cpu_seconds for run in runs)


def _run(arguments: Sequence[str]) -> Run:
    command = [sys.executable, "-m", "examples.oscar_shop", "--json", *arguments]
    finished = subprocess.run(command, check=False, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
    if not finished.stdout:
        raise RuntimeError(f"{' '.join(command)} ended with exit status {finished.returncode} and said nothing")
    run = json.loads(finished.stdout)
    return Run(**{**run, "outcome": Outcome(**run["outcome"])})
