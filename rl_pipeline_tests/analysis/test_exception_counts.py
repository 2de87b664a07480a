"""Two means of a rare exception."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.exception_counts import exception_means
from rl_pipeline.analysis.series import REWARD, all_rows
from rl_pipeline.schema import RolloutBatch
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


# source: published report, batch errors (totals); analysis of the published run (overstatement)
@pytest.mark.parametrize(
    ("name", "total", "overstatement"),
    [
        ("VerifierOutputParseError", 16, 40.5),
        ("AgentSetupTimeoutError", 44, 20),
        ("DaytonaNotFoundError", 29, 9),
        ("VerifierTimeoutError", 107, 3.5),
        ("DaytonaValidationError", 96, 3.4),
        ("RewardFileNotFoundError", 2578, 1),
    ],
)
def test_means_over_steps_that_have_a_type_overstate_it(name, total, overstatement):
    (found,) = [
        one
        for one in exception_means(reference_frames().rollout_batches, all_rows(reference_frames()))
        if one.exception_type == name
    ]

    assert found.total == total
    assert found.overstatement == pytest.approx(overstatement, rel=0.02)
    assert found.zero_filled_mean == pytest.approx(total / 81)


def test_batches_of_steps_without_a_block_do_not_count():
    def batch(marker):
        return RolloutBatch(
            job="job_1", line=1, successful=7, total=8, failed_groups=1, exceptions={"X": 1}, since_step_marker=marker
        )

    frames = experiment_frames(
        jobs=[job_row("job_1")],
        step_metrics=[row for i in range(2) for row in block_rows("job_1", i, i + 1, {REWARD: 0.1})],
        rollout_batches=[batch(None), batch(1), batch(9)],
    )

    (found,) = exception_means(frames.rollout_batches, all_rows(frames))

    assert (found.total, found.steps_with, found.steps) == (2, 1, 2)
    assert (found.conditional_mean, found.zero_filled_mean) == (2, 1)


def test_without_batches_there_are_no_types():
    assert exception_means(experiment_frames().rollout_batches, all_rows(experiment_frames())) == ()
