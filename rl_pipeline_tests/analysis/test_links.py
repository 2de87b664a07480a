"""Links: their order, how each started, and several attempts in one log."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rl_pipeline.analysis.links import find_chain, job_number
from rl_pipeline.schema import JobEvent
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames

NOON = datetime(2026, 3, 1, 12, 0)


def _event(job, line, kind, **columns):
    return JobEvent(job=job, line=line, byte_offset=0, kind=kind, **columns)


def _steps(job, steps, *, first_block=0):
    rows = []
    for place, step in enumerate(steps):
        rows += block_rows(
            job, first_block + place, step, {"reward/avg_raw_reward": 0.1 + 0.01 * (first_block + place)}
        )
    return rows


def test_the_published_run_is_one_fresh_start_and_two_resumes():
    chain = find_chain(reference_frames())

    # source: published report, steps of each job; step 9 was trained by the first two
    found = [
        (link.job, link.start, link.restored_step, link.first_step, link.last_step, link.rows) for link in chain.links
    ]
    assert found == [
        ("job_567548", "fresh", 0, 1, 9, 9),
        ("job_567550", "resume", 8, 9, 50, 42),
        ("job_567551", "resume", 50, 51, 80, 30),
    ]


@pytest.mark.parametrize(
    ("name", "number"), [("job_567548", (567548,)), ("job_12_3", (12, 3)), ("final", None), ("run_7.out", (7,))]
)
def test_the_trailing_number_of_a_name_is_the_job_id(name, number):
    assert job_number(name) == number


def test_times_order_the_jobs_before_their_ids_do():
    jobs = [
        job_row("job_2", first_logged_at=NOON, last_logged_at=NOON + timedelta(hours=1)),
        job_row("job_1", first_logged_at=NOON + timedelta(hours=2), last_logged_at=NOON + timedelta(hours=3)),
    ]

    chain = find_chain(experiment_frames(jobs=jobs, step_metrics=_steps("job_2", [1, 2]) + _steps("job_1", [3, 4])))

    assert [link.job for link in chain.links] == ["job_2", "job_1"]
    assert chain.order_evidence == "first time in each log"


def test_ids_are_compared_as_numbers():
    jobs = [job_row("job_99"), job_row("job_100")]

    chain = find_chain(experiment_frames(jobs=jobs, step_metrics=_steps("job_99", [1]) + _steps("job_100", [2])))

    assert [link.job for link in chain.links] == ["job_99", "job_100"]


def test_restored_steps_correct_the_order_of_ids_without_clocks():
    jobs = [job_row("job_1", resumed_from_step=3), job_row("job_2")]

    chain = find_chain(experiment_frames(jobs=jobs, step_metrics=_steps("job_1", [4, 5]) + _steps("job_2", [1, 2, 3])))

    assert [link.job for link in chain.links] == ["job_2", "job_1"]
    assert chain.order_evidence == "restored steps (the job ids contradict them)"


def test_a_resume_line_goes_before_the_first_block():
    events = [_event("job_1", 5, "resume", step=10)]

    (link,) = find_chain(
        experiment_frames(jobs=[job_row("job_1")], step_metrics=_steps("job_1", [13], first_block=1), job_events=events)
    ).links

    assert (link.start, link.restored_step, link.start_evidence) == ("resume", 10, "resume line 5 names step 10")


def test_blocks_that_contradict_a_resume_line_win():
    frames = experiment_frames(jobs=[job_row("job_1", resumed_from_step=10)], step_metrics=_steps("job_1", [8, 9]))

    (link,) = find_chain(frames).links

    assert link.restored_step == 7
    assert link.start_evidence == "the log names step 10 as restored, but the first block is step 8"


def test_a_loop_that_starts_at_zero_is_no_resume():
    events = [_event("job_1", 3, "fresh_start"), _event("job_1", 4, "loop_started", step=0)]

    (link,) = find_chain(
        experiment_frames(jobs=[job_row("job_1")], step_metrics=_steps("job_1", [1], first_block=1), job_events=events)
    ).links

    assert (link.start, link.restored_step) == ("fresh", 0)
    assert link.start_evidence == "line 3 says that training starts from scratch"


def test_a_log_that_begins_late_without_a_start_line_is_of_unknown_start():
    (link,) = find_chain(experiment_frames(jobs=[job_row("job_1")], step_metrics=_steps("job_1", [41, 42]))).links

    assert (link.start, link.restored_step) == ("unknown", 40)


def test_a_job_without_a_block_is_a_link_without_steps():
    (link,) = find_chain(experiment_frames(jobs=[job_row("job_1")])).links

    assert (link.rows, link.first_step, link.start, link.restored_step) == (0, None, "unknown", None)


def test_a_requeued_job_that_appends_to_its_log_is_two_links():
    blocks = _steps("job_1", [1, 2, 3]) + _steps("job_1", [3, 4], first_block=5)
    events = [_event("job_1", 450, "resume", step=2)]

    first, second = find_chain(experiment_frames(jobs=[job_row("job_1")], step_metrics=blocks, job_events=events)).links

    assert (first.attempt, first.last_step, second.attempt, second.first_step) == (0, 3, 1, 3)
    assert (second.start, second.restored_step, second.first_line) == ("resume", 2, 450)
    assert second.name == "job_1 (attempt 2)"


def test_an_experiment_without_jobs_has_no_links():
    assert find_chain(experiment_frames()).links == ()
