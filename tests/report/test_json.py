"""The report as JSON: schema and figures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.report.trees import MS, helped, loops, orders, text_of
from tracectx.testing import call_tree, fold
from tracectx.tree.calling_context_tree import CallingContextTree

TIMES = {"count", "total_ns", "min_ns", "max_ns", "mean", "std", "p50", "p90", "p95", "p99"}


def document(tree: CallingContextTree) -> dict[str, Any]:  # Any: JSON
    found: dict[str, Any] = json.loads(text_of(tree, format="json"))
    return found


def test_the_document_has_the_keys_of_its_schema() -> None:
    found = document(orders())
    assert list(found) == ["tracectx", "recording", "counters", "operations", "contexts"]
    assert found["tracectx"] == 1
    assert set(found["recording"]) == {
        "ids", "clock", "tick_ns", "loops", "started_at_ns", "taken_at_ns", "cores", "pythons", "attachments", "probe_cost_ns",
        "executions", "traces",
    }  # fmt: skip
    assert set(found["contexts"]) == {"caller", "stack", "subtree", "trace"}
    for operation in found["operations"]:
        assert set(operation) == {"operation", "count", "self_share", "response", "self", "ended", "contexts", "reduction"}
        assert set(operation["response"]) == set(operation["self"]) == TIMES
    for contexts in found["contexts"].values():
        for context in contexts:
            assert set(context) == {
                "operation", "caller", "stack", "shape", "position", "count", "is_other", "other_reason", "response", "self",
            }  # fmt: skip


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
    found = {one["shape"] for one in document(tree)["contexts"]["subtree"] if one["operation"] == "a"}
    assert {call_tree(shape) for shape in found} == {call_tree("a(q*2-3)"), call_tree("a(q)"), call_tree("a!")}


def test_every_number_is_that_of_the_tree() -> None:
    tree = helped()
    for operation in document(tree)["operations"]:
        model = tree[operation["operation"]].response_time
        assert operation["response"] == {name: getattr(model, name) for name in operation["response"]}


def test_an_empty_recording_is_a_document_too() -> None:
    found = document(fold([]))
    assert (found["operations"], found["recording"]["executions"]) == ([], 0)
    assert found["contexts"] == {"caller": [], "stack": [], "subtree": [], "trace": []}


def test_names_outside_ascii_stay_readable() -> None:
    assert '"operation": "büro.größe"' in text_of(fold([("büro.größe", [5])]), format="json")
