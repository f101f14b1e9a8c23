"""Log-linear buckets: which one holds a value, and which values one holds. Scalars, in integer nanoseconds.

Used by the recording core, which may not import numpy; the twins for arrays are in `histogram_arrays`. Any thread.

With M precision bits, values below 2^(M+1) have a bucket each. A larger value v is in bucket (b << M) + (v >> b), with
b = floor(log2 v) - M: each power of two is cut into 2^M buckets of equal width. The middle of a bucket is at most a share of
2^-(M+1) away from any value in it: 0.78 % for M = 6. Source: HdrHistogram (Tene), with buckets instead of digits.
"""

from __future__ import annotations

MOST_PRECISION_BITS = 16


def bucket_of(value_ns: int, precision_bits: int = 6) -> int:
    """The bucket of a value of 0 or more."""
    b = value_ns.bit_length() - 1 - precision_bits
    return (b << precision_bits) + (value_ns >> b) if b > 0 else value_ns


def bounds(bucket: int, precision_bits: int = 6) -> tuple[int, int]:
    """The smallest value of a bucket, and the smallest above it."""
    b = max(0, (bucket >> precision_bits) - 1)
    low = (bucket - (b << precision_bits)) << b
    return low, low + (1 << b)


def coarsen(bucket: int, precision_bits: int, lower_bits: int) -> int:
    """The bucket of lower precision that holds all of `bucket`."""
    return bucket_of(bounds(bucket, precision_bits)[0], lower_bits)


def last_bucket(precision_bits: int) -> int:
    """The bucket of the largest time, 2^63 - 1 ns."""
    return bucket_of((1 << 63) - 1, precision_bits)


def relative_error(precision_bits: int) -> float:
    """How far, at most, the middle of a bucket is from a value in it, as a share of the value."""
    return 2.0 ** -(precision_bits + 1)
