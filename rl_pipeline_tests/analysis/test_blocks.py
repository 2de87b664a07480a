"""Blocks of one step become one row; steps that were trained again stay rows of their own."""

from __future__ import annotations

import math

import pandas as pd

from rl_pipeline.analysis.blocks import TrainingRows, training_rows
from rl_pipeline.schema import BELOW_RESOLUTION, EVAL, MIRROR, PARTIAL, TIMING, StepMetric
from rl_pipeline_tests.helpers.frames import block_rows, frame_of


def rows_of(*blocks: list[StepMetric], jobs: tuple[str, ...] = ("job_1",)) -> TrainingRows:
    return training_rows(frame_of(StepMetric, [row for block in blocks for row in block]), jobs)


def keys_of(rows: TrainingRows) -> list[tuple[str, int, int]]:
    return [(str(job), int(attempt), int(step)) for job, attempt, step, _ in rows.keys.itertuples(index=False)]


def test_the_two_blocks_of_one_asynchronous_step_are_one_row():
    rows = rows_of(
        block_rows("job_1", 0, 1, {"reward/avg_raw_reward": 0.5}),
        block_rows("job_1", 1, 1, {"timing/step": 80.0}, kind=TIMING),
    )

    assert keys_of(rows) == [("job_1", 0, 1)]
    assert rows.values.to_dict("records") == [{"reward/avg_raw_reward": 0.5, "timing/step": 80.0}]


def test_the_mirror_gives_the_value_and_the_console_gives_no_second_row():
    rows = rows_of(
        block_rows("job_1", 0, 1, {"policy/policy_lr": 8e-06}, source=MIRROR),
        block_rows("job_1", 1, 1, {"policy/policy_lr": 0.0, "only/printed": 1.0}, state=BELOW_RESOLUTION),
    )

    assert keys_of(rows) == [("job_1", 0, 1)]
    assert rows.values.to_dict("records") == [{"policy/policy_lr": 8e-06, "only/printed": 1.0}]
    assert rows.below_resolution.to_dict("records") == [{"policy/policy_lr": False, "only/printed": True}]


def test_a_step_that_another_job_trained_again_is_two_rows():
    rows = rows_of(
        block_rows("job_1", 0, 9, {"reward/avg_raw_reward": 0.28}),
        block_rows("job_2", 0, 9, {"reward/avg_raw_reward": 0.34}),
        jobs=("job_1", "job_2"),
    )

    assert keys_of(rows) == [("job_1", 0, 9), ("job_2", 0, 9)]


def test_a_step_that_the_same_job_trained_again_opens_an_attempt():
    rows = rows_of(
        block_rows("job_1", 0, 1, {"reward/avg_raw_reward": 0.1}),
        block_rows("job_1", 1, 2, {"reward/avg_raw_reward": 0.2}),
        block_rows("job_1", 2, 2, {"reward/avg_raw_reward": 0.3}),
        block_rows("job_1", 3, 3, {"reward/avg_raw_reward": 0.4}),
    )

    assert keys_of(rows) == [("job_1", 0, 1), ("job_1", 0, 2), ("job_1", 1, 2), ("job_1", 1, 3)]


def test_an_exact_copy_of_a_block_is_not_a_second_attempt():
    rows = rows_of(
        block_rows("job_1", 0, 1, {"reward/avg_raw_reward": 0.1, "x/y": math.nan}),
        block_rows("job_1", 1, 1, {"reward/avg_raw_reward": 0.1, "x/y": math.nan}),
    )

    assert keys_of(rows) == [("job_1", 0, 1)]


def test_evaluations_and_cut_blocks_make_no_row():
    rows = rows_of(
        block_rows("job_1", 0, 0, {"eval/all/avg_score": 0.3}, kind=EVAL),
        block_rows("job_1", 1, 1, {"reward/avg_raw_reward": 0.1}, kind=PARTIAL),
        block_rows("job_1", 2, 2, {"timing/step": 5.0}, kind=TIMING),
        block_rows("job_1", 3, None, {"reward/avg_raw_reward": 0.1}),
    )

    assert keys_of(rows) == []
    assert list(rows.values.columns) == []


def test_jobs_stand_in_the_order_of_the_chain_and_others_are_left_out():
    rows = rows_of(
        block_rows("job_2", 0, 2, {"a/b": 2.0}),
        block_rows("job_1", 0, 1, {"a/b": 1.0}),
        block_rows("job_9", 0, 7, {"a/b": 9.0}),
        jobs=("job_1", "job_2"),
    )

    assert keys_of(rows) == [("job_1", 0, 1), ("job_2", 0, 2)]


def test_a_metric_that_was_never_logged_is_a_column_of_nothing():
    rows = rows_of(block_rows("job_1", 0, 1, {"a/b": 1.0}))

    assert rows.column("policy/policy_kl").isna().tolist() == [True]
    assert rows.of_job("job_1").column("a/b").tolist() == [1.0]
    assert isinstance(rows.column("a/b"), pd.Series)


def test_a_number_is_taken_before_a_value_that_is_not_finite():
    rows = rows_of(
        block_rows("job_1", 0, 1, {"a/b": math.nan}, source=MIRROR),
        block_rows("job_1", 1, 1, {"a/b": 3.0}),
    )

    assert rows.column("a/b").tolist() == [3.0]


def test_an_empty_table_gives_no_row():
    rows = rows_of()

    assert len(rows.keys) == 0
    assert rows.values.empty
