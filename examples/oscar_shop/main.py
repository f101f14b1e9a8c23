"""The command line: runs the shop under its users, instrumented or not, and prints what tracectx says about it."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import tracectx
from examples.oscar_shop.data import ACCOUNTS
from examples.oscar_shop.traffic import Outcome, open_shop, send_requests

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Run:
    """An outcome and, of an instrumented run, what became of the executions."""

    outcome: Outcome
    executions: int = 0
    lost: int = 0
    """Dropped, unfinished or still open after the last request."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 when a request went wrong."""
    options = _parser().parse_args(arguments)
    if options.compare:
        return _compare(options)
    run = _run(options)
    print(json.dumps(asdict(run)) if options.json else _in_words(run))
    return 1 if run.outcome.errors else 0


def _run(options: argparse.Namespace) -> Run:
    with open_shop() as shelf:
        # Only now: the URL configuration has imported the views, by name, from all over oscar.
        with nullcontext() if options.uninstrumented else tracectx.instrument("oscar.*"):
            outcome = send_requests(shelf, options.requests, options.threads, options.seed)
        if options.uninstrumented:
            return Run(outcome)
        if not options.json:
            tracectx.report()
    stats = tracectx.stats()
    return Run(outcome, executions=stats.recorded, lost=stats.recorded - stats.folded)


def _in_words(run: Run) -> str:
    outcome = run.outcome
    counts = f"requests {outcome.requests:,}   errors {len(outcome.errors):,}"
    times = f"wall {outcome.wall_seconds:.2f} s   cpu {outcome.cpu_seconds:.2f} s"
    lines = [f"{counts}   {times}", *outcome.errors[:10]]
    if run.executions:
        lines.append(f"executions {run.executions:,}   lost {run.lost:,}")
    return "\n".join(lines)


def _compare(options: argparse.Namespace) -> int:
    """Runs both kinds by turns, so that a machine that slows down meanwhile slows down both."""
    instrumented, bare = [], []
    for _ in range(options.rounds):
        bare.append(_run_in_subprocess(options, "--uninstrumented"))
        instrumented.append(_run_in_subprocess(options))
    for name, runs in (("uninstrumented", bare), ("instrumented", instrumented)):
        print(f"{name:<15} cpu {_cpu_seconds(runs):.2f} s   {_in_words(runs[-1])}")
    added = _cpu_seconds(instrumented) - _cpu_seconds(bare)
    executions = instrumented[-1].executions
    print(
        f"added           cpu {added:+.2f} s ({added / _cpu_seconds(bare):+.1%}), "
        f"{added / executions * 1e9:,.0f} ns for each of {executions:,} executions; medians of {options.rounds} runs"
    )
    return 1 if any(run.outcome.errors for run in bare + instrumented) else 0


def _run_in_subprocess(options: argparse.Namespace, *more: str) -> Run:
    size = [f"--requests={options.requests}", f"--threads={options.threads}", f"--seed={options.seed}"]
    command = [sys.executable, "-m", "examples.oscar_shop", "--json", *size, *more]
    finished = subprocess.run(command, check=False, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
    if not finished.stdout:
        raise SystemExit(f"{' '.join(command)} failed with exit status {finished.returncode}")
    run = json.loads(finished.stdout)
    return Run(**{**run, "outcome": Outcome(**run["outcome"])})


def _cpu_seconds(runs: Sequence[Run]) -> float:
    return median(run.outcome.cpu_seconds for run in runs)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.oscar_shop", description=__doc__)
    parser.add_argument("--requests", type=int, default=400, help="in all threads together (default 400)")
    threads = range(1, ACCOUNTS + 1)
    parser.add_argument("--threads", type=int, default=1, choices=threads, metavar="N", help=f"1 to {ACCOUNTS}")
    parser.add_argument("--seed", type=int, default=7, help="equal seeds send equal requests (default 7)")
    parser.add_argument("--uninstrumented", action="store_true", help="without tracectx")
    parser.add_argument("--json", action="store_true", help="print the outcome as one line of JSON, and no report")
    parser.add_argument("--compare", action="store_true", help="CPU time beside the uninstrumented run's")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind for --compare (default 3)")
    return parser
