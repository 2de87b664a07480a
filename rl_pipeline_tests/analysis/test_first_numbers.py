"""The five numbers: each with its interval and population, or with the reason why it is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.first_numbers import block_ratio, first_numbers
from rl_pipeline.analysis.series import canonical_steps
from rl_pipeline.analysis.summary import analyse_experiment
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


def test_the_published_run_in_five_numbers():
    result = reference_result()
    numbers = {n.name: n for n in first_numbers(result, canonical_steps(reference_frames()), result.trials.tasks)}
    values = {name: number.estimate.value for name, number in numbers.items()}

    # source: trailing mean .3774 of ten steps; 16,178 of 36,998 scored; wait 58.2 % of step time of the 80 steps
    # that count; 7,528 of 44,526 unscored; 3600 ÷ mean step time 874.9 s
    assert values["reward"] == pytest.approx(0.37735, abs=5e-5)
    assert values["solved"] == pytest.approx(16_178 / 36_998)
    assert values["wait"] == pytest.approx(0.582, abs=5e-4)
    assert values["unscored"] == pytest.approx(7_528 / 44_526)
    assert values["speed"] == pytest.approx(4.11, abs=0.01)
    for number in numbers.values():
        assert number.estimate.lower is not None
        assert number.estimate.lower <= (number.estimate.value or 0) <= (number.estimate.upper or 0)


def test_what_the_inputs_lack_is_said():
    frames = experiment_frames(
        jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 1, 1, {"policy/policy_entropy": 0.5})
    )
    numbers = first_numbers(analyse_experiment(frames), canonical_steps(frames), None)

    assert [number.estimate.value for number in numbers] == [None] * 5
    assert all(number.estimate.reason for number in numbers)


def test_in_a_synchronous_run_generation_stands_in_the_place_of_the_wait():
    rows = [
        row
        for step in range(1, 13)
        for row in block_rows("job_1", step, step, {"timing/step": 100.0, "timing/generate": 60.0})
    ]
    frames = experiment_frames(jobs=[job_row("job_1")], step_metrics=rows)
    wait = first_numbers(analyse_experiment(frames), canonical_steps(frames), None)[2]

    assert wait.label == "Generating"
    assert wait.estimate.value == pytest.approx(0.6)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(1, 1_000)), min_size=10, max_size=60))
def test_a_ratio_lies_between_the_ratios_of_its_steps(pairs: list[tuple[float, float]]):
    part, whole = (np.array(column) for column in zip(*pairs, strict=True))
    estimate = block_ratio(part, whole, population="steps")
    ratios = part / whole

    assert estimate.lower is not None
    assert estimate.upper is not None
    assert min(ratios) - 1e-9 <= estimate.lower <= estimate.upper <= max(ratios) + 1e-9


def test_few_steps_have_a_value_and_no_interval():
    estimate = block_ratio(np.ones(9), np.full(9, 2.0), population="steps")

    assert (estimate.value, estimate.lower, estimate.upper) == (0.5, None, None)
    assert estimate.reason == "fewer than 10 steps, no interval"
