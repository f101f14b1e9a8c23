"""The reduction of standard deviation: by hand on small numbers, and nothing for random contexts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tracectx.stats.histogram_arrays import buckets_of
from tracectx.stats.reduction import Observed, Split, StdReduction, std_reductions
from tracectx.stats.shuffling import Pool, ratios


def pool_of(values: NDArray[np.int64], seed: int = 1, offset: int | None = None) -> Pool:
    buckets, counts = np.unique(buckets_of(values, 6), return_counts=True)
    return Pool(buckets, counts.astype(np.int64), int(np.min(values)), int(np.max(values)), 6, seed, offset)


def observed(groups: Sequence[Sequence[int] | NDArray[np.int64]], seed: int = 1) -> Observed:
    parts = [np.asarray(group, dtype=np.int64) for group in groups]
    values = np.concatenate(parts)
    split = Split(np.array([len(part) for part in parts]), np.array([part.std() for part in parts]))
    return Observed(pool_of(values, seed), float(values.std()), (split,))


def reduction(*operations: Observed, by_operation: bool = False) -> StdReduction:
    return std_reductions(operations, 1, by_operation)[0]


def test_the_papers_measure_by_hand() -> None:
    # 10 10 20 20: sd 5; contexts (10 10), (20 20): sd 0 each. 1 - 0 / (4 * 5) = 1.
    assert reduction(observed([[10, 10], [20, 20]])).raw == 1
    # 0 6 0 6: sd 3; contexts (0 6), (0 6): sd 3 each. 1 - (2 * 3 + 2 * 3) / (4 * 3) = 0.
    assert reduction(observed([[0, 6], [0, 6]])).raw == 0
    # 0 2 10 12: mean 6, sd sqrt((36 + 16 + 16 + 36) / 4) = sqrt(26); contexts (0 2), (10 12): sd 1 each.
    assert reduction(observed([[0, 2], [10, 12]])).raw == pytest.approx(1 - 4 / (4 * 26**0.5))


def test_operations_are_weighted_by_their_standard_deviation_or_alike() -> None:
    wide, narrow = observed([[100, 100], [140, 140]]), observed([[0, 2], [0, 2]])  # N sd: 4 * 20 and 4 * 1
    assert reduction(wide, narrow).raw == pytest.approx(1 - (0 + 4) / (80 + 4))
    assert reduction(wide, narrow, by_operation=True).raw == pytest.approx((1 + 0) / 2)


def test_an_operation_whose_times_are_all_equal_says_nothing() -> None:
    same, varied = observed([[7, 7], [7]]), observed([[0, 2], [10, 12]])
    both, alone = reduction(same, varied), reduction(varied)
    assert (both.raw, both.adjusted, both.operations, both.n, both.contexts) == (alone.raw, alone.adjusted, 1, 7, 4)
    nothing = reduction(same)
    assert (nothing.raw, nothing.null, nothing.adjusted, nothing.error, nothing.z, nothing.p) == (0, 0, 0, 0, 0, 1)


def test_contexts_that_do_not_split_reduce_nothing() -> None:
    one = reduction(observed([[1, 5, 9, 200]]), observed([[3, 4, 8]]))
    assert (one.raw, one.null, one.adjusted, one.error, one.z, one.p) == (0, 0, 0, 0, 0, 1)


def test_single_observations_explain_nothing_at_all() -> None:
    singles = reduction(observed([[value] for value in range(100, 200)]), observed([[value] for value in (5, 8)]))
    assert (singles.raw, singles.null, singles.adjusted, singles.error) == (1, 1, 0, 0)
    assert singles.omega_squared == 0


def test_the_null_of_pairs_is_known_in_closed_form() -> None:
    # Of two values a, b drawn without replacement from 0 (n times) and 2 (n times), half the pairs differ: n / (2n - 1);
    # a pair that differs has sd 1, as the pool has. Expected ratio n / (2n - 1), here 500 / 999.
    values = [0, 2] * 500
    result = reduction(observed([values[place : place + 2] for place in range(0, 1000, 2)]))
    assert result.null == pytest.approx(1 - 500 / 999, abs=0.01)
    assert result.shuffles == 40


def test_omega_squared_by_hand() -> None:
    # Contexts (0 2), (10 12): SST 104, SSW 4, SSB 100; MSW 4 / 2 = 2. (100 - 1 * 2) / (104 + 2).
    assert reduction(observed([[0, 2], [10, 12]])).omega_squared == pytest.approx(98 / 106)


def test_real_contexts_are_found() -> None:
    rng = np.random.default_rng(5)
    result = reduction(observed([rng.normal(mean, 10_000, 1000).astype(np.int64) for mean in (10**6, 2 * 10**6)]))
    assert result.adjusted == pytest.approx(1 - 10_000 / 500_000, abs=0.005)  # sd of two modes 10^6 apart: 500,000
    assert result.z > 100
    assert result.p == 1 / 41


@pytest.mark.parametrize("family", ["normal", "lognormal"])
def test_random_contexts_explain_nothing(family: str) -> None:
    results = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.normal(10**6, 10**5, 20_000) if family == "normal" else 10**6 * rng.lognormal(0, 1, 20_000)
        cuts = np.cumsum(np.exp(rng.uniform(0, np.log(1000), 400)).astype(np.int64))  # sizes of 1 to 1,000
        results.append(reduction(observed(np.split(values.astype(np.int64), cuts[cuts < 20_000]), seed)))
    assert all(result.raw > 0 for result in results)
    assert all(abs(result.z) <= 4 for result in results)
    assert abs(np.mean([result.adjusted for result in results])) <= 0.005


def test_the_same_question_has_the_same_answer() -> None:
    groups = [[1, 5, 3], [8, 2], [9]]
    assert reduction(observed(groups)) == reduction(observed(groups))
    assert reduction(observed(groups, seed=1)).null != reduction(observed(groups, seed=2)).null


def test_levels_share_their_shuffles() -> None:
    values = np.arange(1000, 3000)
    pool = pool_of(values)
    halves = np.array([1000, 1000])
    both = ratios(pool, [halves, halves], 20, len(values))
    assert (both[0] == both[1]).all()


def test_observations_are_spread_within_their_bucket_and_no_further_than_the_extremes() -> None:
    values = np.array([1_000_000] * 50 + [1_000_100] * 50)  # both in one bucket of 8,192 ns
    shares = ratios(pool_of(values), [np.array([2] * 50)], 20, 100)
    assert 0.3 < shares.mean() < 0.95  # of pairs of a uniform: 1 / 3 of the range over range / sqrt(12), 0.577 on average


def test_logarithms_are_taken_of_the_time_and_the_offset() -> None:
    values = np.array([0] * 50 + [1] * 50)  # log(0 + 1) = 0, log(1 + 1) = log 2: two values, as without logarithm
    linear, log = (ratios(pool_of(values, 3, offset), [np.array([2] * 50)], 20, 100) for offset in (None, 1))
    assert log == pytest.approx(linear)


def test_thinned_pools_agree_with_whole_ones() -> None:
    rng = np.random.default_rng(9)
    values = (10**6 * rng.lognormal(0, 0.5, 200_000)).astype(np.int64)
    sizes = np.array([20_000, 40_000, *[10] * 4_000, *[100] * 1_000])
    whole, thinned = (ratios(pool_of(values), [sizes], 20, most).mean() for most in (200_000, 20_000))
    assert thinned == pytest.approx(whole, abs=0.005)


def test_a_thousand_million_observations_are_no_more_work() -> None:
    pool = Pool(np.array([100, 110, 120]), np.array([10**9, 2 * 10**9, 10**9]), 100, 120, 6, 1)
    sizes = np.array([2 * 10**9, 10**9, *[10_000] * 100_000])
    assert ratios(pool, [sizes], 2, 1_000_000) == pytest.approx(1, abs=0.001)
