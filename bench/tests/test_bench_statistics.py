"""The statistics of the benchmarks."""

import pytest

from evenkeel_bench import statistics as st


def test_geometric_mean_weighs_half_and_double_alike():
    assert st.geometric_mean([0.5, 2]) == pytest.approx(1)
    assert st.geometric_mean([0.1, 0.1, 0.8]) == pytest.approx((0.1 * 0.1 * 0.8) ** (1 / 3))
    assert st.geometric_mean([]) is None


def test_geometric_mean_refuses_values_that_have_none():
    with pytest.raises(ValueError, match="positive"):
        st.geometric_mean([1, 0])


def test_spread_has_the_median_the_lowest_and_the_highest():
    s = st.Spread([5, 1, 9, 2])
    assert (s.median, s.low, s.high) == (3.5, 1, 9)
    assert st.spread([]) is None
    assert st.spread([None, 4]).median == 4


def test_ratios_are_taken_within_a_round():
    # The machine was ten times slower in round 2: for both, so the ratio does not move.
    s = st.ratio_by_round({1: 1.0, 2: 10.0, 3: 1.0}, {1: 2.0, 2: 20.0})
    assert s.values == [0.5, 0.5]
    assert st.ratio_by_round({1: 1.0}, {2: 1.0}) is None


def test_the_best_series_is_chosen_in_each_round():
    assert st.best_by_round([{1: 3, 2: 1}, {1: 2, 2: 5}, {}]) == {1: 2, 2: 1}


def test_the_paired_ratio_is_that_of_medians():
    assert st.paired_ratio([1, 1.1, 9], [1, 1, 1]) == pytest.approx(1.1)
    assert st.paired_ratio([], [1]) is None
    assert st.paired_ratio([1], [0]) is None
