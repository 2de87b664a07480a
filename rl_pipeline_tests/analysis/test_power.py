"""Smallest detectable gains: the published run's, and a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rl_pipeline.analysis.power import detectable_gain


def test_the_published_run_could_show_a_gain_of_056_over_its_80_steps():
    gain = detectable_gain(0.0513, np.arange(1.0, 81.0))

    # source: analysis of the published run, residual SD .0513, 80 % power
    assert gain.over_run == pytest.approx(0.056, abs=5e-4)
    assert gain.between_windows == {10: pytest.approx(0.064, abs=5e-4), 20: pytest.approx(0.045, abs=5e-4)}


def test_a_gain_of_that_size_is_found_about_four_times_in_five():
    steps = np.arange(1.0, 81.0)
    gain = detectable_gain(0.05, steps).over_run
    assert gain is not None
    generator = np.random.default_rng(4)

    found = [
        stats.linregress(steps, gain / 80 * steps + generator.normal(0, 0.05, 80)).pvalue < 0.05 for _ in range(1000)
    ]

    assert 0.76 < np.mean(found) < 0.84


def test_windows_that_do_not_fit_twice_are_left_out():
    assert set(detectable_gain(0.05, np.arange(30.0)).between_windows) == {10}


@pytest.mark.parametrize(
    ("spread", "n", "reason"),
    [(None, 80, "no residual spread"), (0.05, 2, "fewer than 3 steps"), (None, 0, "fewer than 3 steps")],
)
def test_without_spread_or_steps_nothing_is_detectable(spread, n, reason):
    gain = detectable_gain(spread, np.arange(float(n)))

    assert (gain.over_run, gain.between_windows, gain.reason) == (None, {}, reason)
