"""The contexts of a level as a pandas data frame."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings

from tests.tree.literal_snapshots import LEVELS, Leaf, snapshot_of
from tests.tree.recordings import Trace, traces, tree_of_traces
from tracectx.errors import ConfigError
from tracectx.tree.call_tree import call_tree
from tracectx.tree.calling_context_tree import CallingContextTree

pd = pytest.importorskip("pandas")


def test_columns_are_those_of_a_context() -> None:
    leaves = [
        Leaf("a b", (1_000_000_000, 3_000_000_000), self_times=(0, 1), subtree="b", trace="a(b)", position=1),
        Leaf("a b", (5,), keeps="stack", reason="late"),
    ]
    frame = CallingContextTree(snapshot_of(leaves)).to_dataframe()
    assert list(frame.columns[:9]) == [
        "level", "operation", "caller", "stack", "shape", "position", "is_other", "other_reason", "count",
    ]  # fmt: skip
    first, other = frame.to_dict("records")
    assert (first["operation"], first["caller"], first["stack"], first["shape"]) == ("b", "a", ("a", "b"), call_tree("a(b)"))
    assert (first["count"], first["total"], first["mean"], first["std"], first["p50"]) == (2, 4.0, 2.0, 1.0, 1.0)
    assert (first["self_max"], first["returned"], first["outermost_total_ns"]) == (1e-9, 2, 4_000_000_000)
    assert (other["is_other"], other["other_reason"], other["count"]) == (True, "late", 1)


@settings(max_examples=30, deadline=None)
@given(traces())
def test_rows_agree_with_the_contexts_one_by_one(some: list[Trace]) -> None:
    tree = tree_of_traces(some)
    for level in LEVELS:
        frame = tree.to_dataframe(level)
        contexts = tree.contexts(level=level)
        assert len(frame) == len(contexts)
        for row, context in zip(frame.to_dict("records"), contexts, strict=True):
            assert (row["level"], row["operation"], row["count"]) == (level, context.operation, context.count)
            for prefix, model in (("", context.response_time), ("self_", context.self_time)):
                for figure in ("total", "mean", "std", "min", "p50", "p90", "p95", "p99", "max"):
                    assert row[f"{prefix}{figure}"] == getattr(model, figure)


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match=r"to_dataframe needs pandas \(.*\): pip install 'tracectx\[pandas\]'"):
        tree_of_traces([]).to_dataframe()


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(ConfigError, match="level must be one of"):
        tree_of_traces([]).to_dataframe("line")
