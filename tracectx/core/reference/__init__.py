"""The core in Python: the specification of recording and folding, complete and always there."""
