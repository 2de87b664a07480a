"""Batch lines of the terminal-bench generator."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import rollout_batches
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.schema import Unparsed
from rl_pipeline_tests.dialects.feeding import OTHER, feed, message, values

TRAINING = "Starting batch generation for 8 trials (mode=training)"
EVALUATION = "Starting batch generation for 8 trials (mode=eval (nightly (a)))"
DONE = "Batch generation complete: 8/8 successful, 0 failed instances, 0 masked (excluded from baseline)"
FAILED = "Batch generation complete: 6/8 successful, 1 failed instances, 1 masked (excluded from baseline)"
BREAKDOWN = "Exception breakdown: {'AgentTimeoutError': 1, 'DaytonaError': 1}"


def test_the_oldest_form_has_no_masked_count():
    (row,) = feed(rollout_batches, "Batch generation complete: 5/8 successful, 2 failed instances")

    assert (row.successful, row.total, row.failed_groups, row.masked, row.mode) == (5, 8, 2, None, None)


def test_a_breakdown_belongs_to_the_next_completion_of_its_process():
    rows = feed(
        rollout_batches,
        message(BREAKDOWN, line=1),
        message(DONE, line=2, source=OTHER),
        message(FAILED, line=3),
        message(DONE, line=4),
    )

    assert values(rows, "line", "exceptions") == [(2, {}), (3, {"AgentTimeoutError": 1, "DaytonaError": 1}), (4, {})]


def test_a_breakdown_without_a_completion_is_reported():
    rows = feed(rollout_batches, message(BREAKDOWN, line=5), message(BREAKDOWN, line=6), message(FAILED, line=7))

    assert [type(row) is Unparsed for row in rows] == [True, False]
    assert rows[0].line == 5


@pytest.mark.parametrize(
    "text",
    ["{'A': 'x'}", "{'A': True}", "{1: 2}", "[1]", "{'A': 1", "{'A': -1}", "{'A': 1}{", "{'A': 99999999999999999999}"],
)
def test_a_breakdown_that_is_no_dict_of_counts_is_broken(text):
    outcome = rollout_batches.parser(JobContext("job_1")).parse(message(f"Exception breakdown: {text}"))

    assert isinstance(outcome, Broken)


def test_the_mode_is_that_of_the_outstanding_batches():
    rows = feed(rollout_batches, EVALUATION, DONE, TRAINING, TRAINING, DONE, DONE)

    assert values(rows, "mode") == [("eval",), ("training",), ("training",)]


def test_the_mode_is_unknown_while_batches_of_both_modes_are_outstanding():
    rows = feed(rollout_batches, TRAINING, EVALUATION, DONE, DONE, TRAINING, DONE)

    assert values(rows, "mode") == [(None,), (None,), ("training",)]


def test_a_batch_of_another_size_does_not_blur_the_mode():
    evaluation = "Starting batch generation for 64 trials (mode=eval (nightly))"

    rows = feed(rollout_batches, evaluation, TRAINING, DONE)

    assert values(rows, "mode") == [("training",)]


def test_the_end_of_an_evaluation_settles_the_mode_again():
    context = JobContext("job_1")
    parser = rollout_batches.parser(context)
    for payload in (TRAINING, TRAINING, EVALUATION, DONE):
        parser.parse(message(payload))
    context.evaluations_ended += 1

    outcome = parser.parse(message(DONE))

    assert isinstance(outcome, tuple)
    assert values(outcome, "mode") == [("training",)]


def test_a_completion_whose_start_was_not_seen_has_the_only_mode_of_the_log():
    rows = feed(rollout_batches, DONE, TRAINING, DONE, DONE)

    assert values(rows, "mode") == [(None,), ("training",), ("training",)]


def test_a_folded_completion_settles_as_many_batches():
    rows = feed(
        rollout_batches,
        message(TRAINING, repeat_count=3),
        message(DONE, repeat_count=3),
        message(EVALUATION),
        message(DONE),
    )

    assert values(rows, "mode", "repeat_count") == [("training", 3), ("eval", 1)]


def test_the_last_step_text_is_kept():
    context = JobContext("job_1", step_marker=12)

    (row,) = feed(rollout_batches, DONE, context=context)

    assert row.since_step_marker == 12


@pytest.mark.parametrize(
    "payload",
    [
        "Batch generation complete: 9/8 successful, 0 failed instances",
        "Batch generation complete: 5/8 successful, 1 failed insta",
        "Starting batch generation for",
    ],
)
def test_a_line_that_cannot_be_right_is_broken(payload):
    assert isinstance(rollout_batches.parser(JobContext("job_1")).parse(message(payload)), Broken)
