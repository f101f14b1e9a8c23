"""Trace classes in bulk: put together, with the slowest and a random trace of each.

An exemplar without a trace id and without times is unknown: that of a difference of two snapshots whose exemplar is older
than the earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracectx.core.snapshot import ClassColumns, ExemplarColumns
from tracectx.stats.histogram_arrays import Ints
from tracectx.stats.mixing import sample_priority
from tracectx.tree.arrays import frozen, ints, starts_of


class ExemplarRow(NamedTuple):
    """One exemplar, times as they stand in the column."""

    started_at_ns: int
    trace_id: str
    times_ns: Ints


NO_EXEMPLAR = ExemplarRow(0, "", np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One trace class; `shape` is an id."""

    shape: int
    count: int
    slowest: ExemplarRow
    sample: ExemplarRow


def class_rows(classes: ClassColumns) -> list[ClassRow]:
    """The rows of a table."""
    shapes, counts = ints(classes.shape).tolist(), ints(classes.count).tolist()
    slowest, sample = _exemplar_rows(classes.slowest), _exemplar_rows(classes.sample)
    return [ClassRow(*row) for row in zip(shapes, counts, slowest, sample, strict=True)]


def merged_classes(rows: Sequence[ClassRow]) -> ClassColumns:
    """One row for each shape, in the order of shapes."""
    by_shape: dict[int, ClassRow] = {}
    for row in rows:
        known = by_shape.get(row.shape)
        by_shape[row.shape] = row if known is None else _merged(known, row)
    return class_columns([by_shape[shape] for shape in sorted(by_shape)])


def class_columns(rows: Sequence[ClassRow]) -> ClassColumns:
    """Rows as columns."""
    return ClassColumns(
        shape=frozen(np.array([row.shape for row in rows], dtype=np.int64)),
        count=frozen(np.array([row.count for row in rows], dtype=np.int64)),
        slowest=_exemplar_columns([row.slowest for row in rows]),
        sample=_exemplar_columns([row.sample for row in rows]),
    )


def _merged(a: ClassRow, b: ClassRow) -> ClassRow:
    return ClassRow(
        a.shape, a.count + b.count, _better(a.slowest, b.slowest, _slowness), _better(a.sample, b.sample, _priority)
    )


def _better(a: ExemplarRow, b: ExemplarRow, key: Callable[[ExemplarRow], tuple[int, int, str]]) -> ExemplarRow:
    """The known one, else the one with the smallest key."""
    if not a.trace_id or not b.trace_id:
        return a if a.trace_id else b
    return min(a, b, key=key)


def _slowness(row: ExemplarRow) -> tuple[int, int, str]:
    return -int(row.times_ns[0]), row.started_at_ns, row.trace_id


def _priority(row: ExemplarRow) -> tuple[int, int, str]:
    return sample_priority(row.trace_id), row.started_at_ns, row.trace_id


def _exemplar_rows(columns: ExemplarColumns) -> list[ExemplarRow]:
    starts, times = ints(columns.time_start).tolist(), ints(columns.time_ns)
    return [
        ExemplarRow(started_at, trace_id, times[starts[row] : starts[row + 1]])
        for row, (started_at, trace_id) in enumerate(zip(ints(columns.started_at_ns).tolist(), columns.trace_id, strict=True))
    ]


def _exemplar_columns(rows: Sequence[ExemplarRow]) -> ExemplarColumns:
    times = [row.times_ns for row in rows]
    return ExemplarColumns(
        started_at_ns=frozen(np.array([row.started_at_ns for row in rows], dtype=np.int64)),
        trace_id=tuple(row.trace_id for row in rows),
        time_start=frozen(starts_of(np.array([len(row) for row in times], dtype=np.int64))),
        time_ns=frozen(np.concatenate([*times, np.zeros(0, np.int64)])),
    )
