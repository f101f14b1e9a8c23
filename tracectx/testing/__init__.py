"""A manual clock, trees as literals, and trees folded from literals: for our tests and for users."""

from tracectx.testing.folding import fold
from tracectx.testing.manual_clock import ManualClock
from tracectx.tree.call_tree import call_tree

__all__ = ["ManualClock", "call_tree", "fold"]
