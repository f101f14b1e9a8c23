"""Figures as people read them."""

from __future__ import annotations

import math

import pytest

from tracectx.report.units import counted, human_count, human_share, human_time


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (math.nan, "-"),
        (0.0, "0"),
        (3e-10, "0.3 ns"),
        (1e-9, "1.00 ns"),
        (1.5e-8, "15.0 ns"),
        (9.994e-7, "999 ns"),
        (9.996e-7, "1.00 µs"),
        (1.234e-3, "1.23 ms"),
        (0.0999, "99.9 ms"),
        (0.09996, "100 ms"),
        (0.9999, "1.00 s"),
        (9.999, "10.0 s"),
        (75.25, "75.2 s"),
        (123.4, "123 s"),
        (12345.0, "3.43 h"),
    ],
)
def test_a_time_has_three_significant_digits(seconds: float, text: str) -> None:
    assert human_time(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.0001, "<1 %"), (0.00999, "<1 %"), (0.01, "1 %"), (0.126, "13 %"), (1.0, "100 %"), (math.nan, "-")],
)
def test_a_share_is_a_whole_per_cent(share: float, text: str) -> None:
    assert human_share(share) == text


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "trace", "0 traces"),
        (1, "trace", "1 trace"),
        (1_200, "trace", "1,200 traces"),
        (2, "trace class", "2 trace classes"),
    ],
)
def test_one_is_in_the_singular(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (9_999, "9999"), (10_000, "10k"), (25_340, "25.3k"), (999_600, "1M"), (2_500_000_000, "2.5G")]
)
def test_large_counts_have_three_significant_digits(count: int, text: str) -> None:
    assert human_count(count) == text
