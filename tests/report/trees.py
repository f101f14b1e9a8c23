"""Literal traces whose figures are easy to do by hand."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

from tracectx.report.write import report
from tracectx.testing import fold
from tracectx.tree.calling_context_tree import CallingContextTree

MS = 1_000_000


def orders() -> CallingContextTree:
    """30 orders of 2 ms, and 10 of 10 ms in which a row is inserted (6 ms); each is checked (1 ms)."""
    fast = ("web.shop.Order.new(web.shop.Order.check)", [2 * MS, 1 * MS])
    slow = ("web.shop.Order.new(web.shop.Order.check, web.db.insert)", [10 * MS, 1 * MS, 6 * MS])
    return fold([fast] * 30 + [slow] * 10)


def helped() -> CallingContextTree:
    """`h` takes 2 ms called from a, 8 ms from b, and 4 ms from b when c calls b: 20 times each."""
    from_a = ("a(h)", [5 * MS, 2 * MS])
    from_b = ("b(h)", [9 * MS, 8 * MS])
    from_c = ("c(b(h))", [4 * MS, 4 * MS, 4 * MS])
    return fold([from_a] * 20 + [from_b] * 20 + [from_c] * 20)


def loops(kind: str) -> CallingContextTree:
    """`a` calls q two and three times (4 and 5 ms), once (2 ms), and not at all but raises (1 ms): 20 times each."""
    several = [("a(q, q)", [4 * MS, MS, MS]), ("a(q, q, q)", [5 * MS, MS, MS, MS])]
    return fold([*several * 20, *[("a(q)", [2 * MS, MS])] * 20, *[("a!", [MS])] * 20], loops=kind)


def with_info(tree: CallingContextTree, **changes: Any) -> CallingContextTree:  # Any: fields of RecordingInfo
    """The same tree, of a recording that fared otherwise."""
    return CallingContextTree(replace(tree.snapshot, info=replace(tree.info, **changes)))


def text_of(tree: CallingContextTree, **options: Any) -> str:  # Any: the renderer checks them
    file = io.StringIO()
    report(tree, file=file, **options)
    return file.getvalue()


def without_chance(text: str) -> str:
    """What random contexts would explain depends on draws: it is not done by hand."""
    return re.sub(r"a random split:\s(<1|\d+) %", "a random split: N %", text)
