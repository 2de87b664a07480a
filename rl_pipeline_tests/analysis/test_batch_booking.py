"""Batch lines and the steps they belong to."""

from __future__ import annotations

from rl_pipeline.analysis.batch_booking import book_batches
from rl_pipeline.analysis.series import REWARD, all_rows
from rl_pipeline.schema import RolloutBatch
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, frame_of, job_row


def _batch(job, marker):
    return RolloutBatch(
        job=job, line=1, successful=8, total=8, failed_groups=0, exceptions={}, since_step_marker=marker
    )


def test_lines_before_the_first_marker_belong_to_step_1_and_to_none_of_a_resumed_job():
    cells = [*block_rows("job_1", 0, 1, {REWARD: 0.4}), *block_rows("job_2", 0, 2, {REWARD: 0.4})]
    jobs = [job_row("job_1"), job_row("job_2", resumed_from_step=1)]
    rows = all_rows(experiment_frames(jobs=jobs, step_metrics=cells))
    lines = [_batch("job_1", None), _batch("job_1", 1), _batch("job_2", None), _batch("job_2", 2), _batch("job_2", 3)]

    found = book_batches(frame_of(RolloutBatch, lines), rows)

    assert found.booked[["job", "global_step"]].to_numpy().tolist() == [["job_1", 1], ["job_1", 1], ["job_2", 2]]
    assert found.unbooked["global_step"].tolist() == [1, 3]


def test_without_lines_or_steps_nothing_is_booked():
    rows = all_rows(experiment_frames())

    assert len(book_batches(frame_of(RolloutBatch, []), rows).booked) == 0
    assert len(book_batches(frame_of(RolloutBatch, [_batch("job_1", 1)]), rows).unbooked) == 1
