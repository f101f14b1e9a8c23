"""The command line: runs the shop under its users, instrumented or not, and prints what tracectx says about it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict

import tracectx
from examples.oscar_shop.comparison import Comparison, Run, compare, cpu_seconds
from examples.oscar_shop.data import ACCOUNTS
from examples.oscar_shop.traffic import open_shop, send_requests


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 when a request went wrong."""
    options = _parser().parse_args(arguments)
    if options.compare:
        comparison = compare(options.requests, options.threads, options.seed, options.rounds)
        _print_comparison(comparison)
        runs = [*comparison.bare, *comparison.instrumented]
    else:
        runs = [_run(options)]
        print(json.dumps(asdict(runs[0])) if options.json else _in_words(runs[0]))
    return 1 if any(run.outcome.errors for run in runs) else 0


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
    if run.executions:
        counts += f"   executions {run.executions:,}   lost {run.lost:,}"
    times = f"wall {outcome.wall_seconds:.2f} s   cpu {outcome.cpu_seconds:.2f} s"
    return "\n".join([f"{counts}   {times}", *outcome.errors[:10]])


def _print_comparison(comparison: Comparison) -> None:
    for name, runs in (("uninstrumented", comparison.bare), ("instrumented", comparison.instrumented)):
        for run in runs:
            print(f"{name:<16}{_in_words(run)}")
    added = comparison.added_cpu_seconds
    executions = comparison.instrumented[-1].executions
    print(
        f"added cpu {added:+.2f} s ({added / cpu_seconds(comparison.bare):+.1%}), "
        f"{added / executions * 1e6:.2f} us for each of {executions:,} executions; medians of {len(comparison.bare)} runs"
    )


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
