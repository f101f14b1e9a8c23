"""Deterministic 64-bit mixing: the source of every random choice, so that runs repeat and both cores agree.

Numbers only; any thread.
"""

from __future__ import annotations

MASK_64 = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mix64(value: int) -> int:
    """A 64-bit hash of a 64-bit integer, uniform in all bits.

    Source: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    """
    value = (value + _GOLDEN) & MASK_64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK_64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK_64
    return value ^ (value >> 31)


def combine64(seed: int, value: int) -> int:
    """The hash of a sequence that hashes to `seed`, followed by `value`."""
    return mix64(seed ^ mix64(value))


def sample_priority(trace_id: str) -> int:
    """The priority of a trace in the choice of a class's random exemplar; the smallest wins.

    Source: bottom-k sampling with k = 1 (Cohen, Kaplan, PODC 2007): uniform, and the same in every order of merging.
    """
    bits = int(trace_id, 16)
    return combine64(bits >> 64, bits & MASK_64)
