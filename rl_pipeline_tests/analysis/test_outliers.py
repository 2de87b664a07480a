"""Steps that stand out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rl_pipeline.analysis.outliers import outlying_steps, robust_z, stragglers
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, all_rows, canonical_steps
from rl_pipeline_tests.helpers.frames import experiment_frames
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def test_the_slowest_steps_of_the_published_run_stand_out():
    found = {(step.job, step.global_step): round(step.z, 1) for step in outlying_steps(all_rows(reference_frames()))}

    # source: analysis of the published run, robust z over all 81 rows
    assert found == {
        ("job_567550", 9): 14.7,
        ("job_567551", 51): 7.9,
        ("job_567550", 41): 7.1,
        ("job_567551", 52): 4.9,
        ("job_567550", 38): 3.8,
    }


def test_four_steps_of_the_published_run_took_over_twice_the_median():
    found = outlying_steps(all_rows(reference_frames()), z=0, ratio=2)

    assert sorted(step.global_step for step in found) == [9, 41, 51, 52]  # source: analysis of the published run


def test_the_stragglers_of_the_published_run_are_38_and_41():
    found = stragglers(all_rows(reference_frames()))

    # source: analysis of the published run: +618.9 s and +1,204.0 s over the median of their link
    assert [step.global_step for step in found] == [38, 41]
    assert [step.excess for step in found] == pytest.approx([618.9, 1204.0], abs=0.1)


def test_a_short_link_has_no_stragglers():
    rows = canonical_steps(reference_frames())

    assert [step.global_step for step in stragglers(rows)] == [38, 41]
    assert [step.global_step for step in stragglers(rows, link_steps=5)] == [4, 38, 41]


def test_the_best_step_of_the_published_run_stands_out():
    best = outlying_steps(canonical_steps(reference_frames()), REWARD)[0]

    assert (best.global_step, best.value) == (52, 0.5586)  # source: published report, highest reward
    assert best.z == pytest.approx(4.1, abs=0.02)


def test_robust_z_is_scaled_like_scipys_mad():
    values = np.random.default_rng(1).normal(size=50)

    expected = (values - np.median(values)) / stats.median_abs_deviation(values, scale="normal")

    assert robust_z(values) == pytest.approx(expected, rel=1e-4)


def test_without_spread_nothing_stands_out():
    assert np.isnan(robust_z([5.0, 5.0, 5.0, 9.0])).all()
    assert np.isnan(robust_z([math.nan])).all()
    assert robust_z([]).size == 0


def test_without_steps_there_are_no_stragglers():
    rows = all_rows(experiment_frames())

    assert stragglers(rows) == outlying_steps(rows, STEP_SECONDS) == ()
