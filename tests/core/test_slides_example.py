"""The example of the slides (Rohr et al. 2008): two traces, with the numbers of contexts that they must have."""

from __future__ import annotations

from tracectx.testing import fold

FIRST = "A.a(C.c(D.d, E.e), F.f(C.c(D.d), E.e))"
SECOND = "B.b(A.a(F.f(C.c(D.d), E.e)), B.b(B.b(C.c(D.d(E.e)))))"


def test_the_two_traces_have_the_contexts_of_the_slides() -> None:
    tree = fold([FIRST, SECOND])
    assert len(tree.contexts("E.e", level="caller")) == 3
    assert len(tree.contexts("E.e", level="stack")) == 4
    assert len(tree.contexts("A.a", level="trace")) == 2
    assert len(tree.contexts(level="trace")) == 19
    assert (tree.traces, tree.executions, len(tree.trace_classes)) == (2, 19, 2)
    assert sorted(tree.operations) == ["A.a", "B.b", "C.c", "D.d", "E.e", "F.f"]


def test_the_callers_and_stacks_of_an_operation_are_named() -> None:
    tree = fold([FIRST, SECOND])
    assert {context.caller for context in tree.contexts("E.e", level="caller")} == {"C.c", "F.f", "D.d"}
    assert {context.stack for context in tree.contexts("E.e", level="stack")} == {
        ("A.a", "C.c", "E.e"),
        ("A.a", "F.f", "E.e"),
        ("B.b", "A.a", "F.f", "E.e"),
        ("B.b", "B.b", "B.b", "C.c", "D.d", "E.e"),
    }


def test_times_of_a_literal_trace_are_those_given() -> None:
    tree = fold([("A.a(C.c(D.d, E.e), F.f)", [100, 60, 10, 20, 30])])
    assert tree["A.a"].response_time.total_ns == 100
    assert tree["A.a"].self_time.total_ns == 10
    assert tree["C.c"].self_time.total_ns == 30
    assert sum(operation.self_time.total_ns for operation in tree.operations.values()) == 100
