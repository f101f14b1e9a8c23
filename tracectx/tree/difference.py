"""The difference of two snapshots of one recording: what was added in between, exactly.

Leaves only grow, with exceptions: an execution of an open trace moves to its own leaf when the trace completes, and a leaf may
be evicted, and admitted again. Then all children of its parent are put together into one `(other)` leaf of the parent, and so
on upwards until nothing shrinks: the difference is exact at every level that is left.

What a difference cannot know: the first observation (-1 where the leaf was there before), minimum and maximum within their
buckets, and an exemplar that did not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracectx.core.snapshot import NOT_KEPT, REASONS, ClassColumns, LeafColumns, RecordingInfo, Snapshot
from tracectx.errors import ConfigError
from tracectx.stats.histogram_arrays import Ints
from tracectx.tree.arrays import frozen, ints
from tracectx.tree.canonical import canonical, ordered_leaves, ordered_loads, renamed
from tracectx.tree.exemplars import NO_EXEMPLAR, ClassRow, ExemplarRow, class_columns, class_rows
from tracectx.tree.levels import CALLER, SUBTREE, TRACE
from tracectx.tree.rows import KEYS, keys_of
from tracectx.tree.subtraction import rows_of, shrinking, shrinking_loads, subtracted, subtracted_loads, unchanged

_LEVEL_KEYS = KEYS[: TRACE + 1]
_OPEN, _EVICTED = REASONS.index("open"), REASONS.index("evicted")


def difference(later: Snapshot, earlier: Snapshot) -> Snapshot:
    """`later` without what `earlier` holds, canonical. `ConfigError` unless both are of one recording, in this order."""
    info = _info(later.info, earlier.info)
    later, earlier = renamed([later, earlier])
    readmitted = _readmitted_classes(later.leaves, earlier.leaves)
    above, below = _without_moves(later.leaves, earlier.leaves)
    more, less = ordered_loads([later.loads]), ordered_loads([earlier.loads])
    if shrinking(above, below).any() or shrinking_loads(more, less).any():
        raise ConfigError(
            "the earlier snapshot holds executions that the later one does not: the order is wrong, or the recording was"
            " reset in between"
        )
    return canonical(
        [
            replace(
                later,
                info=info,
                leaves=subtracted(above, below, info.precision_bits),
                loads=subtracted_loads(more, less),
                classes=_classes(later.classes, earlier.classes, readmitted),
            )
        ]
    )


def _info(later: RecordingInfo, earlier: RecordingInfo) -> RecordingInfo:
    for name in ("recordings", "started_at_ns", "clock", "loops", "precision_bits"):
        a, b = getattr(later, name), getattr(earlier, name)
        if a != b:
            raise ConfigError(f"since() takes an earlier snapshot of the same recording: {name} is {a!r} here, {b!r} there")
    if earlier.taken_at_ns > later.taken_at_ns:
        raise ConfigError(
            f"since() takes an earlier snapshot: this one was taken at {later.taken_at_ns} ns, the other later, at"
            f" {earlier.taken_at_ns} ns"
        )
    names = sorted({*later.counters, *earlier.counters})
    counters = {name: later.counters.get(name, 0) - earlier.counters.get(name, 0) for name in names}
    return replace(later, started_at_ns=earlier.taken_at_ns, counters=counters)


def _without_moves(later: LeafColumns, earlier: LeafColumns) -> tuple[LeafColumns, LeafColumns]:
    """Both tables, with the children of parents put together between which something moved; finest levels first.

    What still shrinks at the end does so in a whole operation.
    """
    above, below = ordered_leaves(later), ordered_leaves(earlier)
    for level in range(TRACE, CALLER - 1, -1):
        moved = _moved(above, below, level)
        if moved.any():
            parents = _Parents(below, moved, level)
            above, below = parents.put_together(above), parents.put_together(below)
    return above, below


def _moved(above: LeafColumns, below: LeafColumns, level: int) -> NDArray[np.bool_]:
    """Which leaves of the earlier table, of this level or finer, cannot be compared with the later: what they held moved.

    They shrink; or they were admitted again; or they held executions of open traces, of which some may have moved though
    there are no fewer now. (Leaves put together one level below have one level more than those of this level.)
    """
    kept = _levels_kept(below)
    readmitted = _counts_anew(above, below) & (kept > SUBTREE)
    open_ones = (ints(below.reason) == _OPEN) & (kept == level) & ~unchanged(above, below)
    moved: NDArray[np.bool_] = (shrinking(above, below) | readmitted | open_ones) & (kept >= level)
    return moved


def _counts_anew(above: LeafColumns, below: LeafColumns) -> NDArray[np.bool_]:
    """Which leaves count from another time than before."""
    rows = rows_of(above, below)
    found = rows >= 0
    found[found] = ints(above.since_ns)[rows[found]] > ints(below.since_ns)[found]
    return found


def _levels_kept(leaves: LeafColumns) -> Ints:
    """How many levels of keys each leaf has: the level at which it is a child of its parent, or one more at the finest."""
    kept = np.array([ints(getattr(leaves, name)) != NOT_KEPT for name in _LEVEL_KEYS])
    counted: Ints = kept.sum(axis=0)
    return counted


class _Parents:
    """The contexts above some leaves at a level, and why their children are put together."""

    def __init__(self, leaves: LeafColumns, bad: NDArray[np.bool_], level: int) -> None:
        self._level = level
        self._reasons: dict[tuple[int, ...], int] = {}
        for parent, reason in zip(self._keys(leaves, bad), ints(leaves.reason)[bad].tolist(), strict=True):
            is_open = reason == _OPEN or self._reasons.get(parent) == _OPEN
            self._reasons[parent] = _OPEN if is_open else _EVICTED

    def put_together(self, leaves: LeafColumns) -> LeafColumns:
        """The leaves, with one `(other)` leaf instead of all those below each of the parents; it counts from the earliest."""
        every = np.ones(len(ints(leaves.count)), bool)
        parents = list(self._keys(leaves, every))
        reasons = np.array([self._reasons.get(parent, 0) for parent in parents], dtype=np.int64)
        chosen = reasons > 0
        since = ints(leaves.since_ns).copy()
        earliest: dict[tuple[int, ...], int] = {}
        for row in np.flatnonzero(chosen).tolist():
            earliest[parents[row]] = min(int(since[row]), earliest.get(parents[row], int(since[row])))
        since[chosen] = [earliest[parents[row]] for row in np.flatnonzero(chosen).tolist()]
        changed: dict[str, Any] = {  # Any: for replace
            name: frozen(np.where(chosen, NOT_KEPT, ints(getattr(leaves, name))))
            for name in (*_LEVEL_KEYS[self._level :], "position")
        }
        reason = frozen(np.where(chosen, reasons, ints(leaves.reason)))
        return ordered_leaves(replace(leaves, **changed, reason=reason, since_ns=frozen(since)))

    def _keys(self, leaves: LeafColumns, rows: NDArray[np.bool_]) -> Iterator[tuple[int, ...]]:
        return zip(*(key[rows].tolist() for key in keys_of(leaves)[: self._level]), strict=True)


def _readmitted_classes(later: LeafColumns, earlier: LeafColumns) -> set[int]:
    """Trace classes that were evicted and came back in between: their counts began anew."""
    above, below = ordered_leaves(later), ordered_leaves(earlier)
    traces = ints(below.trace)[_counts_anew(above, below)]
    return set(traces[traces >= 0].tolist())


def _classes(later: ClassColumns, earlier: ClassColumns, readmitted: set[int]) -> ClassColumns:
    before = {row.shape: row for row in class_rows(earlier)}
    rows = [_class_since(row, before.get(row.shape)) for row in class_rows(later) if row.shape not in readmitted]
    return class_columns([row for row in rows if row.count > 0])


def _class_since(row: ClassRow, before: ClassRow | None) -> ClassRow:
    if before is None:
        return row
    slowest, sample = _if_new(row.slowest, before.slowest), _if_new(row.sample, before.sample)
    return ClassRow(row.shape, row.count - before.count, slowest, sample)


def _if_new(exemplar: ExemplarRow, before: ExemplarRow) -> ExemplarRow:
    return NO_EXEMPLAR if exemplar.trace_id == before.trace_id else exemplar
