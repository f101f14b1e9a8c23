"""What several tests share: traces drawn as short texts."""

from __future__ import annotations

import gc

from tracectx.core.snapshot import ENDINGS, Snapshot
from tracectx.session.session import Recording

_MARKS = dict(zip(ENDINGS, ("", "!", "^", "#", "?"), strict=True))


def drawn(recording: Recording) -> list[str]:
    """Every folded trace, sorted: `A(B(s) ~s!)`; `~` asynchronous, `!` raised, `^` cancelled, `#` closed, `?` abandoned.

    Operations are named by the last part of their name.
    """
    gc.collect()
    columns = recording.columns()
    return sorted(
        text
        for shape, count in zip(columns.classes.shape, columns.classes.count, strict=True)
        for text in [_drawn_shape(columns, shape, False)] * count
    )


def _drawn_shape(columns: Snapshot, shape: int, is_async: bool) -> str:
    shapes = columns.shapes
    edges = range(shapes.edge_start[shape], shapes.edge_start[shape + 1])
    children = [
        _drawn_shape(columns, shapes.edge_child[edge], bool(shapes.edge_async[edge]))
        + ("" if shapes.edge_high[edge] == 1 else f"*{shapes.edge_low[edge]}-{shapes.edge_high[edge]}")
        for edge in edges
    ]
    name = columns.operations[shapes.operation[shape]].rsplit(".", 1)[-1]
    text = ("~" if is_async else "") + name + _MARKS[ENDINGS[shapes.ending[shape]]]
    return f"{text}({' '.join(children)})" if children else text


def times_of(recording: Recording, name: str) -> dict[str, int]:
    """Exact figures of one operation, by the last part of its name, summed over its leaves (nanoseconds)."""
    gc.collect()
    columns = recording.columns()
    leaves = columns.leaves
    rows = [row for row in range(len(leaves.operation)) if columns.operations[leaves.operation[row]].rsplit(".", 1)[-1] == name]
    return {
        "count": sum(leaves.count[row] for row in rows),
        "response": sum(leaves.response.sum_low[row] for row in rows),
        "self": sum(leaves.self_time.sum_low[row] for row in rows),
        "suspended": sum(leaves.suspended_ns[row] for row in rows),
        "resumptions": sum(leaves.resumptions[row] for row in rows),
        "outermost": sum(leaves.outermost_total_ns[row] for row in rows),
    }
