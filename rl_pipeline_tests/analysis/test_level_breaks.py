"""Restarts as known breaks."""

from __future__ import annotations

import numpy as np
import pytest

from rl_pipeline.analysis.level_breaks import level_breaks
from rl_pipeline.analysis.series import REWARD, canonical_steps
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def test_the_level_of_the_published_run_is_higher_after_its_second_restart():
    _, second = level_breaks(canonical_steps(reference_frames())).at_restarts

    # source: analysis of the published run: .348 up to step 50, .380 after, Welch p = .013
    assert (second.a, second.b) == ("from step 51", "before step 51")
    assert second.mean_difference.value == pytest.approx(0.032, abs=5e-4)
    assert second.welch_p == pytest.approx(0.013, abs=5e-4)


def test_a_change_inside_a_link_is_found_there():
    values = np.random.default_rng(1).normal(0.4, 0.01, 40)
    values[25:] += 0.2
    cells = [row for i, v in enumerate(values) for row in block_rows("job_1", i, i + 1, {REWARD: v})]

    breaks = level_breaks(canonical_steps(experiment_frames(jobs=[job_row("job_1")], step_metrics=cells)))

    assert breaks.at_restarts == ()
    assert breaks.within_links["job_1"].after_step == 25
    assert present(breaks.within_links["job_1"].p_value) < 0.001
    assert present(present(breaks.last_against_first).mean_difference.value) > 0.15


def test_without_steps_there_are_no_breaks():
    breaks = level_breaks(canonical_steps(experiment_frames()))

    assert (breaks.at_restarts, breaks.within_links, breaks.last_against_first) == ((), {}, None)
