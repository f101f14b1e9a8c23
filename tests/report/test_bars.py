"""Histograms of one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracectx.report.bars import BLOCKS, axis, bars
from tracectx.testing import fold
from tracectx.tree.timing_model import TimingModel


def model(*times_ns: int) -> TimingModel:
    return fold([("a", [time]) for time in times_ns])["a"].response_time


def test_the_axis_reaches_from_the_smallest_to_the_largest_time_of_all() -> None:
    assert axis([model(1_000, 2_000), model(500), model(3_000)]) == (500e-9, 3_000e-9)


def test_the_axis_of_equal_times_has_an_extent_and_that_of_no_time_begins_at_one_nanosecond() -> None:
    low, high = axis([model(1_000)])
    assert (low, high) == (1e-6, 1e-6 * 1.1)
    assert axis([model(0)]) == (1e-9, 1e-9 * 1.1)


def test_cells_are_of_equal_width_in_the_logarithm() -> None:
    # From 1 to 16 µs the cells are 1-2, 2-4, 4-8 and 8-16; bins are narrower than 1 %.
    assert bars(model(1_500, 3_000, 6_000, 12_000, 12_000), (1e-6, 16e-6), 4) == "▄▄▄█"


def test_the_fullest_cell_is_full_and_a_single_execution_is_seen() -> None:
    times = [1] * 1_000 + [15]
    assert bars(model(*times), (1e-9, 16e-9), 4) == "█  ▁"


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=20), st.integers(1, 40))
def test_a_bar_is_as_wide_as_it_should_be_and_shows_both_ends(times: list[int], width: int) -> None:
    one = model(*times)
    drawn = bars(one, axis([one]), width)
    assert len(drawn) == width
    assert set(drawn) <= set(BLOCKS)
    assert "█" in drawn
