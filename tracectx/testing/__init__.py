"""A manual clock, trees as literals, and trees folded from literals: for our tests and for users."""
