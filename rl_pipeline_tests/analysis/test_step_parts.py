"""Parts of a step do not overlap and add up to it."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.series import all_rows
from rl_pipeline.analysis.step_parts import MAX_BARS, UNATTRIBUTED, StepPart, step_parts
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def parts_of(*steps: dict[str, float]) -> tuple[StepPart, ...]:
    rows = [row for number, step in enumerate(steps, 1) for row in block_rows("job_1", number, number, step)]
    return step_parts(all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=rows)))


def test_a_timer_inside_another_is_no_part():
    parts = parts_of({"timing/step": 10.0, "timing/run_training": 6.0, "timing/policy_train": 5.0})

    assert [(p.part, p.seconds) for p in parts] == [("run_training", 6.0), (UNATTRIBUTED, 4.0)]


def test_parts_of_every_step_of_the_published_run_add_up():
    rows = all_rows(reference_frames())
    sums: dict[tuple[str, int], float] = {}
    for part in step_parts(rows):
        sums[part.job, part.step] = sums.get((part.job, part.step), 0.0) + part.seconds

    for job, step, seconds in rows[["job", "global_step", "timing/step"]].itertuples(index=False):
        assert sums[job, step] == pytest.approx(seconds, abs=0.01)


def test_a_long_run_is_put_into_bins_of_mean_seconds():
    parts = parts_of(*[{"timing/step": 10.0}] * (MAX_BARS + 1))

    assert len(parts) <= MAX_BARS
    assert {p.seconds for p in parts} == {10.0}
    assert sum(p.steps for p in parts) == MAX_BARS + 1


def test_a_run_without_step_times_has_no_parts():
    assert parts_of({"timing/run_training": 6.0}) == ()
