"""The bookshop of Rohr et al. (SIPEW 2008): why is `OrderBean.newOrder()` sometimes slow?

python examples/bookshop.py --requests 1000
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

import tracectx

ROUND_TRIP, COMMIT = 0.000_1, 0.005  # seconds
BOOKS = 200
SCHEMA = """
    CREATE TABLE book (id INTEGER PRIMARY KEY, title, price);
    CREATE TABLE review (book PRIMARY KEY, stars);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer UNIQUE);
    CREATE TABLE line (orders, book);
"""


class Database:
    """SQLite in memory, and as far away as a server: a statement waits for the network, a commit for the disk."""

    def __init__(self, wait: Callable[[float], None]) -> None:
        self._wait = wait
        self._connection = sqlite3.connect(":memory:")
        self._connection.executescript(SCHEMA)
        self._connection.executemany("INSERT INTO book VALUES (?, 'Book ' || ?, 10)", [(n, n) for n in range(BOOKS)])
        self._connection.executemany("INSERT INTO review VALUES (?, 4)", [(n,) for n in range(BOOKS)])

    def one(self, statement: str, *values: object) -> tuple[int | str, ...] | None:
        self._wait(ROUND_TRIP)
        row: tuple[int | str, ...] | None = self._connection.execute(statement, values).fetchone()
        return row

    def commit(self) -> None:
        self._wait(COMMIT)
        self._connection.commit()

    def close(self) -> None:
        self._connection.close()


@dataclass
class Catalog:
    db: Database

    @tracectx.probe
    def getBook(self, book: int, complete: bool) -> None:
        self.db.one("SELECT title, price FROM book WHERE id = ?", book)
        if complete:
            self.db.one("SELECT stars FROM review WHERE book = ?", book)


@dataclass
class CRM:
    catalog: Catalog

    @tracectx.probe
    def getOffers(self, book: int) -> None:
        self.catalog.getBook((book + 1) % BOOKS, complete=False)


@dataclass
class OrderBean:
    db: Database

    @tracectx.probe
    def newOrder(self, customer: int, book: int) -> None:
        found = self.db.one("SELECT id FROM orders WHERE customer = ?", customer)
        order = found[0] if found else self.insertOrder(customer)
        self.db.one("INSERT INTO line VALUES (?, ?)", order, book)

    @tracectx.probe
    def insertOrder(self, customer: int) -> int | str:
        inserted = self.db.one("INSERT INTO orders (customer) VALUES (?) RETURNING id", customer)
        self.db.commit()
        assert inserted
        return inserted[0]


@dataclass
class Bookshop:
    catalog: Catalog
    crm: CRM
    orders: OrderBean

    @tracectx.probe
    def searchBook(self, book: int) -> None:
        self.catalog.getBook(book, complete=True)
        self.crm.getOffers(book)

    @tracectx.probe
    def orderBook(self, customer: int, book: int) -> None:
        self.catalog.getBook(book, complete=False)
        self.orders.newOrder(customer, book)


def run(requests: int, seed: int = 1, wait: Callable[[float], None] = time.sleep) -> Database:
    """Sends seeded requests, six searches to four orders; gives the database as they left it."""
    db, rng = Database(wait), random.Random(seed)
    catalog = Catalog(db)
    shop = Bookshop(catalog, CRM(catalog), OrderBean(db))
    for _ in range(requests):
        customer, book = rng.randrange(requests // 8 + 1), rng.randrange(BOOKS)
        if rng.random() < 0.6:
            shop.searchBook(book)
        else:
            shop.orderBook(customer, book)
    return db


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000)
    run(parser.parse_args().requests).close()
    tracectx.report()
