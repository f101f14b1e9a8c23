"""What does a recorded call cost?

    added = (CPU time of N probed calls - CPU time of N bare calls) / N

python -m benchmarks.probe_cost [--rounds 15]

An empty function is called 20,000 times a round, bare and in each configuration in turn; the figure is the median over the
rounds of CPU time (user and system, of the whole process, so what the aggregator folds is in it where it runs), with wall time
beside it. cProfile runs in the same rounds, as its documentation recommends. Run it on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import cProfile
import platform
import statistics
import time
from collections.abc import Callable

import tracectx
from tracectx.core.choice import CHOICE
from tracectx.probes.runtime import attachments

CALLS = 20_000


def bare() -> None: ...


@tracectx.probe
def probed() -> None: ...


def calls(function: Callable[[], None]) -> None:
    for _ in range(CALLS):
        function()


def run_bare() -> None:
    calls(bare)


def run_recorded() -> None:
    calls(probed)
    tracectx.stats()  # folds what is left: a call is paid for when it is in the tree


def run_disabled() -> None:
    tracectx.disable()
    calls(probed)
    tracectx.enable()


def run_cprofile() -> None:
    profile = cProfile.Profile()
    profile.runcall(calls, bare)


CONFIGURATIONS: dict[str, Callable[[], None]] = {
    "bare call": run_bare,
    "recorded and folded": run_recorded,
    "probed, disabled": run_disabled,
    "cProfile": run_cprofile,
}


def measure(rounds: int) -> dict[str, tuple[float, float]]:
    """Median CPU and wall time of a call in nanoseconds, by configuration."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in CONFIGURATIONS}
    for run in CONFIGURATIONS.values():
        run()
    for _ in range(rounds):
        for name, run in CONFIGURATIONS.items():
            cpu, wall = time.process_time_ns(), time.perf_counter_ns()
            run()
            times[name].append(((time.process_time_ns() - cpu) / CALLS, (time.perf_counter_ns() - wall) / CALLS))
    return {
        name: (statistics.median(cpu for cpu, _ in found), statistics.median(wall for _, wall in found))
        for name, found in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    results = measure(parser.parse_args().rounds)
    bare_cpu = results["bare call"][0]
    print(f"Python {platform.python_version()}, {CHOICE.core.name} core, {attachments().name}, {platform.machine()}")
    print(f"{'':22}{'CPU ns':>9}{'added ns':>10}{'x bare':>8}{'x cProfile':>12}{'wall ns':>9}")
    profiled = results["cProfile"][0] - bare_cpu
    for name, (cpu, wall) in results.items():
        added = cpu - bare_cpu
        print(f"{name:22}{cpu:9.0f}{added:10.0f}{cpu / bare_cpu:8.1f}{added / profiled:12.2f}{wall:9.0f}")
    tracectx.reset()


if __name__ == "__main__":
    main()
