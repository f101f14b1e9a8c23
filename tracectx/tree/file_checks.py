"""What the columns of a file must fulfil before anything is computed with them. `FormatError` says which row does not.

A file from a stranger that passes is a tree: ids point into their tables, sums agree with histograms, nothing overflows,
and no shape is larger than what a recording can make.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracectx.core.snapshot import (
    ENDINGS,
    NOT_KEPT,
    REASONS,
    ROOT,
    ClassColumns,
    Column,
    ExemplarColumns,
    HistogramColumns,
    LeafColumns,
    LoadColumns,
    RecordingInfo,
    ShapeColumns,
    Snapshot,
    StackColumns,
    SummaryColumns,
)
from tracectx.errors import FormatError
from tracectx.stats.histogram import MOST_PRECISION_BITS, last_bucket
from tracectx.stats.histogram_arrays import Ints, buckets_of
from tracectx.tree.arrays import LARGEST, Words, exact_total, ints, run_sums, wides
from tracectx.tree.rows import TOTALS

MOST_POSITIONS = 10_000_000
"""Positions of one shape: shapes share their parts, so that a small file could hold one that nobody can walk."""

_TEXTS = {"clock", "loops"}
_LISTS = {"recordings", "cores", "pythons", "attachments"}
_MOST_LOAD_BUCKET = 63


def checked_info(info: dict[str, Any]) -> RecordingInfo:  # Any: JSON
    """The info of a file's header."""
    names = [field.name for field in fields(RecordingInfo)]
    if sorted(info) != sorted(names):
        raise FormatError(f"info in the header: expected {', '.join(names)}, got {', '.join(sorted(info))[:200]}")
    for name in names:
        value = info[name]
        if name in _TEXTS:
            _expect(isinstance(value, str), f"info.{name}", "a text", value)
        elif name in _LISTS:
            is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
            _expect(is_list and value == sorted(set(value)), f"info.{name}", "a sorted list of different texts", value)
        elif name == "counters":
            is_counters = isinstance(value, dict) and all(_is_int(number) for number in value.values())
            _expect(is_counters, "info.counters", "an object of whole numbers", value)
        else:
            _expect(_is_int(value) and 0 <= value <= LARGEST, f"info.{name}", "a whole number from 0 to 2**63 - 1", value)
    hexadecimal = all(re.fullmatch("[0-9a-f]{16}", id) for id in info["recordings"])
    _expect(hexadecimal, "info.recordings", "16 hexadecimal digits each", info["recordings"])
    _expect(info["loops"] in ("bucketed", "exact"), "info.loops", "'bucketed' or 'exact'", info["loops"])
    bits = info["precision_bits"]
    _expect(1 <= bits <= MOST_PRECISION_BITS, "info.precision_bits", f"1 to {MOST_PRECISION_BITS}", bits)
    values: dict[str, Any] = {name: tuple(value) if name in _LISTS else value for name, value in info.items()}  # Any: JSON
    return RecordingInfo(**values)


def check(snapshot: Snapshot) -> None:
    """Raises for the first thing that is wrong."""
    operations = len(snapshot.operations)
    _expect(len(set(snapshot.operations)) == operations, "operations", "different names", snapshot.operations)
    _expect(len(snapshot.components) == operations, "components", f"{operations}", len(snapshot.components))
    _check_stacks(snapshot.stacks, operations)
    sizes = _check_shapes(snapshot.shapes, operations)
    _check_leaves(snapshot, sizes)
    _check_classes(snapshot.classes, sizes)
    _check_loads(snapshot.loads, operations, snapshot.info.precision_bits)


def _check_stacks(stacks: StackColumns, operations: int) -> None:
    parent, operation = _equally_long(stacks, ("parent", "operation"), "stacks")
    _within(parent, ROOT, np.arange(len(parent)) - 1, "stacks.parent")
    _within(operation, 0, operations - 1, "stacks.operation")


def _check_shapes(shapes: ShapeColumns, operations: int) -> Ints:
    """Also gives the number of positions of each shape."""
    operation, ending = _equally_long(shapes, ("operation", "ending"), "shapes")
    child, is_async, low, high = _equally_long(shapes, ("edge_child", "edge_async", "edge_low", "edge_high"), "shapes")
    starts = _check_starts(shapes.edge_start, len(operation), len(child), "shapes.edge_start")
    parent = np.repeat(np.arange(len(operation)), np.diff(starts))
    _within(operation, -1, operations - 1, "shapes.operation")
    _within(ending, 0, len(ENDINGS) - 1, "shapes.ending")
    _within(child, 0, parent - 1, "shapes.edge_child")
    _within(is_async, 0, 1, "shapes.edge_async")
    _within(low, 1, high, "shapes.edge_low")
    sizes: list[int] = []
    children, bounds = child.tolist(), starts.tolist()
    for shape in range(len(operation)):
        size = 1 + sum(sizes[edge] for edge in children[bounds[shape] : bounds[shape + 1]])
        _expect(size <= MOST_POSITIONS, f"shapes, row {shape}", f"at most {MOST_POSITIONS} positions", size)
        sizes.append(size)
    return np.array(sizes, dtype=np.int64)


def _check_leaves(snapshot: Snapshot, sizes: Ints) -> None:
    leaves = snapshot.leaves
    plain = (
        "operation", "caller", "stack", "subtree", "trace", "position", "reason", "since_ns", *TOTALS, "first_start_ns",
        "first_response_ns", "first_self_ns",
    )  # fmt: skip
    columns = dict(zip(plain, _equally_long(leaves, plain, "leaves"), strict=True))
    _check_leaf_keys(columns, snapshot, sizes)
    for name in ("since_ns", *TOTALS):
        _within(columns[name], int(name == "count"), LARGEST, f"leaves.{name}")
    for name in ("first_start_ns", "first_response_ns", "first_self_ns"):
        _within(columns[name], -1, LARGEST, f"leaves.{name}")
    executions = exact_total(columns["count"])
    _expect(executions <= LARGEST, "leaves.count", "a total below 2**63", executions)
    _check_endings(leaves, columns["count"])
    for name, summary in (("response", leaves.response), ("self_time", leaves.self_time)):
        _check_summary(summary, columns["count"], snapshot.info.precision_bits, f"leaves.{name}")


def _check_leaf_keys(columns: dict[str, Ints], snapshot: Snapshot, sizes: Ints) -> None:
    operation, caller, stack, subtree, trace, position, reason = list(columns.values())[:7]
    stack_operation, shape_operation = ints(snapshot.stacks.operation), ints(snapshot.shapes.operation)
    _within(operation, 0, len(snapshot.operations) - 1, "leaves.operation")
    _within(caller, NOT_KEPT, len(snapshot.operations) - 1, "leaves.caller")
    coarser = caller
    for name, key, most in (("stack", stack, stack_operation), ("subtree", subtree, sizes), ("trace", trace, sizes)):
        _within(key, NOT_KEPT, np.where(coarser == NOT_KEPT, NOT_KEPT, len(most) - 1), f"leaves.{name}")
        _all(key != ROOT, key, f"leaves.{name}", "an id, or -2")
        coarser = key
    kept, known = trace >= 0, subtree >= 0
    _within(position, np.where(kept, 0, NOT_KEPT), _taken(sizes, trace, NOT_KEPT, 1), "leaves.position")
    _within(reason, np.where(kept, 0, 1), np.where(kept, 0, len(REASONS) - 1), "leaves.reason")
    _all(
        ~known | (_taken(shape_operation, subtree, 0) == operation),
        subtree,
        "leaves.subtree",
        "a shape of the operation",
    )
    called = _taken(stack_operation, _taken(ints(snapshot.stacks.parent), stack, ROOT), ROOT)
    fits = (_taken(stack_operation, stack, 0) == operation) & (called == caller)
    _all((stack < 0) | fits, stack, "leaves.stack", "a path of the caller and the operation")


def _taken(values: Ints, ids: Ints, missing: int, less: int = 0) -> Ints:
    """The value (minus `less`) of each id, `missing` for what has none."""
    found = np.full(len(ids), missing, np.int64)
    found[ids >= 0] = values[ids[ids >= 0]] - less
    return found


def _check_endings(leaves: LeafColumns, count: Ints) -> None:
    endings = [ints(column) for column in leaves.endings]
    for kind, column in enumerate(endings):
        _expect(len(column) == len(count), f"leaves.endings.{kind}", f"{len(count)} rows", len(column))
        _within(column, 0, count, f"leaves.endings.{kind}")
    in_all = np.array(endings)
    _all(in_all.astype(np.float64).sum(axis=0) < LARGEST, count, "leaves.endings", "a total below 2**63")
    _all(in_all.sum(axis=0) == count, count, "leaves.count", "the sum of the endings")


def _check_summary(summary: SummaryColumns, count: Ints, bits: int, name: str) -> None:
    _equally_long(summary, ("sum_low", "sum_high", "square_low", "square_high", "minimum", "maximum"), name, len(count))
    minimum, maximum = ints(summary.minimum), ints(summary.maximum)
    _within(minimum, 0, maximum, f"{name}.minimum")
    starts, bucket = _check_histogram(summary.histogram, len(count), bits, f"{name}.histogram")
    _all(
        run_sums(ints(summary.histogram.count), starts[:-1]) == count,
        count,
        f"{name}.histogram",
        "the leaf's count in all",
    )
    _all(buckets_of(minimum, bits) == bucket[starts[:-1]], minimum, f"{name}.minimum", "a value of the first bucket")
    _all(buckets_of(maximum, bits) == bucket[starts[1:] - 1], maximum, f"{name}.maximum", "a value of the last bucket")
    _check_sums(summary, count, name)


def _check_sums(summary: SummaryColumns, count: Ints, name: str) -> None:
    totals, squares = wides(summary.sum_low, summary.sum_high), wides(summary.square_low, summary.square_high)
    columns = (count.tolist(), ints(summary.minimum).tolist(), ints(summary.maximum).tolist(), totals, squares)
    for row, (n, low, high, total, square) in enumerate(zip(*columns, strict=True)):
        if not (n * low <= total <= n * high and total * total <= n * square <= n * n * high * high):
            raise FormatError(f"{name}, row {row}: expected sums of {n} times from {low} to {high}, got {total}, {square}")
    _expect(sum(squares) < 1 << 128, f"{name}.square_high", "a total below 2**128", sum(squares))


def _check_histogram(histogram: HistogramColumns, rows: int, bits: int, name: str) -> tuple[Ints, Ints]:
    bucket, count = _equally_long(histogram, ("bucket", "count"), name)
    starts = _check_starts(histogram.start, rows, len(bucket), f"{name}.start")
    _all(np.diff(starts) > 0, starts[1:], f"{name}.start", "at least one bucket for each row")
    _within(bucket, 0, last_bucket(bits), f"{name}.bucket")
    begins = np.zeros(len(bucket), bool)
    begins[starts[:-1]] = True
    _all(begins[1:] | (np.diff(bucket) > 0), bucket[1:], f"{name}.bucket", "ascending buckets")
    _within(count, 1, LARGEST, f"{name}.count")
    _expect(exact_total(count) <= LARGEST, f"{name}.count", "a total below 2**63", exact_total(count))
    return starts, bucket


def _check_classes(classes: ClassColumns, sizes: Ints) -> None:
    shape, count = _equally_long(classes, ("shape", "count"), "classes")
    _within(shape, 0, len(sizes) - 1, "classes.shape")
    _within(count, 1, LARGEST, "classes.count")
    _expect(exact_total(count) <= LARGEST, "classes.count", "a total below 2**63", exact_total(count))
    for name, exemplar in (("slowest", classes.slowest), ("sample", classes.sample)):
        _check_exemplars(exemplar, sizes[shape], f"classes.{name}")


def _check_exemplars(exemplar: ExemplarColumns, sizes: Ints, name: str) -> None:
    starts = _check_starts(exemplar.time_start, len(sizes), len(ints(exemplar.time_ns)), f"{name}.time_start")
    lengths = np.diff(starts)
    _all((lengths == 0) | (lengths == sizes), lengths, f"{name}.time_start", "a time for each position of the shape")
    _within(ints(exemplar.time_ns), 0, LARGEST, f"{name}.time_ns")
    for column, length in (("started_at_ns", len(ints(exemplar.started_at_ns))), ("trace_id", len(exemplar.trace_id))):
        _expect(length == len(sizes), f"{name}.{column}", f"{len(sizes)} rows", length)
    _within(ints(exemplar.started_at_ns), 0, LARGEST, f"{name}.started_at_ns")


def _check_loads(loads: LoadColumns, operations: int, bits: int) -> None:
    operation, bucket = _equally_long(loads, ("operation", "bucket"), "loads")
    _within(operation, 0, operations - 1, "loads.operation")
    _within(bucket, 0, _MOST_LOAD_BUCKET, "loads.bucket")
    _check_histogram(loads.histogram, len(operation), bits, "loads.histogram")


def _check_starts(column: Column, rows: int, entries: int, name: str) -> Ints:
    starts = ints(column)
    _expect(len(starts) == rows + 1, name, f"{rows + 1} rows", len(starts))
    _expect(starts[0] == 0 and starts[-1] == entries, name, f"0 first and {entries} last", (int(starts[0]), int(starts[-1])))
    _all(np.diff(starts) >= 0, starts[1:], name, "ascending numbers")
    return starts


def _equally_long(table: object, names: Sequence[str], where: str, rows: int | None = None) -> list[Ints]:
    columns = [np.asarray(getattr(table, name)) for name in names]
    wanted = len(columns[0]) if rows is None else rows
    for name, column in zip(names, columns, strict=True):
        _expect(len(column) == wanted, f"{where}.{name}", f"{wanted} rows", len(column))
    return columns


def _within(values: Ints, low: int | Ints, high: int | Ints, name: str) -> None:
    bad = np.flatnonzero((values < low) | (values > high))
    if len(bad):
        row = int(bad[0])
        least, most = (int(np.broadcast_to(bound, values.shape)[row]) for bound in (low, high))
        raise FormatError(f"{name}, row {row}: expected {least} to {most}, got {int(values[row])}")


def _all(good: NDArray[np.bool_], values: Ints | Words, name: str, expected: str) -> None:
    bad = np.flatnonzero(~np.asarray(good))
    if len(bad):
        raise FormatError(f"{name}, row {int(bad[0])}: expected {expected}, got {int(values[bad[0]])}")


def _expect(good: bool, name: str, expected: str, got: object) -> None:
    if not good:
        raise FormatError(f"{name}: expected {expected}, got {str(got)[:80]}")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
