"""Noise of a step."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.series import REWARD, canonical_steps
from rl_pipeline.analysis.step_noise import step_noise
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def test_the_noise_of_the_published_run_comes_from_its_own_rows():
    noise = step_noise(canonical_steps(reference_frames()))

    assert (noise.k, noise.samples, noise.groups_per_step) == (8, 512, 64)  # source: published report
    # source: analysis of the published run: design effect 5.8, effective n ≈ 88, 19 of 64 groups mixed
    assert (noise.design.design_effect, noise.design.effective_n) == pytest.approx((5.8, 88), rel=6e-3)
    assert noise.groups.mixed_per_step == pytest.approx(19.1, abs=0.05)


def test_groups_follow_from_samples_and_k():
    cells = block_rows("job_1", 0, 1, {REWARD: 0.4, "reward/avg_pass_at_4": 0.6, "async/effective_batch_samples": 64})

    noise = step_noise(canonical_steps(experiment_frames(jobs=[job_row("job_1")], step_metrics=cells)))

    assert (noise.k, noise.samples, noise.groups_per_step) == (4, 64, 16)
    assert noise.design.reason is not None


def test_without_steps_there_is_no_noise():
    noise = step_noise(canonical_steps(experiment_frames()))

    assert (noise.k, noise.samples, noise.design.design_effect, noise.groups.all_fail) == (None, None, None, None)
