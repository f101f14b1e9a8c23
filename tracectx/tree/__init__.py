"""The immutable calling-context tree over a snapshot: contexts, merging, differences, files."""
