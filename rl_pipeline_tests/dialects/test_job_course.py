"""Start, resume, saves and end of a job."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import job_course
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline_tests.dialects.feeding import feed, message


def test_the_loop_line_of_a_fresh_start_is_no_resume():
    rows = feed(job_course, "Resumed training from global_step 0")

    assert [(row.kind, row.step) for row in rows] == [("loop_started", 0)]


@pytest.mark.parametrize(
    "payload",
    ["Resuming from global_step: 4", "Total training steps: 8", "Resumed training from global_step 1"],
)
def test_a_number_at_the_end_of_a_cut_line_is_not_trusted(payload):
    assert isinstance(job_course.parser(JobContext("job_1")).parse(message(payload, complete=False)), Broken)


def test_an_end_line_without_its_line_end_still_counts():
    outcome = job_course.parser(JobContext("job_1")).parse(message("Training done!", complete=False))

    assert outcome is not None
    assert not isinstance(outcome, Broken)


def test_the_batch_reward_keeps_all_digits():
    (row,) = feed(
        job_course, "reward/avg_pass_at_8: 0.453125, reward/avg_raw_reward: 0.3359375 (effective_batch=N/A samples)"
    )

    assert row.value == 0.3359375


@pytest.mark.parametrize(
    "payload",
    [
        "The agent said Training done!",
        "Not resuming from global_step: 4",
        "Total steps: many",
        "reward/avg_pass_at_8: high",
    ],
)
def test_words_about_the_course_are_not_the_course(payload):
    assert job_course.parser(JobContext("job_1")).parse(message(payload)) is None


def test_a_path_in_a_line_is_kept_without_credentials():
    (row,) = feed(
        job_course,
        "Successfully saved checkpoint for global_step_8 to: s3://user:hunter2secret@bucket/run/global_step_8",
    )

    assert row.step == 8
    assert "hunter2secret" not in row.detail
