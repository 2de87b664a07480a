"""How links end, and deaths that repeat."""

from __future__ import annotations

from rl_pipeline.analysis.lineage import find_lineage
from rl_pipeline.analysis.series import REWARD
from rl_pipeline.schema import JobEvent
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row


def _lineage(*jobs):
    """Jobs given as (columns of the job, crashes (kind, type, detail) or None …); each trains one step."""
    heads, rows, events = [], [], []
    for number, (columns, *crashes) in enumerate(jobs, 1):
        job = f"job_{number}"
        heads.append(job_row(job, resumed_from_step=number - 1 or None, **columns))
        rows += block_rows(job, 0, number, {REWARD: 0.1})
        for line, crash in enumerate((crash for crash in crashes if crash), 90):
            kind, name, detail = crash
            events.append(JobEvent(job=job, line=line, byte_offset=0, kind=kind, name=name, detail=detail))
    return find_lineage(experiment_frames(jobs=heads, step_metrics=rows, job_events=events))


FAILED = {
    "end_state": "failed",
    "end_evidence": "srun: error: node7: task 0: Exited with exit code 1",
    "end_line": 99,
    "end_byte": 5000,
}


def test_an_ending_keeps_state_evidence_and_crash():
    (end,) = _lineage((FAILED, ("failure", "ValueError", "Train loop failed at global_step 12: ValueError"))).endings

    assert (end.state, end.line, end.byte_offset) == ("failed", 99, 5000)
    assert end.evidence == "srun: error: node7: task 0: Exited with exit code 1"
    assert (end.crash, end.crash_line, end.succeeded_by) == ("ValueError", 90, None)


def test_the_same_crash_with_other_numbers_is_the_same_death():
    first = ("failure", "ValueError", "Train loop failed at global_step 12: bad shape 0x7f12")
    second = ("failure", "ValueError", "Train loop failed at global_step 31: bad shape 0x8a00")

    (death,) = _lineage((FAILED, first), (FAILED, second)).repeated_deaths

    assert death.jobs == ("job_1", "job_2")
    assert death.signature == "ValueError: Train loop failed at global_step #: bad shape #"


def test_the_last_own_frame_of_a_traceback_is_the_place_of_death():
    detail = "app/skyrl_train/trainer.py:812 in train — shapes do not match"

    (end,) = _lineage((FAILED, ("driver_traceback", "ValueError", detail))).endings

    assert end.signature == "ValueError in trainer.py:train"


def test_the_trainers_own_words_borrow_the_place_from_the_traceback():
    failure = ("failure", "ValueError", "Train loop failed at global_step 12: ValueError")
    traceback = ("driver_traceback", "ValueError", "app/trainer.py:812 in train — shapes do not match")

    (end,) = _lineage((FAILED, traceback, failure)).endings

    assert (end.crash_detail, end.signature) == (failure[2], "ValueError in trainer.py:train")


def test_a_node_failure_twice_in_a_row_is_a_repeated_death():
    node = {"end_state": "node_failure"}

    assert [d.signature for d in _lineage((node, None), (node, None)).repeated_deaths] == ["node_failure"]


def test_time_limits_and_cancellations_are_no_deaths():
    limit, cancel = {"end_state": "time_limit"}, {"end_state": "cancelled"}

    lineage = _lineage((limit, None), (limit, None), (cancel, None), (cancel, None))

    assert lineage.repeated_deaths == ()
    assert [end.signature for end in lineage.endings] == [None] * 4
    assert [end.succeeded_by for end in lineage.endings] == ["job_2", "job_3", "job_4", None]


def test_an_ordinary_end_between_two_equal_deaths_breaks_the_run():
    crash = ("failure", "ValueError", "x")

    assert _lineage((FAILED, crash), ({"end_state": "time_limit"}, None), (FAILED, crash)).repeated_deaths == ()


def test_a_crash_line_of_a_job_that_ended_well_is_no_signature():
    (end,) = _lineage(({"end_state": "completed"}, ("traceback", "TimeoutError", "handled"))).endings

    assert (end.crash, end.signature) == ("TimeoutError", None)


def test_an_attempt_followed_by_another_in_the_same_log_was_requeued():
    rows = [row for block, step in enumerate((1, 2)) for row in block_rows("job_1", block, step, {REWARD: 0.1})]
    again = block_rows("job_1", 5, 2, {REWARD: 0.7})

    first, second = find_lineage(
        experiment_frames(jobs=[job_row("job_1", end_state="completed")], step_metrics=[*rows, *again])
    ).endings

    assert (first.state, second.state) == ("requeued", "completed")
