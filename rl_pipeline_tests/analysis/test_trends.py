"""Trends: the published run's tables, brute force, and short series."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rl_pipeline.analysis.series import REWARD, canonical_steps, settled, steps_of, values_of
from rl_pipeline.analysis.trends import (
    autocorrelations,
    hamed_rao_factor,
    kendall_score,
    kendall_variance,
    mann_kendall,
    pettitt,
    theil_sen,
    trend,
)
from rl_pipeline_tests.helpers.reference_frames import reference_frames

PASS = "reward/avg_pass_at_8"
series = st.lists(st.integers(-5, 5).map(float), min_size=4, max_size=25)


def _part(metric, first=1, last=80, *, warm_up=True):
    rows = canonical_steps(reference_frames())
    rows = rows if warm_up else settled(rows)
    rows = rows[(rows["global_step"] >= first) & (rows["global_step"] <= last)]
    return values_of(rows, metric), steps_of(rows)


# source: analysis of the published run, reward by step: (slope per ten steps, its interval, p, corrected p)
@pytest.mark.parametrize(
    ("metric", "window", "warm_up", "n", "slope", "interval", "p", "corrected"),
    [
        (REWARD, (1, 80), True, 80, 0.0038, (-0.0018, 0.0090), 0.180, 0.069),
        (REWARD, (1, 80), False, 74, 0.0060, (0.0004, 0.0107), 0.033, 0.033),
        (REWARD, (11, 80), False, 68, 0.0092, (0.0038, 0.0155), 0.0014, None),
        (REWARD, (1, 8), True, 8, -0.205, (-0.425, -0.010), 0.035, 0.035),
        (REWARD, (9, 50), True, 42, 0.0067, (-0.0041, 0.0194), 0.190, 0.190),
        (REWARD, (51, 80), True, 30, -0.0098, (-0.0391, 0.0134), 0.464, 0.184),
        (REWARD, (53, 80), True, 28, 0.0030, (-0.0239, 0.0293), 0.843, 0.707),
        # The corrected p of these two is 0.352 and 0.064 when ties are left out of the variance.
        (PASS, (1, 80), True, 80, 0.0027, (-0.0032, 0.0104), 0.350, 0.350),
        (PASS, (1, 80), False, 74, 0.0065, (0.0000, 0.0133), 0.063, 0.063),
    ],
)
def test_the_trends_of_the_published_run_come_out(metric, window, warm_up, n, slope, interval, p, corrected):
    values, steps = _part(metric, *window, warm_up=warm_up)

    found = trend(values, steps)

    assert found.slope.n == n
    assert found.slope.value is not None
    assert found.slope.lower is not None
    assert found.slope.upper is not None
    assert 10 * found.slope.value == pytest.approx(slope, abs=6e-5 if n > 8 else 6e-4)
    assert (10 * found.slope.lower, 10 * found.slope.upper) == pytest.approx(interval, abs=6e-5 if n > 8 else 6e-4)
    assert found.test.p_value == pytest.approx(p, abs=6e-4)
    assert found.test.corrected_p_value == (None if corrected is None else pytest.approx(corrected, abs=6e-4))


def test_the_score_and_tau_of_the_published_run_come_out():
    test = mann_kendall(*_part(REWARD))

    assert test.s == 324  # source: analysis of the published run
    assert test.tau == pytest.approx(0.103, abs=5e-4)


def test_a_correction_that_is_not_positive_leaves_no_corrected_p():
    test = mann_kendall(*_part(REWARD, 11, 80, warm_up=False))

    assert test.corrected_p_value is None
    assert test.reason == "the autocorrelation correction is not positive"


@pytest.mark.parametrize(("warm_up", "p"), [(True, 0.13), (False, 0.050)])
def test_the_level_of_the_published_run_changes_after_step_34_if_at_all(warm_up, p):
    change = pettitt(*_part(REWARD, warm_up=warm_up), restarts=(9, 51))

    assert change.after_step == 34  # source: analysis of the published run
    assert change.p_value == pytest.approx(p, abs=5e-3)
    assert change.restart_step is None


def test_the_residual_spread_of_the_published_run_is_0513():
    assert trend(*_part(REWARD, warm_up=False)).residual_spread == pytest.approx(0.0513, abs=5e-5)


@given(series)
def test_the_score_counts_rising_minus_falling_pairs(values):
    expected = sum(int(np.sign(b - a)) for a, b in itertools.combinations(values, 2))

    assert kendall_score(np.array(values)) == expected


@given(series)
def test_the_variance_is_that_of_kendalls_tau_in_scipy(values):
    _, ties = np.unique(values, return_counts=True)
    n = len(values)
    expected = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18

    assert kendall_variance(np.array(values)) == pytest.approx(expected)


def test_without_ties_the_p_agrees_with_scipys_asymptotic_kendall():
    values = np.random.default_rng(3).normal(size=200) + np.arange(200) * 0.004
    expected = stats.kendalltau(np.arange(200), values, method="asymptotic")

    test = mann_kendall(values)

    assert test.tau == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue, rel=0.02)  # ours has the continuity correction


@given(series)
def test_pettitts_statistic_is_the_largest_split_score(values):
    n = len(values)
    scores = [
        sum(np.sign(values[i] - values[j]) for i in range(split) for j in range(split, n)) for split in range(1, n)
    ]

    assert pettitt(values).k == max(abs(score) for score in scores)


def test_a_level_change_at_a_restart_names_the_restart():
    generator = np.random.default_rng(5)
    values = np.concatenate([generator.normal(0, 0.1, 30), generator.normal(1, 0.1, 30)])

    change = pettitt(values, np.arange(1, 61), restarts=(31,))

    assert (change.after_step, change.restart_step) == (30, 31)
    assert change.p_value is not None
    assert change.p_value < 0.001


def test_autocorrelations_follow_their_definition():
    values = np.array([1.0, 3.0, 2.0, 5.0])
    centred = values - 2.75

    expected = [float(centred[k:] @ centred[: 4 - k]) / float(centred @ centred) for k in range(4)]

    assert autocorrelations(values).tolist() == pytest.approx(expected)


def test_independent_noise_needs_hardly_any_correction():
    factors = [hamed_rao_factor(np.random.default_rng(seed).normal(size=60), np.arange(60.0)) for seed in range(30)]

    assert 0.7 < float(np.median(factors)) < 1.3


def test_positive_autocorrelation_raises_the_corrected_p():
    generator = np.random.default_rng(11)
    noise = generator.normal(size=200)
    values = np.array([sum(0.8**k * noise[t - k] for k in range(min(t, 30) + 1)) for t in range(200)])

    test = mann_kendall(values)

    assert test.correction is not None
    assert test.correction > 2
    assert test.p_value is not None
    assert test.corrected_p_value is not None
    assert test.corrected_p_value > test.p_value


def test_noise_is_called_a_trend_about_one_time_in_twenty():
    generator = np.random.default_rng(8)
    p_values = [mann_kendall(generator.normal(size=40)).p_value for _ in range(600)]

    assert 0.03 < np.mean([p is not None and p < 0.05 for p in p_values]) < 0.075


def test_sens_interval_holds_the_slope_about_19_times_in_20():
    generator = np.random.default_rng(9)
    steps = np.arange(40.0)

    held = [theil_sen(0.02 * steps + generator.normal(0, 0.5, 40), steps).contains(0.02) for _ in range(400)]

    assert 0.92 < np.mean([bool(one) for one in held]) < 0.98


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [math.nan] * 9])
def test_short_series_have_no_trend_but_a_reason(values):
    found = trend(values)

    assert (found.slope.value, found.test.p_value, found.residual_spread) == (None, None, None)
    assert found.slope.reason == found.test.reason == "fewer than 3 values"
    assert pettitt(values).reason == "fewer than 4 values"


def test_equal_values_are_no_trend_and_no_evidence_of_one():
    test = mann_kendall([0.5] * 20)

    assert (test.s, test.p_value, test.reason) == (0, None, "all values are equal")
    assert theil_sen([0.5] * 20).value == 0.0


def test_missing_values_take_their_steps_with_them():
    full, gappy = trend([1.0, 2.0, 4.0, 5.0], [1, 2, 4, 5]), trend([1.0, 2.0, math.nan, 4.0, 5.0], [1, 2, 3, 4, 5])

    assert full == gappy
