"""Ranks, slopes and tests are those of SciPy, whatever the values, their ties and their number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rl_pipeline.analysis.rank_statistics import (
    FloatArray,
    mann_whitney,
    midranks,
    sen_slope,
    signed_rank,
    spearman,
    welch,
)

# SciPy says where it gives NaN or loses digits.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
WITH_TIES = st.integers(-4, 4).map(float)
ANY = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda value: round(value, 6))


def values(smallest: int, largest: int = 30) -> st.SearchStrategy[FloatArray]:
    return st.integers(smallest, largest).flatmap(
        lambda n: st.one_of(arrays(np.float64, n, elements=WITH_TIES), arrays(np.float64, n, elements=ANY, unique=True))
    )


def pairs(smallest: int) -> st.SearchStrategy[tuple[FloatArray, FloatArray]]:
    return st.integers(smallest, 25).flatmap(
        lambda n: st.tuples(arrays(np.float64, n, elements=WITH_TIES), arrays(np.float64, n, elements=ANY))
    )


@given(values(1))
def test_ranks_are_means_of_equal_values(some: FloatArray):
    assert midranks(some).tolist() == stats.rankdata(some).tolist()


@given(pairs(3), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_slope_and_its_interval_are_those_of_scipy(both: tuple[FloatArray, FloatArray], level: float):
    x, y = both
    assume(np.ptp(x) > 0)
    slope, _, low, high = stats.theilslopes(y, x, alpha=level)

    assert sen_slope(y, x, level) == pytest.approx((slope, low, high), rel=1e-12, abs=1e-12, nan_ok=True)


def test_one_x_has_no_slope():
    assert all(map(math.isnan, sen_slope(np.array([1.0, 2.0]), np.array([3.0, 3.0]))))


@settings(deadline=None)
@given(values(1, 14), values(1, 14))
def test_mann_whitney_is_that_of_scipy(a: FloatArray, b: FloatArray):
    assume(np.ptp(np.concatenate([a, b])) > 0)

    assert mann_whitney(a, b) == pytest.approx(float(stats.mannwhitneyu(a, b).pvalue), rel=1e-12, abs=1e-300)


def test_orders_of_small_samples_are_counted():
    # 2 of the C(5, 2) = 10 orders are as extreme as this one.
    assert mann_whitney(np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])) == pytest.approx(0.2, rel=1e-15)


def test_equal_values_have_no_p_value():
    assert math.isnan(mann_whitney(np.ones(9), np.ones(10)))


@given(values(2), values(2))
def test_welch_is_that_of_scipy(a: FloatArray, b: FloatArray):
    assume(max(a.std(), b.std()) > 1e-3)

    expected = float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert welch(a, b) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(pairs(3))
def test_spearman_is_that_of_scipy(both: tuple[FloatArray, FloatArray]):
    x, y = both
    assume(np.ptp(x) > 0)
    assume(np.ptp(y) > 0)
    found = stats.spearmanr(x, y)

    # Near ±1 the last digit of ρ decides the p-value.
    assert spearman(x, y) == pytest.approx((float(found.statistic), float(found.pvalue)), rel=1e-9, abs=1e-6)


def test_signed_ranks_are_those_of_scipy():
    # All six differences have one sign: 2 of the 2^6 ways of signs are as extreme.
    assert signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) == pytest.approx(2 / 64, rel=1e-15)


@given(st.lists(st.integers(-40, 40).filter(bool), min_size=6, max_size=80))
def test_signed_ranks_with_ties_are_those_of_scipy_to_the_last_digit(values: list[int]):
    differences = np.array(values) / 8

    assert signed_rank(differences) == stats.wilcoxon(differences).pvalue


@given(st.integers(14, 120), st.integers(0, 2**32 - 1))
def test_signed_ranks_without_ties_are_those_of_scipy_to_the_last_digit(size: int, seed: int):
    differences = np.random.default_rng(seed).normal(0.1, 1, size)

    assert signed_rank(differences) == stats.wilcoxon(differences).pvalue


def test_the_slope_of_more_points_than_fit_at_once_is_that_of_scipy():
    generator = np.random.default_rng(3)
    x = generator.integers(0, 90, 300).astype(np.float64)
    y = 0.3 * x + generator.normal(0, 5, x.size)

    expected = stats.theilslopes(y, x)

    assert sen_slope(y, x) == pytest.approx((expected.slope, expected.low_slope, expected.high_slope), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e-150])
def test_welch_does_not_depend_on_the_unit(scale: float):
    a, b = np.array([1.0, 2.0, 4.0, 4.5]), np.array([2.5, 5.0, 6.0, 7.5, 9.0])

    assert welch(a * scale, b * scale) == pytest.approx(float(stats.ttest_ind(a, b, equal_var=False).pvalue), rel=1e-9)


def test_values_whose_squares_vanish_are_not_told_apart():
    assert math.isnan(welch(np.array([0.0, 1e-200]), np.array([0.0, 3e-200, 0.0])))
