"""Call trees: literals, structure, drawing; deep and shared ones."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracectx.errors import ConfigError
from tracectx.tree.call_tree import CallTree, call_tree

DEEP = 10_000

names = st.sampled_from(["A.a", "shop.search[short]", "f.<locals>.g", "GET /items", 'a"b\\c', "x*2", "~", "", "ü", "a-b"])
endings = st.sampled_from(["returned", "raised", "cancelled", "closed", "abandoned"])
repeats = st.sampled_from([(1, 1), (2, 3), (4, 7), (5, 5)])
trees = st.recursive(
    st.builds(CallTree, names, ending=endings, is_async=st.booleans(), repeat=repeats),
    lambda children: st.builds(
        CallTree, names, st.lists(children, max_size=4), ending=endings, is_async=st.booleans(), repeat=repeats
    ),
    max_leaves=20,
)


def test_a_literal_names_operations_and_nests_them() -> None:
    tree = call_tree("A.a(C.c(D.d, E.e), F.f)")
    assert tree.operation == "A.a"
    assert [node.operation for node in tree.walk()] == ["A.a", "C.c", "D.d", "E.e", "F.f"]
    assert [child.operation for child in tree.children] == ["C.c", "F.f"]
    assert len(tree) == 5


def test_a_literal_says_what_is_asynchronous_repeated_and_how_it_ended() -> None:
    raised, task = call_tree("A(B!*2-3(C), ~D^)").children
    assert (raised.operation, raised.ending, raised.repeat, raised.is_async) == ("B", "raised", (2, 3), False)
    assert (task.operation, task.ending, task.repeat, task.is_async) == ("D", "cancelled", (1, 1), True)
    assert [call_tree(f"A{mark}").ending for mark in "#?"] == ["closed", "abandoned"]
    assert call_tree("A(B*5)").children[0].repeat == (5, 5)


def test_names_with_signs_are_json_strings() -> None:
    assert call_tree('"GET /a,(b)*"(B)').operation == "GET /a,(b)*"
    assert call_tree("shop.search[short](f.<locals>.g)").operation == "shop.search[short]"


def test_several_roots_hang_from_a_node_without_operation() -> None:
    tree = call_tree("(A(B), C)")
    assert tree.operation is None
    assert [child.operation for child in tree.children] == ["A", "C"]
    assert tree.literal() == "(A(B), C)"


def test_asynchronous_children_come_last_by_name_and_structure() -> None:
    assert call_tree("A(~D, ~C(E), B, ~C)") == call_tree("A(B, ~C, ~C(E), ~D)")
    assert call_tree("A(~D, B)").literal() == "A(B, ~D)"
    assert call_tree("A(B, C)") != call_tree("A(C, B)")


def test_trees_differ_by_everything_that_is_structure() -> None:
    different = ["A", "B", "A!", "A(B)", "A(B, B)", "A(B*2)", "A(~B)", "A(B!)", "A(B(C))", "A(B, C)", "(A)"]
    assert len({call_tree(literal) for literal in different}) == len(different)
    assert call_tree("A") != "A"


@settings(max_examples=60, deadline=None)
@given(trees)
def test_a_tree_equals_what_is_parsed_from_its_literal(tree: CallTree) -> None:
    again = call_tree(tree.literal())
    assert again == tree
    assert hash(again) == hash(tree)
    assert again.literal() == tree.literal()
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert len(list(tree.walk())) == len(tree)


def test_a_tree_is_drawn() -> None:
    assert str(call_tree("A.a(C.c*2-3(D.d, E.e!), F.f*4, ~G.g)")) == "\n".join(
        [
            "A.a",
            "├─ C.c x 2-3",
            "│  ├─ D.d",
            "│  └─ E.e (raised)",
            "├─ F.f x 4",
            "└─ ~ G.g",
        ]
    )
    assert str(call_tree("(A, B)")) == "(several roots)\n├─ A\n└─ B"
    assert repr(call_tree("A(B)")) == "call_tree('A(B)')"


def test_deep_trees_do_not_meet_the_recursion_limit() -> None:
    literal = "a(" * DEEP + "a" + ")" * DEEP
    tree, same = call_tree(literal), call_tree(literal)
    assert tree == same
    assert hash(tree) == hash(same)
    assert tree.literal() == literal
    assert len(tree) == sum(1 for _ in tree.walk()) == DEEP + 1
    assert pickle.loads(pickle.dumps(tree)) == tree
    lines = str(tree).splitlines()
    assert len(lines) == DEEP + 1
    assert lines[-1].endswith(f"[{DEEP}] a")
    assert max(map(len, lines)) < 150


def test_shared_subtrees_are_compared_once() -> None:
    one, other = CallTree("a"), CallTree("a")
    for _ in range(40):  # 2^40 nodes, 41 objects
        one, other = CallTree("a", (one, one)), CallTree("a", (other, other))
    assert one == other
    assert len(one) == 2**41 - 1


def test_a_tree_cannot_be_changed() -> None:
    tree = call_tree("A(B)")
    with pytest.raises(AttributeError, match="a CallTree cannot be changed: children"):
        tree.children = ()
    with pytest.raises(AttributeError, match="a CallTree cannot be changed: children"):
        del tree.children


def test_a_pickled_tree_is_equal_in_a_process_with_other_hashes() -> None:
    program = (
        "import pickle, sys; from tracectx.tree.call_tree import call_tree;"
        "tree = pickle.loads(sys.stdin.buffer.read()); assert tree == call_tree('A.a(B.b)') and tree in {call_tree('A.a(B.b)')}"
    )
    pickled = pickle.dumps(call_tree("A.a(B.b)"))
    subprocess.run([sys.executable, "-c", program], input=pickled, check=True, env={"PYTHONHASHSEED": "7", "PYTHONPATH": "."})


@pytest.mark.parametrize(
    ("literal", "problem"),
    [
        ("", "expected a name at character 0, got the end"),
        ("A(", "expected a name at character 2, got the end"),
        ("A)", "expected the end at character 1, got ')'"),
        ("A,B", "expected the end at character 1, got ',B'"),
        ("A(B", "expected ',', '(' or ')' at character 3, got the end"),
        ("A(B C)", "expected ',', '(' or ')' at character 4, got 'C)'"),
        ("A()", "expected a name at character 2, got ')'"),
        ("A*0", "expected a repeat *low-high with 1 <= low <= high at character 2, got '0'"),
        ("A*3-2", "expected a repeat *low-high with 1 <= low <= high at character 2, got '3-2'"),
        ("((A))", "expected a name at character 1, got '(A))'"),
        ('"\\x"', "expected a JSON string at character 0, got '\"\\\\x\"'"),
    ],
)
def test_a_literal_that_is_wrong_says_where_and_what_was_expected(literal: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call_tree(literal)
    assert str(caught.value) == f"a call tree like 'A.a(B.b, ~C.c)': {problem}"


def test_nodes_that_cannot_be_say_why() -> None:
    with pytest.raises(ConfigError, match="expected a str, got 7"):
        call_tree(7)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ConfigError, match="ending must be one of returned, raised, cancelled, closed, abandoned, got 'lost'"):
        CallTree("A", ending="lost")
    with pytest.raises(ConfigError, match=r"repeat must be \(low, high\) with 1 <= low <= high, got \(2, 1\)"):
        CallTree("A", repeat=(2, 1))
