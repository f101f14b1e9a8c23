"""The report as JSON: schema and figures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.report.trees import MS, helped, loops, orders, text_of
from tracectx.testing import call_tree, fold
from tracectx.tree.calling_context_tree import CallingContextTree

TIMES = {"count", "total_ns", "min_ns", "max_ns", "mean", "std", "p50", "p90", "p95", "p99", "histogram"}
FIGURES = {"count", "ended", "resumptions", "suspended_ns", "outermost_total_ns", "response", "self"}


def document(tree: CallingContextTree) -> dict[str, Any]:  # Any: JSON
    found: dict[str, Any] = json.loads(text_of(tree, format="json"))
    return found


def test_the_document_has_the_keys_of_its_schema() -> None:
    found = document(orders())
    assert list(found) == ["tracectx", "recording", "counters", "operations", "contexts", "trace_classes", "shapes"]
    assert found["tracectx"] == 1
    assert set(found["recording"]) == {
        "ids", "clock", "tick_ns", "loops", "started_at_ns", "taken_at_ns", "cores", "pythons", "attachments", "probe_cost_ns",
        "executions", "traces",
    }  # fmt: skip
    assert set(found["contexts"]) == {"caller", "stack", "subtree", "trace"}
    for operation in found["operations"]:
        assert set(operation) == {"operation", "self_share", "contexts", "reduction"} | FIGURES
        assert set(operation["response"]) == set(operation["self"]) == TIMES
    for contexts in found["contexts"].values():
        for context in contexts:
            assert set(context) == {
                "operation", "caller", "stack", "shape", "position", "is_other", "other_reason", "since",
            } | FIGURES  # fmt: skip


def test_the_figures_are_those_of_the_traces() -> None:
    found = document(orders())
    assert (found["recording"]["executions"], found["recording"]["traces"]) == (90, 40)
    assert (found["recording"]["clock"], found["recording"]["loops"]) == ("custom", "exact")
    assert found["counters"]["folded"] == found["counters"]["recorded"] == 90
    new = next(one for one in found["operations"] if one["operation"] == "web.shop.Order.new")
    assert (new["count"], new["self_share"]) == (40, 60 / 160)
    assert new["response"]["total_ns"] == (30 * 2 + 10 * 10) * MS
    assert (new["response"]["min_ns"], new["response"]["max_ns"]) == (2 * MS, 10 * MS)
    assert (new["response"]["mean"], new["response"]["std"]) == (0.004, (12**0.5) / 1000)
    assert new["self"]["total_ns"] == (30 * 1 + 10 * 3) * MS
    assert new["ended"] == {"returned": 40, "raised": 0, "cancelled": 0, "closed": 0, "abandoned": 0}
    assert new["contexts"] == {"caller": 1, "stack": 1, "subtree": 2, "trace": 2}
    assert new["reduction"]["subtree"]["raw"] == 1
    assert new["reduction"]["subtree"]["adjusted"] == pytest.approx(1)
    assert new["reduction"]["stack"]["raw"] == 0


def test_contexts_carry_their_keys_and_times() -> None:
    by_stack = {tuple(one["stack"]): one for one in document(helped())["contexts"]["stack"] if one["operation"] == "h"}
    assert {stack: one["response"]["mean"] for stack, one in by_stack.items()} == {
        ("a", "h"): 0.002,
        ("b", "h"): 0.008,
        ("c", "b", "h"): 0.004,
    }
    assert by_stack["c", "b", "h"]["caller"] == "b"
    assert by_stack["c", "b", "h"]["shape"] is None


def test_shapes_are_literals_that_can_be_read_again() -> None:
    tree = loops("bucketed")
    found = document(tree)
    shapes = [found["shapes"][one["shape"]] for one in found["contexts"]["subtree"] if one["operation"] == "a"]
    assert set(map(call_tree, shapes)) == {call_tree("a(q*2-3)"), call_tree("a(q)"), call_tree("a!")}


def test_a_shape_is_written_once_however_many_contexts_have_it() -> None:
    found = document(orders())
    assert len(found["shapes"]) == len(set(found["shapes"])) == 4  # two orders, a check, an insert
    traces = [one["shape"] for one in found["contexts"]["trace"]]
    assert sorted(map(traces.count, set(traces))) == [2, 3]  # a context for each position


def test_trace_classes_come_with_their_exemplars() -> None:
    found = document(orders())
    fast, slow = found["trace_classes"]
    assert (fast["count"], slow["count"]) == (30, 10)
    assert slow["response"]["mean"] == 0.01
    assert slow["slowest"]["times_ns"] == [10 * MS, 1 * MS, 6 * MS]
    assert len(slow["sample"]["trace_id"]) == 32


def test_a_histogram_is_in_nanoseconds_and_counts_every_execution() -> None:
    found = document(fold([("a", [100]), ("a", [100]), ("a", [127])]))
    assert found["operations"][0]["response"]["histogram"] == [[100, 101, 2], [127, 128, 1]]  # exact below 128 ns


def test_every_number_is_that_of_the_tree() -> None:
    tree = helped()
    for operation in document(tree)["operations"]:
        model = tree[operation["operation"]].response_time
        assert operation["response"] == {name: getattr(model, name) for name in TIMES - {"histogram"}} | {
            "histogram": [[round(bin.low * 1e9), round(bin.high * 1e9), bin.count] for bin in model.histogram()]
        }


def test_an_empty_recording_is_a_document_too() -> None:
    found = document(fold([]))
    assert (found["operations"], found["recording"]["executions"]) == ([], 0)
    assert found["contexts"] == {"caller": [], "stack": [], "subtree": [], "trace": []}
    assert found["trace_classes"] == found["shapes"] == []


def test_names_outside_ascii_stay_readable() -> None:
    assert '"operation": "büro.größe"' in text_of(fold([("büro.größe", [5])]), format="json")
