"""The frames of the published run hold what its report says, and look like any other frames."""

from __future__ import annotations

from dataclasses import fields

import pytest

from rl_pipeline.schema import TABLES_BY_NAME
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, frame_of, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


@pytest.mark.parametrize("table", TABLES_BY_NAME)
def test_every_frame_has_the_columns_of_its_table(table):
    expected = [f.name for f in fields(TABLES_BY_NAME[table])]

    assert list(getattr(reference_frames(), table).columns) == expected
    assert list(getattr(experiment_frames(), table).columns) == expected


def test_the_published_totals_are_there():
    frames = reference_frames()

    # source: published report: 81 metric blocks, 4,934 batches, 44,526 trials, 16,178 of them solved
    assert frames.step_metrics[["job", "block"]].drop_duplicates().shape[0] == 81
    assert (len(frames.rollout_batches), int(frames.rollout_batches["masked"].sum())) == (4934, 6421)
    assert (len(frames.trials), int((frames.trials["outcome"] == "solved").sum())) == (44_526, 16_178)
    assert len(reference_frames(with_trials=False).trials) == 0


def test_rows_keep_their_missing_values_missing():
    row = frame_of(TABLES_BY_NAME["jobs"], [job_row("job_1")]).iloc[0]

    assert row["resumed_from_step"] is not None
    assert str(row["resumed_from_step"]) == "<NA>"
    assert row["zone"] is None


def test_values_that_are_not_finite_are_stored_without_a_number():
    (row,) = block_rows("job_1", 0, 1, {"reward/avg_raw_reward": float("inf")})

    assert (row.value, row.state) == (None, "not_finite")
