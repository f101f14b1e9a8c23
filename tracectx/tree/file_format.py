"""The bytes of a `.tctx` file. No pickle and no compression: a file is as large as what it makes, and equal trees give equal
bytes on every machine.

Version 1, little endian:

    offset  bytes
    0       8      magic: 89 "TCTX" 0D 0A 1A       (as PNG: text mode and 7-bit transfers break it visibly)
    8       4      version, unsigned
    12      4      length h of the header, unsigned
    16      h      header: JSON in ASCII, sorted keys, no spaces
    16 + h  ...    the columns, one after the other, in the order of the header
    end-16  16     BLAKE2b-128 of all before

    header  {"columns": [[name, type, length], ...],       all names of COLUMN_NAMES in their order
             "components": [str, ...], "info": {...}, "operations": [str, ...]}
    type    i1 i2 i4 i8 signed, the smallest that holds the column; u8 unsigned, where i8 does not

Names of columns are their paths in a `Snapshot`. Trace ids are two columns, the high and the low 64 bits; both 0 where
an exemplar is not known. What the columns must fulfil is in `file_checks`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from tracectx.core.snapshot import (
    FORMAT_VERSION,
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
from tracectx.stats.histogram_arrays import Ints
from tracectx.stats.mixing import MASK_64
from tracectx.tree.arrays import Words, frozen, ints, words

MAGIC = b"\x89TCTX\r\n\x1a"
DIGEST_BYTES = 16
PREFIX_BYTES = 16
MOST_HEADER_BYTES = 1 << 28

_TYPES = {"i1": 1, "i2": 2, "i4": 4, "i8": 8, "u8": 8}
_SIGNED = ("i1", "i2", "i4", "i8")


def _histogram(prefix: str) -> list[str]:
    return [f"{prefix}.{name}" for name in ("start", "bucket", "count")]


def _summary(prefix: str) -> list[str]:
    plain = ("sum_low", "sum_high", "square_low", "square_high", "minimum", "maximum")
    return [*(f"{prefix}.{name}" for name in plain), *_histogram(f"{prefix}.histogram")]


def _exemplar(prefix: str) -> list[str]:
    return [f"{prefix}.{name}" for name in ("started_at_ns", "trace_id_high", "trace_id_low", "time_start", "time_ns")]


PLAIN_LEAF_COLUMNS = (
    "operation", "caller", "stack", "subtree", "trace", "position", "reason", "since_ns", "count", "resumptions",
    "suspended_ns", "outermost_total_ns", "first_start_ns", "first_response_ns", "first_self_ns",
)  # fmt: skip
COLUMN_NAMES = (
    *(f"stacks.{field.name}" for field in fields(StackColumns)),
    *(f"shapes.{field.name}" for field in fields(ShapeColumns)),
    *(f"leaves.{name}" for name in PLAIN_LEAF_COLUMNS),
    *(f"leaves.endings.{kind}" for kind in range(5)),
    *_summary("leaves.response"),
    *_summary("leaves.self_time"),
    "classes.shape",
    "classes.count",
    *_exemplar("classes.slowest"),
    *_exemplar("classes.sample"),
    "loads.operation",
    "loads.bucket",
    *_histogram("loads.histogram"),
)


class Header(NamedTuple):
    """What comes before the columns. The info has been parsed but not checked."""

    info: dict[str, Any]  # Any: JSON
    operations: tuple[str, ...]
    components: tuple[str, ...]
    columns: tuple[tuple[str, str, int], ...]

    @property
    def body_bytes(self) -> int:
        return sum(_TYPES[type] * length for _, type, length in self.columns)


def encoded(snapshot: Snapshot) -> bytes:
    """The file of a canonical snapshot."""
    table, parts = [], []
    for name, column in _columns_of(snapshot).items():
        type = _smallest_type(column)
        table.append([name, type, len(column)])
        parts.append(column.astype(f"<{type}").tobytes())
    header = {
        "columns": table,
        "components": snapshot.components,
        "info": {field.name: getattr(snapshot.info, field.name) for field in fields(RecordingInfo)},
        "operations": snapshot.operations,
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode("ascii")
    prefix = MAGIC + FORMAT_VERSION.to_bytes(4, "little") + len(text).to_bytes(4, "little")
    content = b"".join([prefix, text, *parts])
    return content + digest(content)


def digest(content: bytes) -> bytes:
    """What ends a file."""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def header_bytes(prefix: bytes) -> int:
    """The length of the header, from the first bytes of a file."""
    if len(prefix) < PREFIX_BYTES or not prefix.startswith(MAGIC):
        raise FormatError(f"expected a .tctx file, which begins with {MAGIC!r}, got {prefix[: len(MAGIC)]!r}")
    version, length = int.from_bytes(prefix[8:12], "little"), int.from_bytes(prefix[12:16], "little")
    if version != FORMAT_VERSION:
        raise FormatError(f"at byte 8: expected version {FORMAT_VERSION}, got {version}, from another version of tracectx")
    if length > MOST_HEADER_BYTES:
        raise FormatError(f"at byte 12: expected a header of at most {MOST_HEADER_BYTES} bytes, got {length}")
    return length


def parsed_header(text: bytes) -> Header:
    """The header of a file, with the table of columns checked."""
    try:
        header = json.loads(text.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the header, at byte {PREFIX_BYTES}: expected JSON in ASCII, got {error}") from None
    if not isinstance(header, dict) or sorted(header) != ["columns", "components", "info", "operations"]:
        raise FormatError("the header: expected an object with columns, components, info and operations")
    operations, components = (_texts(header[name], name) for name in ("operations", "components"))
    if not isinstance(header["info"], dict):
        raise FormatError(f"info in the header: expected an object, got {type(header['info']).__name__}")
    return Header(header["info"], operations, components, _column_table(header["columns"]))


def decoded(header: Header, info: RecordingInfo, body: memoryview) -> Snapshot:
    """The snapshot of a header and the bytes of its columns; what the columns say is not checked."""
    columns: dict[str, Ints | Words] = {}
    offset = 0
    for name, type, length in header.columns:
        values = np.frombuffer(body, f"<{type}", length, offset)
        offset += _TYPES[type] * length
        columns[name] = values.astype(np.uint64) if _is_unsigned(name) else values.astype(np.int64)
    return _snapshot_of(columns, info, header)


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise FormatError(f"{name} in the header: expected a list of texts")
    return tuple(value)


def _column_table(table: object) -> tuple[tuple[str, str, int], ...]:
    if not isinstance(table, list) or len(table) != len(COLUMN_NAMES):
        raise FormatError(f"columns in the header: expected a list of {len(COLUMN_NAMES)}")
    for entry, name in zip(table, COLUMN_NAMES, strict=True):
        if not isinstance(entry, list) or len(entry) != 3 or entry[0] != name:
            raise FormatError(f"columns in the header: expected [{name!r}, type, length], got {str(entry)[:80]}")
        types = (*_SIGNED, "u8") if _is_unsigned(name) else _SIGNED
        if entry[1] not in types or not isinstance(entry[2], int) or isinstance(entry[2], bool) or entry[2] < 0:
            raise FormatError(f"column {name}: expected a type of {', '.join(types)} and a length, got {str(entry[1:])[:80]}")
    return tuple((name, type, length) for name, type, length in table)


def _is_unsigned(name: str) -> bool:
    return name.rsplit("_", 1)[-1] in ("low", "high") and not name.startswith("shapes.")


def _smallest_type(column: Ints | Words) -> str:
    if not len(column):
        return "i1"
    low, high = int(np.min(column)), int(np.max(column))
    for type in _SIGNED:
        bits = 8 * _TYPES[type] - 1
        if -(1 << bits) <= low and high < 1 << bits:
            return type
    return "u8"


def _columns_of(snapshot: Snapshot) -> dict[str, Ints | Words]:
    columns: dict[str, Ints | Words] = {}
    for name in COLUMN_NAMES:
        path, _, word = name.partition(".trace_id_")
        value: Any = snapshot  # Any: the path leads through several types
        for step in path.split("."):
            value = value[int(step)] if step.isdigit() else getattr(value, step)
        if word:
            shift = 64 if word == "high" else 0
            columns[name] = words([int(id or "0", 16) >> shift & MASK_64 for id in value.trace_id])
        else:
            columns[name] = words(value) if _is_unsigned(name) else ints(value)
    return columns


def _snapshot_of(columns: dict[str, Ints | Words], info: RecordingInfo, header: Header) -> Snapshot:
    def column(name: str) -> Column:
        return frozen(columns[name])

    def histogram(prefix: str) -> HistogramColumns:
        return HistogramColumns(*map(column, _histogram(prefix)))

    def summary(prefix: str) -> SummaryColumns:
        low, high, square_low, square_high, minimum, maximum = map(column, _summary(prefix)[:6])
        return SummaryColumns(low, high, square_low, square_high, minimum, maximum, histogram(f"{prefix}.histogram"))

    def exemplar(prefix: str) -> ExemplarColumns:
        started, high, low, starts, times = (columns[name] for name in _exemplar(prefix))
        known = np.diff(starts.astype(np.int64)) > 0
        ids = zip(high.tolist(), low.tolist(), known.tolist(), strict=False)  # lengths have yet to be checked
        trace_ids = tuple(f"{h << 64 | lo:032x}" if is_known else "" for h, lo, is_known in ids)
        return ExemplarColumns(frozen(started), trace_ids, frozen(starts), frozen(times))

    endings = [column(f"leaves.endings.{kind}") for kind in range(5)]
    return Snapshot(
        info=info,
        operations=header.operations,
        components=header.components,
        stacks=StackColumns(*(column(f"stacks.{field.name}") for field in fields(StackColumns))),
        shapes=ShapeColumns(*(column(f"shapes.{field.name}") for field in fields(ShapeColumns))),
        leaves=LeafColumns(
            **{name: column(f"leaves.{name}") for name in PLAIN_LEAF_COLUMNS},
            endings=(endings[0], endings[1], endings[2], endings[3], endings[4]),
            response=summary("leaves.response"),
            self_time=summary("leaves.self_time"),
        ),
        classes=ClassColumns(
            column("classes.shape"), column("classes.count"), exemplar("classes.slowest"), exemplar("classes.sample")
        ),
        loads=LoadColumns(column("loads.operation"), column("loads.bucket"), histogram("loads.histogram")),
    )
