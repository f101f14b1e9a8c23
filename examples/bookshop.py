"""The bookshop of the slides (Rohr et al. 2008), on SQLite in memory: why is `newOrder()` sometimes slow?

    python examples/bookshop.py [--requests 400]
"""

from __future__ import annotations

import argparse
import random
import sqlite3

import tracectx


class Catalog:
    """Looks books up."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    @tracectx.probe
    def getBook(self, isbn: int) -> str:
        row = self.database.execute("SELECT title FROM book WHERE isbn = ?", (isbn,)).fetchone()
        return str(row[0])


class OrderBean:
    """Keeps orders."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    @tracectx.probe
    def newOrder(self, customer: int, isbn: int) -> int:
        """An order for a book that the customer has ordered already only counts up; else it is inserted."""
        changed = self.database.execute(
            "UPDATE orders SET copies = copies + 1 WHERE customer = ? AND isbn = ?", (customer, isbn)
        ).rowcount
        return changed or self.insertOrder(customer, isbn)

    @tracectx.probe
    def insertOrder(self, customer: int, isbn: int) -> int:
        self.database.execute("INSERT INTO orders VALUES (?, ?, 1)", (customer, isbn))
        self.database.execute("UPDATE book SET popularity = (SELECT sum(copies) FROM orders WHERE orders.isbn = book.isbn)")
        return 1


class CRM:
    """Knows what customers ordered."""

    def __init__(self, catalog: Catalog, orders: OrderBean) -> None:
        self.catalog = catalog
        self.orders = orders

    @tracectx.probe
    def getOrders(self, customer: int) -> list[str]:
        rows = self.orders.database.execute("SELECT isbn FROM orders WHERE customer = ? LIMIT 5", (customer,)).fetchall()
        return [self.catalog.getBook(isbn) for (isbn,) in rows]


class Bookshop:
    """What customers see."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.catalog = Catalog(database)
        self.orders = OrderBean(database)
        self.crm = CRM(self.catalog, self.orders)

    @tracectx.probe
    def searchBook(self, customer: int, isbn: int) -> list[str]:
        return [self.catalog.getBook(isbn), *self.crm.getOrders(customer)]

    @tracectx.probe
    def buyBook(self, customer: int, isbn: int) -> int:
        return self.orders.newOrder(customer, isbn)


def open_shop(books: int = 200) -> Bookshop:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE book (isbn INTEGER PRIMARY KEY, title TEXT, popularity INTEGER)")
    database.execute("CREATE TABLE orders (customer INTEGER, isbn INTEGER, copies INTEGER, PRIMARY KEY (customer, isbn))")
    database.executemany("INSERT INTO book VALUES (?, ?, 0)", [(isbn, f"Book {isbn}") for isbn in range(books)])
    return Bookshop(database)


def run(requests: int, seed: int = 1) -> None:
    """Customers search and buy; the same seed gives the same requests."""
    shop, choose = open_shop(), random.Random(seed)
    for _ in range(requests):
        customer, isbn = choose.randrange(8), int(choose.paretovariate(0.7)) % 200
        shop.searchBook(customer, isbn)
        if choose.random() < 0.5:
            shop.buyBook(customer, isbn)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=2000)
    run(arguments.parse_args().requests)
    tracectx.report()
