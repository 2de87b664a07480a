"""Every metric in one line, with what the catalogue says about it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.metric_overview import metric_overview, thinned
from rl_pipeline.analysis.series import canonical_steps
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row


def test_numbers_are_over_the_steps_that_have_the_metric():
    rows = [
        *block_rows("job_1", 1, 1, {"policy/policy_entropy": 0.5, "own/metric": 1.0}),
        *block_rows("job_1", 2, 2, {"policy/policy_entropy": 0.3, "own/metric": float("nan")}),
        *block_rows("job_1", 3, 3, {"policy/policy_entropy": 0.1}),
    ]
    own, entropy = metric_overview(canonical_steps(experiment_frames(jobs=[job_row("job_1")], step_metrics=rows)))

    assert (entropy.unit, entropy.n, entropy.of_steps) == ("nats", 3, 3)
    assert (entropy.first, entropy.last, entropy.minimum, entropy.maximum) == (0.5, 0.1, 0.1, 0.5)
    assert (own.meaning, own.unit, own.n, own.not_finite, own.std) == (None, None, 1, 1, None)


@given(st.lists(st.floats(-1e6, 1e6), max_size=300))
def test_a_thinned_course_stays_within_its_values_and_loses_none(values: list[float]):
    course = thinned(np.array(values), points=40)

    assert len(course) == min(40, len(values))
    if values:
        assert min(values) - 1e-6 <= min(course) <= max(course) <= max(values) + 1e-6
