"""Reports of a tree: text and JSON."""
