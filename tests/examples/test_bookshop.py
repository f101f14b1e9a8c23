"""The slides' shop: the contexts of `newOrder()`, and their times as an injected clock says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tracectx
from examples import bookshop
from tracectx.testing import ManualClock, call_tree

Shop = tuple[tracectx.CallingContextTree, bookshop.Database]
SHOP = "examples.bookshop."
NEW_ORDER = SHOP + "OrderBean.newOrder"


@pytest.fixture(name="shop", scope="module")
def recorded_shop() -> Iterator[Shop]:
    clock = ManualClock()
    with tracectx.recording(clock=clock, loops="exact") as recording:
        db = bookshop.run(200, wait=clock.advance)
    yield recording.snapshot(), db
    db.close()


def rows_in(db: bookshop.Database, table: str) -> int:
    row = db.one(f"SELECT count(*) FROM {table}")
    assert row
    return int(row[0])


@pytest.mark.parametrize(("level", "contexts"), [("operation", 1), ("caller", 1), ("stack", 1), ("subtree", 2), ("trace", 2)])
def test_new_order_is_split_by_what_it_calls_alone(level: str, contexts: int, shop: Shop) -> None:
    tree, _ = shop
    assert len(tree.contexts(NEW_ORDER, level)) == contexts


def test_the_two_contexts_of_new_order_take_what_the_clock_says(shop: Shop) -> None:
    tree, db = shop
    orders, lines = rows_in(db, "orders"), rows_in(db, "line")
    by_shape = {context.shape: context for context in tree.contexts(NEW_ORDER, "subtree")}
    fast = by_shape[call_tree(NEW_ORDER)]
    slow = by_shape[call_tree(f"{NEW_ORDER}({SHOP}OrderBean.insertOrder)")]
    assert (fast.count, slow.count) == (lines - orders, orders)
    # Two statements of 0.1 ms; in the other also insertOrder's statement and its commit of 5 ms.
    assert fast.response_time.min_ns == fast.response_time.max_ns == 200_000
    assert slow.response_time.min_ns == slow.response_time.max_ns == 5_300_000
    assert slow.self_time.mean == fast.response_time.mean == 0.0002
    assert slow.response_time.mean == 0.0053
    assert (fast.response_time.std, slow.response_time.std) == (0, 0)


def test_what_the_contexts_explain_of_new_order_is_everything(shop: Shop) -> None:
    tree, _ = shop
    assert tree[NEW_ORDER].response_time.std > 0.0001
    assert tree.std_reduction("stack", NEW_ORDER).adjusted == 0
    assert tree.std_reduction("subtree", NEW_ORDER).adjusted == 1


def test_get_book_is_explained_by_its_caller(shop: Shop) -> None:
    tree, _ = shop
    means = {context.caller: context.response_time.mean for context in tree.contexts(SHOP + "Catalog.getBook", "caller")}
    assert means == {
        SHOP + "Bookshop.searchBook": 0.0002,
        SHOP + "Bookshop.orderBook": 0.0001,
        SHOP + "CRM.getOffers": 0.0001,
    }
