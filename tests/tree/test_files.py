"""`.tctx` files: the same bytes for the same tree, whole or not at all, and nothing from a stranger does harm."""

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tests.tree.literal_snapshots import LEVELS, Kept, Leaf, leaves_of, snapshot_of, trace_id
from tests.tree.recordings import Trace, keys_of_contexts, traces, tree_of_traces
from tracectx.errors import FormatError
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.file_format import COLUMN_NAMES, digest, encoded
from tracectx.tree.files import load, save

SOME = [Trace(1, "a(b, b)", (10, 2, 3)), Trace(2, "b(a(b!), ~a)", (7, 5, 2, 9)), Trace(3, "a(b)", (4, 1), "subtree", "late")]


def file_of(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def sealed(content: bytes) -> bytes:
    """A file with the checksum that its contents have: what a stranger can make too."""
    return content + digest(content)


def parts(content: bytes) -> tuple[dict[str, object], bytes]:
    """Header and columns of a file."""
    (length,) = struct.unpack_from("<I", content, 12)
    return json.loads(content[16 : 16 + length]), content[16 + length : -16]


def joined(header: object, body: bytes) -> bytes:
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode("ascii")
    return sealed(b"\x89TCTX\r\n\x1a" + struct.pack("<II", 1, len(text)) + text + body)


def with_column(content: bytes, name: str, values: list[int]) -> bytes:
    """A file with other values in one column."""
    header, body = parts(content)
    offset = 0
    for entry in header["columns"]:  # type: ignore[attr-defined]  # JSON
        size = int(entry[1][1]) * entry[2]
        if entry[0] == name:
            kind = "u8" if max(values, default=0) >= 1 << 63 else "i8"
            body = body[:offset] + np.array(values, dtype=f"<{kind}").tobytes() + body[offset + size :]
            entry[1:] = [kind, len(values)]
            return joined(header, body)
        offset += size
    raise AssertionError(name)


@settings(max_examples=50, deadline=None)
@given(traces())
def test_a_saved_tree_is_loaded_again_and_saved_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, some: list[Trace]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    tree = tree_of_traces(some)
    save(tree, folder / "one.tctx")
    again = load(folder / "one.tctx")
    again.save(str(folder / "two.tctx"))
    assert (folder / "one.tctx").read_bytes() == (folder / "two.tctx").read_bytes()
    assert again.info == tree.info
    for level in LEVELS:
        assert keys_of_contexts(again, level) == keys_of_contexts(tree, level)
    assert again.trace_classes == tree.trace_classes


def test_a_file_is_as_its_layout_says(tmp_path: Path) -> None:
    tree = tree_of_traces(SOME)
    tree.save(tmp_path / "a.tctx")
    content = (tmp_path / "a.tctx").read_bytes()
    header, body = parts(content)
    assert content[:12] == b"\x89TCTX\r\n\x1a\x01\x00\x00\x00"
    assert sorted(header) == ["columns", "components", "info", "operations"]
    assert header["operations"] == ["a", "b"]
    columns = header["columns"]
    assert [name for name, _, _ in columns] == list(COLUMN_NAMES)  # type: ignore[attr-defined]  # JSON
    assert len(body) == sum(int(kind[1]) * length for _, kind, length in columns)  # type: ignore[attr-defined]  # JSON
    assert content == joined(header, body)


def test_large_sums_and_unusual_names_survive(tmp_path: Path) -> None:
    century = 3_155_760_000_000_000_000
    leaf = Leaf("ü\ud800 a", (century,), subtree="a", keeps="subtree", reason="late", self_times=(0,))
    tree = CallingContextTree(snapshot_of([leaf]))
    tree.save(tmp_path / "a.tctx")
    again = load(tmp_path / "a.tctx")
    assert again["a"].caller is None
    assert again.contexts("a", "stack")[0].stack == ("ü\ud800", "a")
    assert again["a"].response_time.squares_ns == century**2


def test_saving_replaces_a_file_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "a.tctx"
    tree_of_traces(SOME).save(path)
    tree_of_traces(SOME[:1]).save(path)
    assert load(path).traces == 1
    assert os.listdir(tmp_path) == ["a.tctx"]


def test_a_failure_while_saving_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tctx"
    tree_of_traces(SOME[:1]).save(path)

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        tree_of_traces(SOME).save(path)
    assert load(path).traces == 1
    assert os.listdir(tmp_path) == ["a.tctx"]


def test_saving_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "link.tctx").symlink_to(tmp_path / "real.tctx")
    tree_of_traces(SOME).save(tmp_path / "link.tctx")
    assert (tmp_path / "link.tctx").is_symlink()
    assert load(tmp_path / "real.tctx").traces == 3


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.tctx")
    with pytest.raises(FileNotFoundError):
        tree_of_traces(SOME).save(tmp_path / "no" / "folder.tctx")


def test_a_device_is_not_read() -> None:
    with pytest.raises(FormatError, match="/dev/zero: expected a regular file, got a device or pipe"):
        load("/dev/zero")


BROKEN: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("empty", lambda good: b"", "expected a .tctx file, which begins with b'\\x89TCTX\\r\\n\\x1a\\n'"),
    ("text", lambda good: b"hello, world, this is text", "got b'hello, w'"),
    ("version", lambda good: good[:8] + b"\x02" + good[9:], "at byte 8: expected version 1, got 2"),
    ("huge header", lambda good: good[:12] + b"\xff\xff\xff\xff" + good[16:], "at byte 12: expected a header of at most"),
    ("long header", lambda good: good[:12] + b"\xff\xff\x0f\x00" + good[16:], "at byte 12: expected a header within"),
    ("cut", lambda good: good[:-40], "bytes, as the header says, got"),
    ("longer", lambda good: good + b"\0", "bytes, as the header says, got"),
    ("damaged", lambda good: good[:-30] + bytes([good[-30] ^ 1]) + good[-29:], "the file is damaged"),
    ("no JSON", lambda good: good[:16] + b"[" + good[17:], "the header, at byte 16: expected JSON in ASCII, got"),
]


@pytest.mark.parametrize(("kind", "broken", "problem"), BROKEN, ids=[kind for kind, _, _ in BROKEN])
def test_a_broken_file_says_what_was_expected_and_what_came(
    tmp_path: Path, kind: str, broken: Callable[[bytes], bytes], problem: str
) -> None:
    path = file_of(tmp_path / f"{kind}.tctx", broken(encoded(tree_of_traces(SOME).snapshot)))
    with pytest.raises(FormatError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem.replace("\\x1a\\n", "\\x1a") in str(caught.value)


def _set(key: str, value: object) -> Callable[[dict[str, object]], object]:
    def change(header: dict[str, object]) -> object:
        owner: object = header
        *path, last = key.split(".")
        for step in path:
            owner = owner[int(step) if isinstance(owner, list) else step]  # type: ignore[index]  # JSON
        owner[int(last) if isinstance(owner, list) else last] = value  # type: ignore[index]  # JSON
        return header

    return change


HEADERS: list[tuple[Callable[[dict[str, object]], object], str]] = [
    (lambda header: [], "the header: expected an object with columns, components, info and operations"),
    (_set("operations", ["a", 7]), "operations in the header: expected a list of texts"),
    (_set("operations", ["a", "a"]), "operations: expected different names"),
    (_set("components", ["a"]), "components: expected 2, got 1"),
    (_set("info", 5), "info in the header: expected an object, got int"),
    (_set("info.shoe", 5), "info in the header: expected recordings, clock, "),
    (_set("info.clock", 5), "info.clock: expected a text, got 5"),
    (_set("info.loops", "square"), "info.loops: expected 'bucketed' or 'exact', got square"),
    (_set("info.tick_ns", -1), "info.tick_ns: expected a whole number from 0 to 2**63 - 1, got -1"),
    (_set("info.tick_ns", True), "info.tick_ns: expected a whole number"),
    (_set("info.precision_bits", 60), "info.precision_bits: expected 1 to 16, got 60"),
    (_set("info.recordings", ["b", "a"]), "info.recordings: expected a sorted list of different texts"),
    (_set("info.recordings", ["a"]), "info.recordings: expected 16 hexadecimal digits each"),
    (_set("info.counters", {"a": 0.5}), "info.counters: expected an object of whole numbers"),
    (_set("columns", []), f"columns in the header: expected a list of {len(COLUMN_NAMES)}"),
    (_set("columns.0.0", "x"), "columns in the header: expected ['stacks.parent', type, length], got ['x'"),
    (_set("columns.0.1", "f8"), "column stacks.parent: expected a type of i1, i2, i4, i8 and a length, got ['f8'"),
    (_set("columns.0.2", -5), "column stacks.parent: expected a type of i1, i2, i4, i8 and a length, got ['i1', -5]"),
    (_set("columns.0.2", 10**15), "expected columns of 10000000000"),
]


@pytest.mark.parametrize(("change", "problem"), HEADERS, ids=range(len(HEADERS)))
def test_a_header_that_is_wrong_is_told(tmp_path: Path, change: Callable[[dict[str, object]], object], problem: str) -> None:
    header, body = parts(encoded(tree_of_traces(SOME).snapshot))
    with pytest.raises(FormatError) as caught:
        load(file_of(tmp_path / "a.tctx", joined(change(header), body)))
    assert problem in str(caught.value)


def test_deeply_nested_json_is_told(tmp_path: Path) -> None:
    text = b"[" * 1_000_000
    content = sealed(b"\x89TCTX\r\n\x1a" + struct.pack("<II", 1, len(text)) + text)
    with pytest.raises(FormatError, match="expected JSON in ASCII"):
        load(file_of(tmp_path / "a.tctx", content))


TWO = snapshot_of(
    [*leaves_of("a(b)", [(10, 2), (12, 3)])],
    [Kept("a(b)", 2, (5, trace_id(1), (12, 3)), (4, trace_id(2), (10, 2)))],
    {("a", 0): (10, 12), ("b", 0): (2, 3)},
)
# Canonical ids: a 0, b 1; stacks (a) 0, (a b) 1; shapes b 0, a(b) 1; leaves: a, then b.
COLUMNS: list[tuple[str, list[int], str]] = [
    ("stacks.parent", [-1], "stacks.operation: expected 1 rows, got 2"),
    ("stacks.parent", [-1, 1], "stacks.parent, row 1: expected -1 to 0, got 1"),
    ("stacks.operation", [0, 2], "stacks.operation, row 1: expected 0 to 1, got 2"),
    ("shapes.operation", [1, -2], "shapes.operation, row 1: expected -1 to 1, got -2"),
    ("shapes.ending", [5, 0], "shapes.ending, row 0: expected 0 to 4, got 5"),
    ("shapes.edge_start", [0, 0, 2], "shapes.edge_start: expected 0 first and 1 last, got (0, 2)"),
    ("shapes.edge_start", [0, 1, 1], "shapes.edge_child, row 0: expected 0 to -1, got 0"),
    ("shapes.edge_child", [1], "shapes.edge_child, row 0: expected 0 to 0, got 1"),
    ("shapes.edge_async", [2], "shapes.edge_async, row 0: expected 0 to 1, got 2"),
    ("shapes.edge_low", [2], "shapes.edge_low, row 0: expected 1 to 1, got 2"),
    ("leaves.operation", [0, 9], "leaves.operation, row 1: expected 0 to 1, got 9"),
    ("leaves.caller", [-3, 0], "leaves.caller, row 0: expected -2 to 1, got -3"),
    ("leaves.caller", [-2, 0], "leaves.stack, row 0: expected -2 to -2, got 0"),
    ("leaves.caller", [0, 0], "leaves.stack, row 0: expected a path of the caller and the operation, got 0"),
    ("leaves.stack", [0, 0], "leaves.stack, row 1: expected a path of the caller and the operation, got 0"),
    ("leaves.stack", [-1, 1], "leaves.stack, row 0: expected an id, or -2, got -1"),
    ("leaves.subtree", [0, 0], "leaves.subtree, row 0: expected a shape of the operation, got 0"),
    ("leaves.trace", [2, 1], "leaves.trace, row 0: expected -2 to 1, got 2"),
    ("leaves.position", [0, 2], "leaves.position, row 1: expected 0 to 1, got 2"),
    ("leaves.reason", [1, 0], "leaves.reason, row 0: expected 0 to 0, got 1"),
    ("leaves.since_ns", [-1, 0], "leaves.since_ns, row 0: expected 0 to 9223372036854775807, got -1"),
    ("leaves.count", [0, 2], "leaves.count, row 0: expected 1 to 9223372036854775807, got 0"),
    ("leaves.count", [1 << 62, 1 << 62], "leaves.count: expected a total below 2**63, got 9223372036854775808"),
    ("leaves.count", [3, 2], "leaves.count, row 0: expected the sum of the endings, got 3"),
    ("leaves.endings.0", [2, 3], "leaves.endings.0, row 1: expected 0 to 2, got 3"),
    ("leaves.endings.0", [2], "leaves.endings.0: expected 2 rows, got 1"),
    ("leaves.suspended_ns", [-1, 0], "leaves.suspended_ns, row 0: expected 0 to 9223372036854775807, got -1"),
    ("leaves.first_start_ns", [-2, 0], "leaves.first_start_ns, row 0: expected -1 to 9223372036854775807, got -2"),
    ("leaves.response.minimum", [13, 2], "leaves.response.minimum, row 0: expected 0 to 12, got 13"),
    ("leaves.response.minimum", [9, 2], "leaves.response.minimum, row 0: expected a value of the first bucket, got 9"),
    ("leaves.response.maximum", [13, 3], "leaves.response.maximum, row 0: expected a value of the last bucket, got 13"),
    ("leaves.response.sum_low", [25, 5], "leaves.response, row 0: expected sums of 2 times from 10 to 12, got 25, 244"),
    ("leaves.response.square_low", [241, 13], "leaves.response, row 0: expected sums of 2 times from 10 to 12, got 22, 241"),
    ("leaves.response.square_high", [1 << 63, 0], "leaves.response, row 0: expected sums of 2 times from 10 to 12, got 22"),
    ("leaves.self_time.histogram.start", [0, 4, 4], "leaves.self_time.histogram.start, row 1: expected at least one bucket"),
    ("leaves.self_time.histogram.start", [0, 5, 4], "leaves.self_time.histogram.start, row 1: expected ascending numbers"),
    ("leaves.self_time.histogram.bucket", [12, 10, 2, 3], "leaves.self_time.histogram.bucket, row 0: expected ascending"),
    ("leaves.self_time.histogram.bucket", [10, 4000, 2, 3], "histogram.bucket, row 1: expected 0 to 3711, got 4000"),
    ("leaves.self_time.histogram.count", [1, 0, 1, 1], "histogram.count, row 1: expected 1 to 9223372036854775807, got 0"),
    ("leaves.self_time.histogram.count", [1, 2, 1, 1], "leaves.self_time.histogram, row 0: expected the leaf's count in all"),
    ("leaves.self_time.histogram.count", [(1 << 63) - 1, 2, 1, 1], "histogram.count: expected a total below 2**63"),
    ("classes.shape", [2], "classes.shape, row 0: expected 0 to 1, got 2"),
    ("classes.count", [0], "classes.count, row 0: expected 1 to 9223372036854775807, got 0"),
    ("classes.shape", [0], "classes.slowest.time_start, row 0: expected a time for each position of the shape, got 2"),
    ("classes.slowest.time_ns", [-1, 2], "classes.slowest.time_ns, row 0: expected 0 to 9223372036854775807, got -1"),
    ("classes.sample.started_at_ns", [], "classes.sample.started_at_ns: expected 1 rows, got 0"),
    ("classes.sample.trace_id_low", [], "classes.sample.trace_id: expected 1 rows, got 0"),
    ("loads.operation", [0, 2], "loads.operation, row 1: expected 0 to 1, got 2"),
    ("loads.bucket", [0, 64], "loads.bucket, row 1: expected 0 to 63, got 64"),
]


@pytest.mark.parametrize(("name", "values", "problem"), COLUMNS, ids=[f"{name}-{n}" for n, (name, _, _) in enumerate(COLUMNS)])
def test_a_column_that_is_wrong_is_told(tmp_path: Path, name: str, values: list[int], problem: str) -> None:
    content = with_column(encoded(CallingContextTree(TWO).snapshot), name, values)
    with pytest.raises(FormatError) as caught:
        load(file_of(tmp_path / "a.tctx", content))
    assert problem in str(caught.value)


def test_a_small_file_with_a_shape_that_nobody_can_walk_is_refused(tmp_path: Path) -> None:
    snapshot = snapshot_of([Leaf("a", (1,), subtree="a", keeps="subtree", reason="late")])
    rows = 64
    content = encoded(CallingContextTree(snapshot).snapshot)
    for name, values in {
        "shapes.operation": [0] * rows,
        "shapes.ending": [0] * rows,
        "shapes.edge_start": [0, *range(0, 2 * rows, 2)],
        "shapes.edge_child": [shape for shape in range(rows - 1) for _ in range(2)],
        "shapes.edge_async": [0] * (2 * rows - 2),
        "shapes.edge_low": [1] * (2 * rows - 2),
        "shapes.edge_high": [1] * (2 * rows - 2),
    }.items():
        content = with_column(content, name, values)
    with pytest.raises(FormatError, match="shapes, row 23: expected at most 10000000 positions, got 16777215"):
        load(file_of(tmp_path / "a.tctx", content))


def _ask_everything(tree: CallingContextTree) -> None:
    for level in LEVELS:
        for context in tree.contexts(level=level):
            str(context.shape)
            assert context.response_time.std >= 0
            assert context.self_time.quantile(0.9) >= 0
            assert context.children or level == "trace"
        tree.std_reduction(level)
    assert all(kept.count for kept in tree.trace_classes)
    assert (tree + tree).executions == 2 * tree.executions
    assert tree.since(tree).executions == 0


def test_thousands_of_changed_files_are_refused_or_are_trees(tmp_path: Path) -> None:
    rng = random.Random(11)
    good = encoded(CallingContextTree(TWO).snapshot)
    (header_length,) = struct.unpack_from("<I", good, 12)
    body_at = 16 + header_length
    path, refused, read = tmp_path / "a.tctx", 0, 0
    for _ in range(2_000):
        content = bytearray(good[:-16])
        for _ in range(rng.choice((1, 1, 2, 5))):
            place = rng.randrange(body_at if rng.random() < 0.7 else 0, len(content))
            content[place] = rng.choice((rng.randrange(256), content[place] ^ (1 << rng.randrange(8)), 0, 1, 255))
        try:
            tree = load(file_of(path, sealed(bytes(content))))
        except FormatError:
            refused += 1
        else:
            _ask_everything(tree)
            read += 1
    assert refused > 700
    assert read > 100  # else the checks would not be what is tested
