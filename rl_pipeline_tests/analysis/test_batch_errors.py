"""Batches are booked to the step whose text stands before them."""

from __future__ import annotations

import pandas as pd

from rl_pipeline.analysis.batch_errors import batch_error_values
from rl_pipeline.analysis.blocks import training_rows
from rl_pipeline.schema import RolloutBatch, StepMetric
from rl_pipeline_tests.helpers.frames import block_rows, frame_of


def batch(job: str, step: int | None, line: int = 1, **columns: object) -> dict[str, object]:
    values = {"mode": "training", "successful": 7, "total": 8, "failed_groups": 1, "masked": 1, "exceptions": {}}
    return {"job": job, "line": line, "since_step_marker": step, "repeat_count": 1, **values, **columns}


def errors(batches: list[dict[str, object]], *steps: tuple[str, int, float]) -> list[dict[str, float]]:
    blocks = [
        row for n, (job, step, reward) in enumerate(steps) for row in block_rows(job, n, step, {"a/reward": reward})
    ]
    rows = training_rows(frame_of(StepMetric, blocks), sorted({job for job, _, _ in steps}))
    frame: pd.DataFrame = batch_error_values(rows, frame_of(RolloutBatch, batches))
    return [{str(k).removeprefix("batch_errors/"): v for k, v in row.dropna().items()} for _, row in frame.iterrows()]


def test_totals_are_sums_and_averages_are_per_batch():
    made = errors(
        [batch("job_1", 1, exceptions={"OSError": 1}), batch("job_1", 1, exceptions={"OSError": 2}, masked=0)],
        ("job_1", 1, 0.5),
    )

    assert made == [
        {
            "total_batches": 2.0,
            "total_instances": 16.0,
            "total_successful": 14.0,
            "total_failed": 2.0,
            "total_masked": 1.0,
            "avg_OSError": 1.5,
            "total_OSError": 3.0,
        }
    ]


def test_batches_before_the_first_step_text_belong_to_step_one_of_a_fresh_run():
    made = errors([batch("job_1", None), batch("job_2", None)], ("job_1", 1, 0.5), ("job_2", 2, 0.5))

    assert [row.get("total_batches") for row in made] == [1.0, None]


def test_evaluation_batches_are_left_out_and_unknown_modes_are_kept():
    made = errors([batch("job_1", 1, mode="eval"), batch("job_1", 1, mode=None)], ("job_1", 1, 0.5))

    assert made[0]["total_batches"] == 1.0


def test_a_type_is_absent_where_it_does_not_occur():
    made = errors(
        [batch("job_1", 1, exceptions={"OSError": 1}), batch("job_1", 2)], ("job_1", 1, 0.5), ("job_1", 2, 0.4)
    )

    assert "avg_OSError" in made[0]
    assert "avg_OSError" not in made[1]


def test_masked_is_absent_where_the_line_does_not_print_it():
    made = errors([batch("job_1", 1, masked=None)], ("job_1", 1, 0.5))

    assert "total_masked" not in made[0]


def test_batches_of_a_step_that_the_job_trained_again_go_to_their_attempt():
    made = errors(
        [batch("job_1", 1, line=50), batch("job_1", 2, line=150), batch("job_1", 2, line=250)],
        ("job_1", 1, 0.1),  # line 1
        ("job_1", 2, 0.2),  # line 101
        ("job_1", 2, 0.3),  # line 201, the second attempt
    )

    assert [row.get("total_batches") for row in made] == [1.0, None, 2.0]


def test_without_batches_there_is_no_column():
    assert errors([], ("job_1", 1, 0.5)) == [{}]
