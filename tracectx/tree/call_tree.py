"""`CallTree`: the structure of a dynamic call tree, without its times. Immutable; any thread.

Trees may be 10,000 levels deep, and share equal subtrees; nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cmp_to_key

from tracectx.core.snapshot import ENDINGS
from tracectx.errors import ConfigError
from tracectx.tree.call_tree_literal import Head, heads, written

_DEEPEST_DRAWN = 40


class CallTree:
    """An execution (or a run of equal ones) and what it caused, without times. Equal and hashable by structure.

    `children` are those that ran synchronously, in call order, then the asynchronous ones by (name, structure); they are
    brought into this order. `repeat` is (1, 1), or (low, high) for a run of that many equal siblings. `operation` is None
    above several roots. `len()` counts nodes, a run as one: the positions of the preorder.
    """

    __slots__ = ("_hash", "_head", "_size", "children")

    children: tuple[CallTree, ...]
    _head: Head
    _size: int
    _hash: int

    def __init__(
        self,
        operation: str | None,
        children: Iterable[CallTree] = (),
        *,
        ending: str = "returned",
        is_async: bool = False,
        repeat: tuple[int, int] = (1, 1),
    ) -> None:
        if ending not in ENDINGS:
            raise ConfigError(f"ending must be one of {', '.join(ENDINGS)}, got {ending!r}")
        if not 1 <= repeat[0] <= repeat[1]:
            raise ConfigError(f"repeat must be (low, high) with 1 <= low <= high, got {repeat!r}")
        head = Head(operation, ending, is_async, repeat)
        children = _in_order(tuple(children))
        set_once = super().__setattr__
        set_once("_head", head)
        set_once("children", children)
        set_once("_size", 1 + sum(map(len, children)))
        set_once("_hash", hash((head, tuple(map(hash, children)))))

    @property
    def operation(self) -> str | None:
        return self._head.operation

    @property
    def ending(self) -> str:
        """One of "returned", "raised", "cancelled", "closed" and "abandoned"."""
        return self._head.ending

    @property
    def is_async(self) -> bool:
        return self._head.is_async

    @property
    def repeat(self) -> tuple[int, int]:
        return self._head.repeat

    def walk(self) -> Iterator[CallTree]:
        """Every node in preorder: the n-th (from 0) is at position n."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def literal(self) -> str:
        """The text from which `call_tree` makes an equal tree."""
        parts: list[str] = []
        pending: list[CallTree | str] = [self]
        while pending:
            node = pending.pop()
            if isinstance(node, str):
                parts.append(node)
                continue
            parts.append(written(node._head))
            if node.children:
                pending.append(")")
                for index in range(len(node.children) - 1, -1, -1):
                    pending += [node.children[index], ", " if index else "("]
        return "".join(parts)

    def __len__(self) -> int:
        return self._size

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallTree):
            return NotImplemented
        pending = [(self, other)]
        seen: set[tuple[int, int]] = set()  # shared subtrees are compared once, however often they occur
        while pending:
            a, b = pending.pop()
            if a is b or (id(a), id(b)) in seen:
                continue
            if a._hash != b._hash or a._head != b._head or len(a.children) != len(b.children):
                return False
            seen.add((id(a), id(b)))
            pending.extend(zip(a.children, b.children, strict=True))
        return True

    def __str__(self) -> str:
        """The tree drawn, one line a node; `~` before asynchronous ones, `x 2-3` after a run, endings in brackets."""
        return "\n".join(_lines(self))

    def __repr__(self) -> str:
        return f"call_tree({self.literal()!r})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a CallTree cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a CallTree cannot be changed: {name}")

    def __reduce__(self) -> tuple[object, tuple[str]]:
        # Hashes of strings differ between processes, and pickle would recurse into the children.
        return call_tree, (self.literal(),)


def call_tree(literal: str) -> CallTree:
    """The tree of a literal such as `A.a(C.c(D.d, E.e), ~F.f!)`; the syntax is in `tracectx.tree.call_tree_literal`."""
    if not isinstance(literal, str):
        raise ConfigError(f"a call tree like 'A.a(B.b, ~C.c)': expected a str, got {literal!r}")
    open_heads: list[Head] = []
    found: list[list[CallTree]] = [[]]  # children found so far: of the forest, then of each open head
    for depth, head in heads(literal):
        _close(open_heads, found, depth)
        open_heads.append(head)
        found.append([])
    _close(open_heads, found, 0)
    return found[0][0]


def _close(open_heads: list[Head], found: list[list[CallTree]], depth: int) -> None:
    """Makes trees of the heads at `depth` and below."""
    while len(open_heads) > depth:
        operation, ending, is_async, repeat = open_heads.pop()
        children = found.pop()
        found[-1].append(CallTree(operation, children, ending=ending, is_async=is_async, repeat=repeat))


def _in_order(children: tuple[CallTree, ...]) -> tuple[CallTree, ...]:
    tasks = [child for child in children if child.is_async]
    if not tasks or (len(tasks) == 1 and children[-1].is_async):
        return children
    return (*(child for child in children if not child.is_async), *sorted(tasks, key=cmp_to_key(_compare)))


def _compare(a: CallTree, b: CallTree) -> int:
    """By preorder of (name, ending, children, asynchronous, repeat), as a recording orders asynchronous children."""
    if a == b:
        return 0
    for left, right in zip(a.walk(), b.walk(), strict=False):  # the first difference comes before either ends
        x, y = _label(left), _label(right)
        if x != y:
            return -1 if x < y else 1
    return 0


def _label(node: CallTree) -> tuple[str, int, int, bool, tuple[int, int]]:
    return node.operation or "", ENDINGS.index(node.ending), len(node.children), node.is_async, node.repeat


def _lines(root: CallTree) -> Iterator[str]:
    pending = [(root, 0, "", "")]
    while pending:
        node, depth, lead, below = pending.pop()
        yield f"{lead}{_drawn(node)}"
        if depth >= _DEEPEST_DRAWN:  # drawn further to the right, 10,000 levels would fill 150 MB with lines
            fixed = below[: 3 * _DEEPEST_DRAWN]
            pending.extend((child, depth + 1, f"{fixed}[{depth + 1}] ", fixed) for child in reversed(node.children))
            continue
        last = len(node.children) - 1
        for index in range(last, -1, -1):
            lead, under = ("└─ ", "   ") if index == last else ("├─ ", "│  ")
            pending.append((node.children[index], depth + 1, below + lead, below + under))


def _drawn(node: CallTree) -> str:
    low, high = node.repeat
    repeat = "" if high == 1 else f" x {low}" if low == high else f" x {low}-{high}"
    ending = "" if node.ending == "returned" else f" ({node.ending})"
    name = node.operation if node.operation is not None else "(several roots)"
    return f"{'~ ' if node.is_async else ''}{name}{repeat}{ending}"
