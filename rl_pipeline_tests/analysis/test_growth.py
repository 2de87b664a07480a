"""Growth inside links, and the fall at a restart."""

from __future__ import annotations

import numpy as np
import pytest

from rl_pipeline.analysis.growth import growth_within_links
from rl_pipeline.analysis.series import STEP_SECONDS, WAIT_SECONDS, canonical_steps
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _rows(series):
    """Canonical rows of jobs whose step seconds are given."""
    cells, jobs, step = [], [], 0
    for number, values in enumerate(series, 1):
        jobs.append(job_row(f"job_{number}", resumed_from_step=step or None))
        for block, value in enumerate(values):
            step += 1
            cells += block_rows(f"job_{number}", block, step, {STEP_SECONDS: value})
    return canonical_steps(experiment_frames(jobs=jobs, step_metrics=cells))


def test_the_wait_of_the_published_run_grows_by_7_8_seconds_a_step():
    growth = growth_within_links(canonical_steps(reference_frames()), WAIT_SECONDS)

    assert growth.slope.value == pytest.approx(7.8, abs=0.05)  # source: analysis of the published run
    assert (growth.slope.lower, growth.slope.upper) == pytest.approx((4.2, 10.9), abs=0.05)
    assert growth.p_value == pytest.approx(6.8e-5, rel=0.02)
    assert growth.tau == pytest.approx(0.344, abs=5e-4)


def test_the_step_time_of_the_published_run_grows_with_p_2e_5():
    growth = growth_within_links(canonical_steps(reference_frames()), STEP_SECONDS)

    assert growth.p_value == pytest.approx(2.4e-5, rel=0.02)  # source: analysis of the published run, p = 2e-5
    assert present(growth.growth) > 0.20


# source: analysis of the published run, wait by link without warm-up
@pytest.mark.parametrize(("place", "slope", "p"), [(0, 7.4, 0.0014), (1, 8.6, 0.017)])
def test_each_long_link_of_the_published_run_grows(place, slope, p):
    link = growth_within_links(canonical_steps(reference_frames()), WAIT_SECONDS).links[place]

    assert link.trend.slope.value == pytest.approx(slope, abs=0.05)
    assert link.trend.test.p_value == pytest.approx(p, abs=5e-4)


def test_the_wait_of_the_published_run_falls_back_at_the_restart():
    (reset,) = growth_within_links(canonical_steps(reference_frames()), WAIT_SECONDS).resets

    # source: analysis of the published run, median wait 41–50 against 53–62
    assert (reset.median_before, reset.median_after) == pytest.approx((486, 299), abs=0.6)
    assert reset.restart_step == 51  # the link's first step; its first settled one is 53
    assert reset.p_value == pytest.approx(0.0046, abs=5e-5)


def test_different_levels_of_links_are_no_growth():
    generator = np.random.default_rng(2)
    rows = _rows([100 + generator.normal(0, 5, 20), 200 + generator.normal(0, 5, 20), 300 + generator.normal(0, 5, 20)])

    growth = growth_within_links(rows, STEP_SECONDS)

    assert present(growth.p_value) > 0.05
    assert growth.slope.contains(0.0)


def test_one_link_grows_without_a_reset():
    growth = growth_within_links(_rows([np.arange(100.0, 140.0)]), STEP_SECONDS)

    assert (growth.slope.value, growth.resets) == (1.0, ())
    assert present(growth.p_value) < 1e-6


def test_short_links_say_nothing():
    growth = growth_within_links(_rows([np.arange(16.0), np.arange(5.0)]), STEP_SECONDS)

    assert (growth.slope.value, growth.p_value, growth.links) == (None, None, ())
    assert growth.reason == "no link has 15 steps with timing/step"


def test_a_series_of_zeros_has_no_relative_growth():
    growth = growth_within_links(_rows([np.zeros(30)]), STEP_SECONDS)

    assert (growth.p_value, growth.growth, growth.slope.value) == (None, None, 0.0)
