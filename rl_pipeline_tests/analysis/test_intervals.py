"""Intervals against SciPy, against each other, and as properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rl_pipeline.analysis.intervals import (
    bootstrap_difference,
    bootstrap_interval,
    cluster_rate_interval,
    mean_interval,
    widened,
    wilson_interval,
)
from rl_pipeline.analysis.series import REWARD, canonical_steps, values_of
from rl_pipeline_tests.helpers.reference_frames import reference_frames

SAMPLE = [0.31, 0.42, 0.28, 0.55, 0.37, 0.41]
numbers = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=40)


def test_the_t_interval_is_that_of_scipy():
    low, high = stats.t.interval(0.95, len(SAMPLE) - 1, loc=np.mean(SAMPLE), scale=stats.sem(SAMPLE))

    estimate = mean_interval(SAMPLE)

    assert (estimate.lower, estimate.upper) == pytest.approx((low, high))
    assert estimate.standard_error == pytest.approx(stats.sem(SAMPLE))


@pytest.mark.parametrize(("hits", "tries"), [(0, 8), (3, 8), (8, 8), (16178, 36998)])
def test_the_wilson_interval_is_that_of_scipy(hits, tries):
    expected = stats.binomtest(hits, tries).proportion_ci(method="wilson")

    estimate = wilson_interval(hits, tries)

    assert (estimate.lower, estimate.upper) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_scored_trials_of_the_published_run_give_its_interval():
    estimate = wilson_interval(16178, 36998)

    # source: published report, trials by outcome
    assert (estimate.value, estimate.lower, estimate.upper) == pytest.approx((0.4373, 0.4322, 0.4423), abs=5e-5)


def test_a_design_effect_widens_a_rate_by_its_root():
    rate = wilson_interval(16178, 36998)

    wide = widened(rate, 5.8)

    assert rate.lower is not None
    assert rate.upper is not None
    assert wide.lower is not None
    assert wide.upper is not None
    # source: analysis of the published run: about 2.4 × wider
    assert (wide.upper - wide.lower) / (rate.upper - rate.lower) == pytest.approx(2.4, abs=0.02)
    assert widened(rate, None) is rate


def test_the_bootstrap_of_a_mean_agrees_with_scipy():
    values = values_of(canonical_steps(reference_frames()), REWARD)
    expected = stats.bootstrap((values,), np.mean, n_resamples=5000, method="percentile", rng=np.random.default_rng(1))

    estimate = bootstrap_interval(values, resamples=5000)

    low, high = expected.confidence_interval
    assert (estimate.lower, estimate.upper) == pytest.approx((low, high), abs=1e-3)


def test_any_statistic_of_the_last_axis_can_be_bootstrapped():
    estimate = bootstrap_interval(SAMPLE, lambda a: np.median(a, axis=-1), resamples=500)

    assert estimate.value == pytest.approx(0.39)
    assert estimate.contains(0.39)


def test_one_cluster_gives_a_rate_without_interval():
    estimate = cluster_rate_interval([3], [8])

    assert (estimate.value, estimate.lower, estimate.reason) == (0.375, None, "all attempts belong to one cluster")


def test_clusters_that_agree_within_widen_the_interval():
    clustered = cluster_rate_interval([8] * 10 + [0] * 10, [8] * 20)
    independent = wilson_interval(80, 160)

    assert clustered.value == independent.value == 0.5
    assert clustered.lower is not None
    assert independent.lower is not None
    assert clustered.lower < independent.lower


@pytest.mark.parametrize("values", [[], [math.nan], [math.nan, math.nan]])
def test_without_a_finite_value_there_is_no_mean(values):
    assert mean_interval(values).reason == "no finite value"
    assert bootstrap_interval(values).value is None
    assert bootstrap_difference(values, [1.0, 2.0]).value is None


def test_one_value_has_a_mean_and_no_spread():
    estimate = mean_interval([0.4])

    assert (estimate.value, estimate.lower, estimate.spread, estimate.reason) == (0.4, None, None, "n = 1, no spread")


@given(numbers)
def test_an_interval_contains_its_mean_and_ignores_order(values):
    forward, backward = mean_interval(values), mean_interval(values[::-1])

    assert forward.value is not None
    assert forward.lower is not None
    assert forward.upper is not None
    assert forward.lower <= forward.value <= forward.upper
    assert forward.value == pytest.approx(backward.value, rel=1e-9, abs=1e-6)


@given(numbers)
def test_a_bootstrap_does_not_depend_on_the_order_of_the_values(values):
    assert bootstrap_interval(values, resamples=50) == bootstrap_interval(values[::-1], resamples=50)


@given(numbers, st.floats(-100, 100), st.floats(0.1, 10))
def test_an_interval_moves_and_scales_with_the_values(values, shift, factor):
    before, after = mean_interval(values), mean_interval([factor * v + shift for v in values])

    assert before.upper is not None
    assert after.upper == pytest.approx(factor * before.upper + shift, rel=1e-6, abs=1e-3)


@given(st.integers(1, 10_000), st.data())
def test_wilson_stays_between_zero_and_one_and_widens_with_the_level(tries, data):
    hits = data.draw(st.integers(0, tries))
    narrow, wide = wilson_interval(hits, tries, level=0.8), wilson_interval(hits, tries, level=0.99)

    assert narrow.lower is not None
    assert narrow.upper is not None
    assert wide.lower is not None
    assert wide.upper is not None
    assert 0 <= wide.lower <= narrow.lower <= narrow.upper <= wide.upper <= 1


def test_a_95_percent_interval_holds_about_95_percent_of_the_time():
    generator = np.random.default_rng(7)
    draws = generator.normal(1.0, 2.0, size=(1000, 12))

    covered = sum(bool(mean_interval(row).contains(1.0)) for row in draws)

    assert 0.93 <= covered / 1000 <= 0.97
