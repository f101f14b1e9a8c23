"""Asking a tree: contexts of five levels, their order, `(other)` contexts, trace classes, errors."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from tests.tree.literal_snapshots import INFO, LEVELS, Kept, Leaf, leaves_of, snapshot_of, trace_id
from tracectx.core.snapshot import Snapshot
from tracectx.errors import ConfigError, UnknownOperation
from tracectx.tree.call_tree import call_tree
from tracectx.tree.calling_context_tree import CallingContextTree
from tracectx.tree.context import Context

FAST, SLOW = "shop.buy(db.get)", "shop.buy(db.get, db.put)"


def shop() -> Snapshot:
    leaves = [*leaves_of(FAST, [(10, 4), (12, 5), (14, 6)]), *leaves_of(SLOW, [(100, 5, 90)])]
    return snapshot_of(leaves, info=replace(INFO, counters={"traces": 4}))


def test_operations_are_there_by_name() -> None:
    tree = CallingContextTree(shop())
    assert list(tree.operations) == ["db.get", "db.put", "shop.buy"]
    buy = tree["shop.buy"]
    assert (buy.level, buy.count, buy.caller, buy.stack, buy.shape, buy.position) == ("operation", 4, None, None, None, None)
    assert (buy.response_time.total_ns, buy.response_time.max_ns) == (136, 100)
    assert buy == tree.operations["shop.buy"]


def test_each_level_refines_the_one_before() -> None:
    tree = CallingContextTree(shop())
    assert [tree.context_count("db.get", level) for level in LEVELS] == [1, 1, 1, 1, 2]
    assert [tree.context_count("shop.buy", level) for level in LEVELS] == [1, 1, 1, 2, 2]
    assert [len(tree.contexts(level=level)) for level in LEVELS] == [3, 3, 3, 4, 5]


def test_a_context_has_the_keys_down_to_its_level() -> None:
    tree = CallingContextTree(shop())
    keys = [
        (context.caller, context.stack, context.shape, context.position)
        for level in LEVELS
        for context in tree.contexts("db.put", level)
    ]
    path = ("shop.buy", "db.put")
    assert keys == [
        (None, None, None, None),
        ("shop.buy", None, None, None),
        ("shop.buy", path, None, None),
        ("shop.buy", path, call_tree("db.put"), 0),
        ("shop.buy", path, call_tree(SLOW), 2),
    ]


def test_a_context_knows_its_parent_and_children() -> None:
    tree = CallingContextTree(shop())
    context: Context | None = tree.contexts("shop.buy", "trace")[0]
    levels = []
    while context is not None:
        assert all(child.parent == context for child in context.children)
        levels.append(context.level)
        context = context.parent
    assert levels == list(reversed(LEVELS))
    assert [child.count for child in tree.contexts("shop.buy", "stack")[0].children] == [3, 1]


def test_contexts_are_sorted_by_name_then_stack_then_count() -> None:
    leaves = [
        Leaf("b z", (1,), subtree="z", trace="b(z)", position=1),
        Leaf("a z", (1, 1), subtree="z", trace="a(z)", position=1),
        Leaf("z", (1,), subtree="z", trace="z"),
        Leaf("a b z", (1, 1, 1), subtree="z", trace="a(b(z))", position=2),
        Leaf("b z", (1, 1), subtree="z", trace="b(z, z)", position=2),
        Leaf("b z", (1, 1), subtree="z", trace="b(z, z)", position=1),
        Leaf("a z", (1,) * 9, subtree="z", keeps="subtree", reason="truncated"),
        Leaf("y", (1,), subtree="y", trace="y"),
    ]
    contexts = CallingContextTree(snapshot_of(leaves)).contexts()
    assert [(context.stack, context.count, context.position, context.is_other) for context in contexts] == [
        (("y",), 1, 0, False),
        (("z",), 1, 0, False),
        (("a", "z"), 2, 1, False),
        (("a", "b", "z"), 3, 2, False),
        (("b", "z"), 2, 1, False),
        (("b", "z"), 2, 2, False),
        (("b", "z"), 1, 1, False),
        (("a", "z"), 9, None, True),
    ]


def test_what_lacks_a_key_is_an_other_context_from_there_on() -> None:
    leaves = [
        Leaf("a z", (1,), keeps="stack", reason="open"),
        Leaf("a z", (1, 2), keeps="stack", reason="limit"),
        Leaf("a z", (4,), subtree="z", trace="a(z)", position=1),
        Leaf("a z", (8,), keeps="caller", reason="limit"),
        Leaf("a z", (16,), keeps="operation", reason="limit"),
    ]
    tree = CallingContextTree(snapshot_of(leaves))
    found = {
        level: [(c.caller, c.stack, c.shape, c.other_reason, c.response_time.total_ns) for c in tree.contexts("z", level)]
        for level in LEVELS
    }
    path, own, whole = ("a", "z"), call_tree("z"), call_tree("a(z)")
    assert found["operation"] == [(None, None, None, None, 32)]
    assert found["caller"] == [("a", None, None, None, 16), (None, None, None, "limit", 16)]
    assert found["stack"] == [("a", path, None, None, 8), ("a", None, None, "limit", 8), (None, None, None, "limit", 16)]
    assert found["subtree"] == [
        ("a", path, own, None, 4),
        ("a", path, None, "limit", 3),
        ("a", path, None, "open", 1),
        ("a", None, None, "limit", 8),
        (None, None, None, "limit", 16),
    ]
    assert [own[3:] for own in found["trace"]] == [own[3:] for own in found["subtree"]]
    assert found["trace"][0] == ("a", path, whole, None, 4)


def test_a_context_counts_endings_and_what_was_waited() -> None:
    leaves = [
        Leaf("a", (5, 6), subtree="a", trace="a", resumptions=3, suspended_ns=4),
        Leaf("a", (7,), subtree="a!", trace="a!", ending="raised"),
        Leaf("a a", (2,), subtree="a", trace="a(a)", position=1),
    ]
    context = CallingContextTree(snapshot_of(leaves))["a"]
    assert context.ended == {"returned": 3, "raised": 1, "cancelled": 0, "closed": 0, "abandoned": 0}
    assert (context.raised, context.resumptions, context.suspended_ns) == (1, 3, 4)
    assert context.outermost_total_ns == 5 + 6 + 7  # not the one below another of its own


def test_a_context_that_was_admitted_late_says_since_when() -> None:
    leaves = [
        Leaf("a", (1,), subtree="a", trace="a", since_ns=3_500_000_000),
        Leaf("a", (1,), subtree="a", keeps="subtree", reason="evicted", since_ns=2_500_000_000),
        Leaf("b", (1,), subtree="b", trace="b"),
    ]
    tree = CallingContextTree(snapshot_of(leaves))
    assert [context.since for context in tree.contexts("a", "trace")] == [3.5, 2.5]
    assert [context.since for context in tree.contexts("a", "subtree")] == [2.5]
    assert [context.since for context in tree.contexts("a", "stack")] == [None]
    assert [context.since for context in tree.contexts("b", "trace")] == [None]


def test_sums_beyond_64_bits_are_exact() -> None:
    century = 3_155_760_000_000_000_000  # ns; its square has 123 bits
    leaves = [Leaf("a", (century, century - 1), subtree="a", trace="a"), Leaf("a", (century,), subtree="a!", trace="a!")]
    model = CallingContextTree(snapshot_of(leaves))["a"].response_time
    assert model.total_ns == 3 * century - 1
    assert model.squares_ns == 2 * century**2 + (century - 1) ** 2
    assert model.std == pytest.approx((2 / 9) ** 0.5 / 1e9)  # deviations 1/3, 1/3 and -2/3 ns


def test_one_time_of_more_than_3_04_seconds_does_not_overflow() -> None:
    model = CallingContextTree(snapshot_of([Leaf("a", (4_000_000_000, 6_000_000_000), subtree="a", trace="a")]))["a"]
    assert model.response_time.std == 1.0


def test_trace_classes_are_the_most_frequent_first() -> None:
    leaves = [*leaves_of(SLOW, [(100, 5, 90)]), *leaves_of(FAST, [(10, 4), (12, 5)])]
    slow = Kept(SLOW, 1, (2_000_000_000, trace_id(1), (100, 5, 90)), (2_000_000_000, trace_id(1), (100, 5, 90)))
    fast = Kept(FAST, 2, (3_000_000_000, trace_id(3), (12, 5)), (1_000_000_000, trace_id(2), (10, 4)))
    tree = CallingContextTree(snapshot_of(leaves, [slow, fast]))
    first, second = tree.trace_classes
    assert (first.shape, first.count, first.response_time.total_ns) == (call_tree(FAST), 2, 22)
    assert first.slowest is not None
    assert (first.slowest.started_at, first.slowest.times_ns, first.slowest.trace_id) == (3.0, (12, 5), trace_id(3))
    assert first.sample is not None
    assert first.sample.times_ns == (10, 4)
    assert (second.shape, second.count) == (call_tree(SLOW), 1)


def test_a_class_whose_root_is_not_kept_has_no_times() -> None:
    kept = Kept("a", 1, (1, trace_id(1), (5,)), (1, trace_id(1), (5,)))
    tree = CallingContextTree(snapshot_of([Leaf("a", (5,), keeps="caller", reason="limit")], [kept]))
    assert [(c.count, c.response_time.count) for c in tree.trace_classes] == [(1, 0)]


def test_a_tree_counts_executions_and_traces() -> None:
    tree = CallingContextTree(shop())
    assert (tree.executions, tree.traces) == (9, 4)
    assert repr(tree) == "<CallingContextTree 9 executions, 3 operations, 4 traces>"


def test_an_empty_tree_answers_too() -> None:
    tree = CallingContextTree(snapshot_of([]))
    assert (tree.executions, tree.traces, dict(tree.operations), tree.trace_classes) == (0, 0, {}, [])
    for level in LEVELS:
        assert tree.contexts(level=level) == []
        assert tree.std_reduction(level).adjusted == 0
    assert tree.since(tree).executions == (tree + tree).executions == 0


def test_the_reduction_of_each_level_by_hand() -> None:
    tree = CallingContextTree(shop())
    # shop.buy: 10 12 14 100; mean 34, sd^2 = (576 + 484 + 400 + 4356) / 4 = 1454. db.get: 4 5 6 5; sd^2 = 2 / 4.
    # By subtree shop.buy falls apart into (10 12 14), sd^2 = 8 / 3, and (100). db.put: one, sd 0, says nothing.
    buy, get = 4 * 1454**0.5, 4 * 0.5**0.5
    assert tree.std_reduction("stack").raw == 0
    assert tree.std_reduction("subtree", "shop.buy").raw == pytest.approx(1 - 3 * (8 / 3) ** 0.5 / buy)
    assert tree.std_reduction("subtree").raw == pytest.approx(1 - (3 * (8 / 3) ** 0.5 + get) / (buy + get))
    # By trace db.get falls apart into (4 5 6), sd^2 = 2 / 3, and (5).
    split = 1 - 3 * (2 / 3) ** 0.5 / get
    assert tree.std_reduction("trace", "db.get").raw == pytest.approx(split)
    mean = (split + 1 - 3 * (8 / 3) ** 0.5 / buy) / 2
    assert tree.std_reduction("trace", average="operations").raw == pytest.approx(mean)


def test_self_times_and_logarithms_can_be_reduced_too() -> None:
    leaves = [
        Leaf("a", (9, 9), self_times=(3, 3), subtree="a", trace="a"),
        Leaf("a", (9, 9), self_times=(7, 7), subtree="a!", trace="a!"),
    ]
    tree = CallingContextTree(snapshot_of(leaves))
    assert tree.std_reduction("trace").raw == 0
    assert tree.std_reduction("trace", time="self").raw == 1
    assert tree.std_reduction("trace", time="self", log=True).raw == 1


def test_all_levels_at_once_are_the_levels_one_by_one() -> None:
    tree = CallingContextTree(shop())
    assert tree.std_reductions() == {level: tree.std_reduction(level) for level in LEVELS}


def test_a_pickled_tree_is_the_same() -> None:
    tree = CallingContextTree(shop())
    again = pickle.loads(pickle.dumps(tree))
    assert [repr(context) for context in again.contexts()] == [repr(context) for context in tree.contexts()]
    context = pickle.loads(pickle.dumps(tree["shop.buy"]))
    assert context.response_time == tree["shop.buy"].response_time


def test_columns_cannot_be_changed() -> None:
    tree = CallingContextTree(shop())
    with pytest.raises(ValueError, match="read-only"):
        tree.snapshot.leaves.count[0] = 7  # type: ignore[index]  # wrong on purpose


def test_an_unknown_operation_names_the_nearest() -> None:
    tree = CallingContextTree(shop())
    with pytest.raises(UnknownOperation) as caught:
        tree["shop.bye"]
    assert str(caught.value) == "no operation 'shop.bye' among 3 recorded; nearest: shop.buy"
    with pytest.raises(UnknownOperation, match=r"no operation 'buy' among 3 recorded; nearest: shop.buy"):
        tree.contexts("buy")
    with pytest.raises(UnknownOperation, match=r"^no operation 'xyzzy' among 3 recorded$"):
        tree.std_reduction("trace", "xyzzy")


def test_wrong_arguments_say_what_was_expected() -> None:
    tree = CallingContextTree(shop())
    with pytest.raises(
        ConfigError, match="level must be one of 'operation', 'caller', 'stack', 'subtree', 'trace', got 'call'"
    ):
        tree.contexts(level="call")
    with pytest.raises(ConfigError, match=r"level must be one of .*, got 3"):
        tree.std_reduction(3)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ConfigError, match="average must be 'pooled' or 'operations', got 'mean'"):
        tree.std_reduction("trace", average="mean")
    with pytest.raises(ConfigError, match="time must be 'response' or 'self', got 'wall'"):
        tree.std_reduction("trace", time="wall")


def test_a_context_says_what_it_is() -> None:
    leaves = [Leaf("a z", (1,), subtree="z", trace="a(z)", position=1), Leaf("a z", (1,), keeps="stack", reason="late")]
    contexts = CallingContextTree(snapshot_of(leaves)).contexts("z")
    assert [repr(context) for context in contexts] == [
        "<Context 'z' level='trace' caller='a' count=1>",
        "<Context 'z' level='trace' other_reason='late' count=1>",
    ]
