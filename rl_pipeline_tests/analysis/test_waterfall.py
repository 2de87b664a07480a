"""The whole experiment in disjoint parts, with and without clocks."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rl_pipeline.analysis.links import find_chain
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, all_rows
from rl_pipeline.analysis.time_accounting import step_time
from rl_pipeline.analysis.waterfall import ACCOUNTED, WHOLE, activities, waterfall
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames

NOON = datetime(2026, 3, 1, 12, 0)


def _waterfall(frames, **settings):
    chain = find_chain(frames)
    return waterfall(all_rows(frames, chain), chain, **settings)


def _clocked(*, gap=0.0, zone="UTC"):
    """Two jobs of three steps of 100 s: 600 s of start-up, 60 s tail, an hour of queue, a gap in the first."""
    cells, jobs, step, start = [], [], 0, NOON
    for number in (1, 2):
        now = start + timedelta(seconds=600)
        for block in range(3):
            step += 1
            now += timedelta(seconds=100 + (gap if (number, block) == (1, 1) else 0))
            values = {
                STEP_SECONDS: 100.0,
                "timing/wait_for_generation_buffer": 60.0,
                "timing/run_training": 40.0,
                REWARD: 0.4,
            }
            cells += block_rows(f"job_{number}", block, step, values, logged_at=now)
        end = now + timedelta(seconds=60)
        resumed = 3 if number == 2 else None
        jobs.append(
            job_row(f"job_{number}", resumed_from_step=resumed, first_logged_at=start, last_logged_at=end, zone=zone)
        )
        start = end + timedelta(hours=1)
    return experiment_frames(jobs=jobs, step_metrics=cells)


def test_the_accounted_time_of_the_published_run_splits_by_activity():
    tree = step_time(all_rows(reference_frames()))

    shares = {part.name: round(100 * (part.share or 0), 1) for part in activities(tree)}

    # source: analysis of the published run: wait 57.3, training 38.4, sync 2.3, saves 1.4, conversion 0.5 %
    assert shares == {
        "wait": 57.3,
        "training": 38.4,
        "weight sync": 2.3,
        "conversion": 0.5,
        "rest of the step": 0.0,
        "save_checkpoints": 1.3,
        "save_hf_model": 0.1,
    }


def test_the_waterfall_of_the_published_run_adds_up():
    found = _waterfall(reference_frames(), gpus=56)

    parts = {part.name: part.seconds for part in found.parts}
    assert found.covers == ACCOUNTED
    assert sum(parts.values()) == pytest.approx(found.total_seconds)
    # source: analysis of the published run: 71,708 s accounted, 6,207 s slow starts, 687.8 s redone, 4.0 steps per hour
    assert found.total_seconds == pytest.approx(71_708, abs=0.5)
    assert (parts["slow first steps"], parts["steps trained in vain"]) == pytest.approx((6207.4, 687.8), abs=0.1)
    assert found.steps_per_hour == pytest.approx(4.0, abs=0.05)
    assert found.gpu_hours == pytest.approx(1115, abs=0.5)  # 14 nodes of 4 GPUs, if it was like its siblings
    assert found.queue_seconds is None


def test_clocks_show_queue_start_up_and_tail():
    found = _waterfall(_clocked())

    parts = {part.name: part.seconds for part in found.parts}
    assert found.covers == WHOLE
    assert parts == pytest.approx(
        {"wait": 360, "training": 240, "queue between jobs": 3600, "start-up": 1200, "after the last step": 120}
    )
    assert found.total_seconds == pytest.approx(2 * 960 + 3600)
    assert (found.queue_seconds, found.start_up_seconds, found.gaps) == (3600, 1200, ())
    assert found.goodput == pytest.approx(600 / 5520)


def test_the_queue_costs_no_gpu_hours():
    assert _waterfall(_clocked(), gpus=4).gpu_hours == pytest.approx(4 * 2 * 960 / 3600)


def test_time_between_blocks_that_no_timer_explains_is_a_gap():
    found = _waterfall(_clocked(gap=900.0))

    (gap,) = found.gaps
    assert (gap.job, gap.after_step, gap.seconds, gap.between_seconds) == ("job_1", 1, 900, 1000)
    assert {part.name: part.seconds for part in found.parts}["unexplained between steps"] == 900


def test_a_job_without_clocks_takes_the_clock_parts_away():
    frames = _clocked()
    jobs = frames.jobs.assign(first_logged_at=[frames.jobs["first_logged_at"].iloc[0], None])

    found = _waterfall(
        experiment_frames(jobs=jobs.to_dict("records"), step_metrics=frames.step_metrics.to_dict("records"))
    )

    assert (found.covers, found.queue_seconds) == (ACCOUNTED, None)


def test_without_steps_there_is_no_waterfall():
    found = _waterfall(experiment_frames(jobs=[job_row("job_1")]))

    assert (found.total_seconds, found.parts, found.goodput, found.reason) == (None, (), None, "no steps")
