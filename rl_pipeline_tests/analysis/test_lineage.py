"""The story of a chain: thrown-away steps, concurrent jobs, disorder, notes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rl_pipeline.analysis.lineage import find_lineage
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames

NOON = datetime(2026, 3, 1, 12, 0)


def _lineage(*jobs, **tables):
    """Lineage of jobs given as (name, restored step, steps, columns of the job)."""
    rows, heads = [], []
    for job, restored, steps, columns in jobs:
        heads.append(job_row(job, resumed_from_step=restored, **columns))
        for block, step in enumerate(steps):
            rows += block_rows(job, block, step, {REWARD: 0.1, STEP_SECONDS: 100.0})
    return find_lineage(experiment_frames(jobs=heads, step_metrics=rows, **tables))


def test_step_9_of_the_published_run_was_trained_in_vain():
    lineage = find_lineage(reference_frames())

    (step,) = lineage.thrown_away
    # source: published report, step 9 of jobs 567548 and 567550
    assert (step.global_step, step.job, step.kept_job) == (9, "job_567548", "job_567550")
    assert (step.reward, step.kept_reward) == (0.2812, 0.3418)
    assert (step.seconds, step.kept_seconds) == pytest.approx((687.8, 3374.2), abs=0.05)
    assert (lineage.thrown_away_seconds, lineage.thrown_away_samples) == pytest.approx((687.8, 512), abs=0.05)
    assert (lineage.rows, lineage.distinct_steps, lineage.first_step, lineage.last_step) == (81, 80, 1, 80)
    assert (lineage.gaps, lineage.stepless, lineage.concurrent, lineage.disordered) == ((), (), (), ())
    assert [link.job for link in lineage.restarts] == ["job_567550", "job_567551"]


def test_steps_that_nobody_reached_again_have_no_kept_version():
    lineage = _lineage(("job_1", None, range(1, 6), {}), ("job_2", 2, (3,), {}))

    assert [(s.global_step, s.kept_job, s.kept_reward) for s in lineage.thrown_away] == [
        (3, "job_2", 0.1),
        (4, None, None),
        (5, None, None),
    ]


def test_a_dead_branch_is_named_and_its_steps_are_thrown_away():
    lineage = _lineage(("job_1", None, range(1, 6), {}), ("job_2", 2, (3,), {}), ("job_3", 5, (6,), {}))

    assert (lineage.ancestry, lineage.dead_branches) == (("job_1", "job_3"), ("job_2",))
    assert [(s.global_step, s.job, s.kept_job) for s in lineage.thrown_away] == [(3, "job_2", "job_1")]


def test_samples_are_missing_where_the_log_does_not_count_them():
    lineage = _lineage(("job_1", None, (1, 2), {}), ("job_2", 1, (2,), {}))

    assert (lineage.thrown_away_seconds, lineage.thrown_away_samples) == (100.0, None)


def test_jobs_at_the_same_time_are_told_with_the_time_they_share():
    span = {"first_logged_at": NOON, "last_logged_at": NOON + timedelta(hours=2)}
    late = {"first_logged_at": NOON + timedelta(hours=1), "last_logged_at": NOON + timedelta(hours=4)}

    (pair,) = _lineage(("job_1", None, (1, 2), span), ("job_2", 1, (2, 3), late)).concurrent

    assert (pair.first, pair.second, pair.seconds, pair.both_trained) == ("job_1", "job_2", 3600.0, True)


def test_a_tear_down_of_a_minute_is_not_concurrent():
    span = {"first_logged_at": NOON, "last_logged_at": NOON + timedelta(minutes=61)}
    late = {"first_logged_at": NOON + timedelta(hours=1), "last_logged_at": NOON + timedelta(hours=4)}

    assert _lineage(("job_1", None, (1, 2), span), ("job_2", 2, (3,), late)).concurrent == ()


def test_clocks_of_different_zones_are_not_compared():
    span = {"first_logged_at": NOON, "last_logged_at": NOON + timedelta(hours=2), "zone": "UTC"}
    late = {"first_logged_at": NOON, "last_logged_at": NOON + timedelta(hours=4)}

    assert _lineage(("job_1", None, (1,), span), ("job_2", 1, (2,), late)).concurrent == ()


def test_a_job_that_died_before_its_first_step_is_an_attempt_only():
    lineage = _lineage(("job_1", None, (1, 2), {}), ("job_2", 2, (), {}), ("job_3", 2, (3,), {}))

    assert [link.job for link in lineage.stepless] == ["job_2"]
    assert [link.job for link in lineage.restarts] == ["job_3"]


def test_blocks_out_of_order_are_told():
    lineage = _lineage(("job_1", None, (1, 3, 2), {}))

    assert lineage.disordered == (("job_1", 2),)


def test_a_chain_that_starts_late_says_that_its_beginning_is_elsewhere():
    lineage = _lineage(("job_1", 40, (41, 42), {}))

    assert lineage.notes == ("the chain starts at step 41: the part before it is not in the inputs",)


def test_a_log_without_its_beginning_and_a_fresh_start_after_progress_are_noted():
    lineage = _lineage(("job_1", None, (5, 6), {}), ("job_2", None, (1,), {}))

    assert lineage.notes == (
        "job_1 has no start line: its beginning is missing or was overwritten by a requeue",
        "job_2 starts at step 1 after job_1 had reached 6",
    )


def test_nothing_at_all_has_a_lineage_too():
    lineage = find_lineage(experiment_frames())

    assert (lineage.links, lineage.rows, lineage.first_step, lineage.thrown_away_seconds) == ((), 0, None, None)
