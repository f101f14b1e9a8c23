"""Programs that would fill any memory: run in a process of its own, prints what tracectx counted and how memory grew.

python -m tests.stress.scenarios NAME NUMBER
"""

from __future__ import annotations

import gc
import json
import sys
import threading
from collections.abc import Callable

import tracectx
from tracectx.session.session import SESSION

FUNCTIONS = 99


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def leaves() -> list[Callable[[], None]]:
    made = []
    for number in range(FUNCTIONS):

        def leaf() -> None: ...

        made.append(tracectx.probe(name=f"leaf{number}")(leaf))
    return made


def distinct_traces(number: int) -> None:
    """Every trace calls another sequence of leaves: the digits of its number."""
    calls = leaves()

    @tracectx.probe(name="root")
    def root(trace: int) -> None:
        while trace:
            trace, digit = divmod(trace, FUNCTIONS)
            calls[digit]()

    for trace in range(number):
        root(trace)


def short_threads(number: int) -> None:
    call = leaves()[0]
    for _ in range(number):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()


def spans_never_closed(number: int) -> None:
    for span in range(number):
        tracectx.span(f"span{span % 100}").__enter__()


def endless_main(number: int) -> None:
    """One root with everything below it, in subtrees of a few shapes."""
    calls = leaves()

    @tracectx.probe(name="handle")
    def handle(kind: int) -> None:
        calls[0]()
        calls[1 + kind]()

    @tracectx.probe(name="main")
    def main() -> None:
        for request in range(number // 3):
            handle(request % 4)

    main()


SCENARIOS = {function.__name__: function for function in (distinct_traces, short_threads, spans_never_closed, endless_main)}


def measured(name: str, number: int) -> dict[str, object]:
    leaves()[0]()
    tracectx.reset()
    gc.collect()
    before = resident_bytes()
    SCENARIOS[name](number)
    stats = tracectx.stats()
    grown = resident_bytes() - before
    columns = SESSION.current.columns()
    subtrees = {
        columns.operations[operation]
        for operation, subtree in zip(columns.leaves.operation, columns.leaves.subtree, strict=True)
        if subtree >= 0
    }
    return {
        "grown_bytes": grown,
        "in_leaves": sum(columns.leaves.count),
        "subtree_operations": len(subtrees),
        **{
            field: getattr(stats, field)
            for field in ("recorded", "folded", "open", "unfinished", "dropped", "traces", "truncated_traces", "probe_errors")
        },
    }


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
