"""Runs the shop in this process under one recorder and prints what it counted as JSON.

`python -m tests.oscar.count_executions RECORDER REQUESTS`; RECORDER is `tracectx`, `wrappers` or `calls`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping

import tracectx
from examples.oscar_shop.traffic import open_shop, send_requests
from tests.oscar.independent_recorder import CallRecorder, Path, WrapperRecorder, name_of, places_of

SEED = 7


def main(recorder: str, requests: int) -> None:
    with open_shop() as shelf:
        if recorder == "tracectx":
            with tracectx.instrument("oscar.*") as instrumentation:
                outcome = send_requests(shelf, requests, threads=1, seed=SEED)
            counted = {"found": sorted(instrumentation.operations), **counted_by_tracectx()}
        else:
            found = sorted({name_of(place.function) for place in places_of("oscar")})
            independent = (WrapperRecorder if recorder == "wrappers" else CallRecorder)("oscar")
            outcome = send_requests(shelf, requests, threads=1, seed=SEED)
            counted = {"found": found, **counted_independently(independent.counts)}
    print(json.dumps({"errors": outcome.errors, **counted}))


def counted_independently(counts: Mapping[Path, int]) -> dict[str, object]:
    operations: Counter[str] = Counter()
    callers: Counter[str] = Counter()
    for path, count in counts.items():
        operations[path[-1]] += count
        callers[_key(path[-2:])] += count
    stacks = {_key(path): count for path, count in counts.items()}
    return {"executions": sum(counts.values()), "operations": operations, "callers": callers, "stacks": stacks}


def counted_by_tracectx() -> dict[str, object]:
    tree, stats = tracectx.snapshot(), tracectx.stats()
    return {
        "attach": stats.attach,
        "executions": tree.executions,
        "operations": {context.operation: context.count for context in tree.contexts(level="operation")},
        "callers": {
            _key((context.caller, context.operation) if context.caller else (context.operation,)): context.count
            for context in tree.contexts(level="caller")
        },
        "stacks": {_key(context.stack): context.count for context in tree.contexts(level="stack")},
    }


def _key(path: Path | None) -> str:
    return " > ".join(path or ("not kept",))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
