"""Short names of operations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracectx.report.names import shortener

PARTS = st.sampled_from(("a", "b", "c", "<locals>", "x[y.z]"))


def test_a_name_keeps_its_last_two_parts() -> None:
    assert shortener(["shop.web.Order.new", "shop.db.insert"])("shop.web.Order.new") == "Order.new"


def test_names_that_end_alike_keep_what_tells_them_apart() -> None:
    short = shortener(["shop.web.Order.new", "shop.mail.Order.new", "shop.db.insert"])
    assert [short(name) for name in ("shop.web.Order.new", "shop.mail.Order.new", "shop.db.insert")] == [
        "web.Order.new",
        "mail.Order.new",
        "db.insert",
    ]


def test_names_that_differ_far_from_their_end_are_kept_whole() -> None:
    names = ["x.a.b.c.d.e", "y.a.b.c.d.e"]
    assert list(map(shortener(names), names)) == names


def test_dots_in_a_label_are_not_parts() -> None:
    assert shortener(["shop.db.search[a.b.c]"])("shop.db.search[a.b.c]") == "db.search[a.b.c]"


def test_a_local_function_is_named_without_the_mark_unless_that_is_ambiguous() -> None:
    assert shortener(["m.f.<locals>.g"])("m.f.<locals>.g") == "f.g"
    assert shortener(["m.f.<locals>.g", "m.f.g"])("m.f.<locals>.g") == "m.f.<locals>.g"


def test_a_name_that_was_not_among_them_stays_as_it_is() -> None:
    assert shortener(["a.b.c"])("x.y.z") == "x.y.z"


@given(st.lists(st.lists(PARTS, min_size=1, max_size=8).map(".".join), unique=True))
def test_short_names_are_never_ambiguous(names: list[str]) -> None:
    assert len(set(map(shortener(names), names))) == len(names)
