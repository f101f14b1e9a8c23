"""The canonical form of one or more snapshots put together: the same contents always give the same columns.

Ids are those of `numbering`; rows are in the order of their keys, one for each set of keys, none without executions. In this
order the contexts of every level are runs of rows. Putting together is associative and commutative because it only sums,
takes extremes, and orders by contents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracectx.core.snapshot import (
    HistogramColumns,
    LeafColumns,
    LoadColumns,
    RecordingInfo,
    Snapshot,
    SummaryColumns,
)
from tracectx.errors import ConfigError
from tracectx.tree.arrays import frozen, ints
from tracectx.tree.exemplars import class_rows, merged_classes
from tracectx.tree.numbering import Maps, Numbering, numbered
from tracectx.tree.rows import (
    TOTALS,
    coarsened,
    concatenated,
    joined_histograms,
    keys_of,
    reduced,
    reduced_histogram,
    run_starts,
)


def canonical(snapshots: Sequence[Snapshot]) -> Snapshot:
    """One snapshot of at least one. `ConfigError` if they do not belong together, or a sum does not fit."""
    info = _merged_info([snapshot.info for snapshot in snapshots])
    parts = renamed(snapshots)
    bits = info.precision_bits
    return replace(
        parts[0],
        info=info,
        leaves=ordered_leaves(concatenated([_coarsened_leaves(part, bits) for part in parts])),
        classes=merged_classes([row for part in parts for row in class_rows(part.classes) if row.count]),
        loads=ordered_loads([_coarsened_loads(part, bits) for part in parts]),
    )


def renamed(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """The snapshots with one set of operations, stacks and shapes, in canonical numbering. Their rows stay in their order."""
    numbering = numbered(snapshots)
    return [_renamed(*pair, numbering) for pair in zip(snapshots, numbering.maps, strict=True)]


def ordered_leaves(leaves: LeafColumns) -> LeafColumns:
    """Leaves in the order of their keys, equal ones made one, empty ones left out.

    `ConfigError` for a leaf with a sum above 63 bits (times) or 128 bits (their sums and squares).
    """
    present = np.flatnonzero(ints(leaves.count))
    keys = [key[present] for key in keys_of(leaves)]
    by_key = np.lexsort(keys[::-1])
    try:
        rows = reduced(leaves, present[by_key], run_starts([key[by_key] for key in keys]))
        totals: dict[str, Any] = {  # Any: for replace
            name: frozen(ints(getattr(rows, name)).copy()) for name in TOTALS
        }
    except OverflowError as error:
        raise ConfigError(f"a sum of one context cannot be kept: {error}") from None
    return replace(rows, **totals)


def ordered_loads(loads: Sequence[LoadColumns]) -> LoadColumns:
    """One row for each operation and bucket of open traces, in this order."""
    operation = np.concatenate([ints(load.operation) for load in loads])
    bucket = np.concatenate([ints(load.bucket) for load in loads])
    order = np.lexsort((bucket, operation))
    starts = run_starts([operation[order], bucket[order]])
    firsts = order[starts]
    histogram = reduced_histogram(joined_histograms([load.histogram for load in loads]), order, starts)
    return LoadColumns(frozen(operation[firsts]), frozen(bucket[firsts]), histogram)


def _renamed(snapshot: Snapshot, maps: Maps, numbering: Numbering) -> Snapshot:
    keys: dict[str, Any] = {name: frozen(key) for name, key in maps.leaf_keys(snapshot.leaves).items()}  # Any: for replace
    return Snapshot(
        info=snapshot.info,
        operations=numbering.operations,
        components=numbering.components,
        stacks=numbering.stacks,
        shapes=numbering.shapes,
        leaves=replace(snapshot.leaves, **keys),
        classes=replace(snapshot.classes, shape=frozen(maps.shape[ints(snapshot.classes.shape)])),
        loads=replace(snapshot.loads, operation=frozen(maps.operation[ints(snapshot.loads.operation)])),
    )


def _coarsened_leaves(snapshot: Snapshot, bits: int) -> LeafColumns:
    leaves = snapshot.leaves

    def summary(columns: SummaryColumns) -> SummaryColumns:
        return replace(columns, histogram=_with_precision(columns.histogram, snapshot, bits))

    return replace(leaves, response=summary(leaves.response), self_time=summary(leaves.self_time))


def _coarsened_loads(snapshot: Snapshot, bits: int) -> LoadColumns:
    return replace(snapshot.loads, histogram=_with_precision(snapshot.loads.histogram, snapshot, bits))


def _with_precision(histogram: HistogramColumns, snapshot: Snapshot, bits: int) -> HistogramColumns:
    own_bits = snapshot.info.precision_bits
    return histogram if own_bits == bits else coarsened(histogram, own_bits, bits)


def _merged_info(infos: Sequence[RecordingInfo]) -> RecordingInfo:
    for name in ("clock", "loops"):
        values = sorted({getattr(info, name) for info in infos})
        if len(values) > 1:
            raise ConfigError(
                f"recordings with different {name} cannot be merged: {' and '.join(map(repr, values))};"
                f" record them with the same {name}"
            )
    counters: dict[str, int] = {}
    for info in infos:
        for name, number in info.counters.items():
            counters[name] = counters.get(name, 0) + number
    return RecordingInfo(
        recordings=tuple(sorted({id for info in infos for id in info.recordings})),
        clock=infos[0].clock,
        tick_ns=max(info.tick_ns for info in infos),
        loops=infos[0].loops,
        precision_bits=min(info.precision_bits for info in infos),
        started_at_ns=min(info.started_at_ns for info in infos),
        taken_at_ns=max(info.taken_at_ns for info in infos),
        cores=tuple(sorted({core for info in infos for core in info.cores})),
        pythons=tuple(sorted({python for info in infos for python in info.pythons})),
        attachments=tuple(sorted({attachment for info in infos for attachment in info.attachments})),
        probe_cost_ns=max(info.probe_cost_ns for info in infos),
        counters=dict(sorted(counters.items())),
    )
