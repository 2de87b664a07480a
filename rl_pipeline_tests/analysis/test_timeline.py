"""The run on one axis: by the clock where there is one, else by the time inside steps."""

from __future__ import annotations

from datetime import datetime, timedelta

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.lineage import find_lineage
from rl_pipeline.analysis.series import all_rows
from rl_pipeline.analysis.timeline import (
    CHECKPOINT,
    CLOCK,
    EVALUATION,
    IN_VAIN,
    QUEUE,
    START_UP,
    STEP_TIME,
    TAIL,
    TRAINING,
    Timeline,
    find_timeline,
)
from rl_pipeline.schema import EVAL, JobEvent, StepMetric
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames

NOON = datetime(2026, 3, 1, 12, 0)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def step(job: str, number: int, minutes: float) -> list[StepMetric]:
    """A step of ten minutes that ends then."""
    values = {"timing/step": 600.0, "reward/avg_raw_reward": 0.5}
    return block_rows(job, number, number, values, logged_at=at(minutes))


def event(job: str, line: int, kind: str, minutes: float | None, step: int | None = None) -> JobEvent:
    time = None if minutes is None else at(minutes)
    return JobEvent(job=job, line=line, byte_offset=0, kind=kind, step=step, logged_at=time)


def two_jobs() -> ExperimentFrames:
    """Job 1 trains steps 1–3, job 2 goes on from step 2; an hour lies between them."""
    evaluation = {"kind": EVAL, "logged_at": at(30)}
    return experiment_frames(
        jobs=[
            job_row("job_1", first_logged_at=at(0), last_logged_at=at(45)),
            job_row("job_2", first_logged_at=at(105), last_logged_at=at(140)),
        ],
        step_metrics=[
            *step("job_1", 1, 15), *step("job_1", 2, 25), *step("job_1", 3, 35), *step("job_2", 3, 120),
            *block_rows("job_1", 9, 2, {"eval/all/avg_score": 0.4}, **evaluation),
        ],
        job_events=[
            event("job_1", 150, "checkpoint_saved", 26, step=2),
            event("job_2", 5, "resume", None, step=2),
        ],
    )  # fmt: skip


def timeline_of(frames: ExperimentFrames) -> Timeline | None:
    lineage = find_lineage(frames)
    endings = {end.link: end.state for end in lineage.endings}
    return find_timeline(frames, all_rows(frames), lineage.links, endings)


def test_a_job_is_start_up_training_what_was_lost_and_a_tail_with_the_queue_between():
    line = present(timeline_of(two_jobs()))

    told = [(s.job, s.part, round(60 * s.begin), round(60 * s.end), s.first_step, s.last_step) for s in line.stretches]
    assert line.axis == CLOCK
    assert told == [
        ("job_1", START_UP, 0, 5, None, None),
        ("job_1", TRAINING, 5, 25, 1, 2),
        ("job_1", IN_VAIN, 25, 35, 3, 3),
        ("job_1", TAIL, 35, 45, None, None),
        ("job_2", QUEUE, 45, 105, None, None),
        ("job_2", START_UP, 105, 110, None, None),
        ("job_2", TRAINING, 110, 120, 3, 3),
        ("job_2", TAIL, 120, 140, None, None),
    ]


def test_saves_and_evaluations_stand_where_their_lines_say():
    line = present(timeline_of(two_jobs()))

    assert [(mark.what, round(60 * mark.at), mark.step) for mark in line.marks] == [
        (CHECKPOINT, 26, 2),
        (EVALUATION, 30, 2),
    ]


def test_without_clocks_jobs_follow_each_other_by_their_step_time():
    line = present(timeline_of(reference_frames(with_trials=False)))

    # source: sums of timing/step of the published report, 6,840.2 + 38,753.6 + 25,084.7 s
    assert (line.axis, line.origin) == (STEP_TIME, None)
    assert round(max(stretch.end for stretch in line.stretches) * 3600) == 70_679
    assert [(s.job, s.first_step, s.last_step) for s in line.stretches if s.part == IN_VAIN] == [("job_567548", 9, 9)]


def test_a_run_without_a_step_has_no_timeline():
    assert timeline_of(experiment_frames(jobs=[job_row("job_1", first_logged_at=at(0), last_logged_at=at(9))])) is None
