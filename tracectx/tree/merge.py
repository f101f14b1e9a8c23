"""`merge`: one tree of several, the same in every order; associative, without limits, exact."""

from __future__ import annotations

from collections.abc import Iterable

from tracectx.errors import ConfigError
from tracectx.tree.calling_context_tree import CallingContextTree, merged_tree


def merge(trees: Iterable[CallingContextTree]) -> CallingContextTree:
    """One tree with the executions of all: of processes, hosts, runs or windows. Equal bytes when saved, in every order.

    Histograms take the lowest precision among them. A recording that is given twice counts twice. `ConfigError` if clock or
    `loops` differ, or there is no tree.
    """
    if isinstance(trees, CallingContextTree):
        raise ConfigError("merge takes several trees, got one: merge([a, b])")
    given = list(trees)
    if not given:
        raise ConfigError("merge takes at least one tree, got none")
    for tree in given:
        if not isinstance(tree, CallingContextTree):
            raise ConfigError(f"merge takes trees, got {tree!r}")
    return merged_tree(given)
