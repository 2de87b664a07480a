"""How a job ended, from the rows of its log."""

from __future__ import annotations

from typing import Any

import pytest

from rl_pipeline.job_summary import JobCourse
from rl_pipeline.schema import CONSOLE, MEASURED, MIRROR, SUMMARY, JobEvent, StepMetric, Unparsed


def block(number: int, step: int, kind: str = "train", line: int | None = None, source: str = CONSOLE) -> StepMetric:
    return StepMetric(
        job="job_1",
        block=number,
        line=line or 10 * number + 1,
        kind=kind,
        global_step=step,
        metric="reward/avg_raw_reward",
        value=0.5,
        state=MEASURED,
        source=source,
    )


def event(kind: str, line: int, **values: Any) -> JobEvent:
    return JobEvent(job="job_1", line=line, byte_offset=100 * line, kind=kind, detail=f"line {line}", **values)


@pytest.mark.parametrize(
    ("events", "state", "line"),
    [
        ([], "unknown", None),
        ([event("end", 50, name="training_done")], "completed", 50),
        ([event("slurm_step", 50, name="time_limit")], "time_limit", 50),
        ([event("end", 50), event("slurm_job", 60, name="cancelled")], "completed", 50),
        ([event("driver_traceback", 50, name="ValueError"), event("slurm_job", 60, name="failed")], "failed", 60),
        ([event("out_of_memory", 50, name="cuda"), event("failure", 51)], "out_of_memory", 50),
        ([event("slurm_consequence", 50, name="failed"), event("worker_died", 51)], "unknown", None),
        ([event("traceback", 50, name="KeyError")], "unknown", None),
    ],
)
def test_the_strongest_evidence_after_the_last_block_decides(events, state, line):
    course = JobCourse()

    course.observe([block(0, 1), *events])
    found, evidence = course.end()

    assert (found, evidence.line if evidence else None) == (state, line)


def test_a_failure_before_the_last_training_block_was_survived():
    course = JobCourse()

    course.observe([block(0, 1), event("driver_traceback", 15, name="TimeoutError"), block(1, 2, line=20)])

    assert course.end() == ("unknown", None)


def test_a_block_that_was_held_back_ends_nothing_that_stands_behind_it():
    course = JobCourse()

    course.observe([block(0, 1), event("end", 50, name="training_done"), block(1, 2, line=20)])

    assert course.end()[0] == "completed"


def test_steps_come_from_training_blocks_alone():
    course = JobCourse()

    course.observe([block(0, 0, "eval"), block(1, 5), block(2, 6), block(3, 7, "partial")])

    assert (course.first_step, course.last_step) == (5, 6)
    assert (course.complete_blocks, len(course.partial_blocks)) == (3, 1)


def test_a_resume_at_step_zero_is_no_resume():
    course = JobCourse()

    course.observe([event("resume", 3, step=0)])
    nothing = course.resumed_from
    course.observe([event("resume", 4, step=8), event("checkpoint_loaded", 5, step=8)])

    assert (nothing, course.resumed_from) == (None, 8)


def test_a_cut_block_counts_once_whether_or_not_values_could_be_saved():
    course = JobCourse()

    course.observe([block(0, 1, "partial", line=4)])
    course.observe([Unparsed(job="job_1", line=4, byte_offset=0, dialect="step_block", reason="cut", excerpt="")])
    course.observe([Unparsed(job="job_1", line=9, byte_offset=0, dialect="step_block", reason="cut", excerpt="")])

    assert len(course.partial_blocks) + len(course.broken_lines - course.partial_lines) == 2


def test_a_mirror_line_beside_its_block_is_no_second_block():
    course, alone = JobCourse(), JobCourse()

    course.observe([block(0, 1, source=MIRROR), block(1, 1), block(2, 2, source=MIRROR), block(3, 2)])
    alone.observe([block(0, 1, source=MIRROR)])

    assert (course.complete_blocks, alone.complete_blocks) == (2, 1)


def test_a_line_of_words_with_numbers_is_no_block():
    course = JobCourse()

    course.observe([block(0, 1), block(1, 1, kind="timing", source=SUMMARY)])

    assert course.complete_blocks == 1
