"""The published definitions on the published run (without engines: those need the logs)."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.published import published_tables
from rl_pipeline.analysis.published_rows import MetricSummary, PublishedTables
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


@pytest.fixture(scope="module")
def tables() -> PublishedTables:
    return published_tables(reference_frames())


def summary(tables: PublishedTables, metric: str) -> MetricSummary:
    return next(row for category in tables.categories for row in category.metrics if row.metric == metric)


def test_the_blocks_of_three_logs_hold_eighty_distinct_steps(tables: PublishedTables):
    assert (tables.log_files, tables.rows, tables.distinct_steps, tables.pass_k) == (3, 81, 80, 8)


def test_beside_the_mean_stands_the_reward_at_the_end(tables: PublishedTables):
    # source: expected_report.json (means), the last rows of its progression tables (ends)
    assert [(round(row.final_reward_mean or 0, 4), row.last_reward, row.best_step) for row in tables.overview] == [
        (0.4008, 0.2812, 1),
        (0.3437, 0.2656, 35),
        (0.3892, 0.3770, 52),
    ]


def test_categories_stand_in_the_published_order(tables: PublishedTables):
    names = "async generate loss policy reward system timing trainer batch_errors"

    assert " ".join(category.name for category in tables.categories) == names


def test_a_timer_that_appears_later_stands_at_the_end_of_its_category(tables: PublishedTables):
    timing = next(category for category in tables.categories if category.name == "timing")

    assert [metric.metric for metric in timing.metrics[-3:]] == [
        "timing/cleanup_old_checkpoints",
        "timing/save_checkpoints",
        "timing/save_hf_model",
    ]


def test_the_mean_over_all_blocks_counts_absent_types_as_zero(tables: PublishedTables):
    # source: 16 errors in 2 of 81 blocks, batches.csv
    row = summary(tables, "batch_errors/total_VerifierOutputParseError")

    assert (row.mean, row.count, row.mean_over_all) == (8.0, 2, 16 / 81)
    assert summary(tables, "batch_errors/total_failed").mean_over_all is None


def test_a_metric_seen_once_has_no_spread(tables: PublishedTables):
    assert summary(tables, "batch_errors/total_OSError").std == 0.0
    assert summary(tables, "batch_errors/total_AddTestsDirError").std is None


def test_the_share_of_waiting_is_given_both_ways(tables: PublishedTables):
    # source: 53.6 % published; 58.18 % = 41,117.96 s of 70,678.53 s, steps.csv
    wait = tables.timing_breakdown[0]

    assert (wait.name, round(wait.mean_of_ratios, 3), round(wait.ratio_of_sums, 4)) == (
        "wait_for_generation_buffer",
        0.536,
        0.5818,
    )


def test_a_loss_below_print_precision_is_counted(tables: PublishedTables):
    # source: steps.csv, rows whose policy/final_loss prints as ±0.0000
    assert summary(tables, "policy/final_loss").below_resolution == 71


def test_kl_that_is_not_logged_is_absent_and_not_zero(tables: PublishedTables):
    assert {row.kl for job in tables.progression for row in job.rows} == {None}


def test_a_job_without_blocks_is_in_the_overview_and_nowhere_else():
    frames = experiment_frames(
        jobs=[job_row("job_1"), job_row("job_2")],
        step_metrics=block_rows("job_1", 0, 3, {"reward/avg_raw_reward": 0.5}),
    )
    tables = published_tables(frames)

    assert [(row.job, row.total_steps, row.metric_blocks) for row in tables.overview] == [
        ("job_1", 3, 1),
        ("job_2", None, 0),
    ]
    assert [row.job for row in tables.progression] == ["job_1"]
    assert [row.job for row in tables.cross_log] == ["job_1"]


def test_an_experiment_without_anything_has_empty_tables():
    tables = published_tables(experiment_frames())

    assert (tables.log_files, tables.rows, tables.trials, tables.engines, tables.categories) == (0, 0, None, (), ())


def test_the_k_of_pass_at_k_is_the_one_that_was_logged():
    frames = experiment_frames(
        jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 1, {"reward/avg_pass_at_4": 0.75})
    )
    tables = published_tables(frames)

    assert tables.pass_k == 4
    assert tables.progression[0].rows[0].pass_at_k == 0.75
