"""The marker at the start of a fully-async step."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import effective_batch
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline_tests.dialects.feeding import feed, message


def test_the_marker_tells_the_other_parsers_which_step_is_trained():
    context = JobContext("job_1")

    (row,) = feed(
        effective_batch, "Step 12: effective_batch=504 samples (63/64 groups), discard_rate=1.6%", context=context
    )

    assert (row.kind, row.step, row.value, context.step_marker) == ("step_marker", 12, 504.0, 12)


def test_a_cut_marker_moves_nothing():
    context = JobContext("job_1", step_marker=11)

    outcome = effective_batch.parser(context).parse(message("Step 12: effective_batch=50"))

    assert isinstance(outcome, Broken)
    assert context.step_marker == 11


@pytest.mark.parametrize("payload", ["Step 12: ", "Step 12: loss=0.1, grad_norm=0.5", "effective_batch=512 samples"])
def test_other_step_lines_are_not_markers(payload):
    assert effective_batch.parser(JobContext("job_1")).parse(message(payload)) is None
