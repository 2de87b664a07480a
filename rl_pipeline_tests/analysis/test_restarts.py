"""What starts and restarts cost."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.links import find_chain
from rl_pipeline.analysis.restarts import restart_costs
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, all_rows
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _costs(frames):
    chain = find_chain(frames)
    return restart_costs(all_rows(frames, chain), chain)


def _frames(seconds_by_job, reward=0.4):
    cells, jobs, step = [], [], 0
    for number, seconds in enumerate(seconds_by_job, 1):
        jobs.append(job_row(f"job_{number}", resumed_from_step=step or None))
        for block, value in enumerate(seconds):
            step += 1
            cells += block_rows(f"job_{number}", block, step, {STEP_SECONDS: value, REWARD: reward})
    return experiment_frames(jobs=jobs, step_metrics=cells)


def test_the_starts_of_the_published_run_cost_6207_seconds():
    costs = _costs(reference_frames())

    # source: analysis of the published run: excess of the first two steps over the median of the link
    assert [start.excess_seconds for start in costs.starts] == pytest.approx([972.0, 2866.6, 2368.8], abs=0.05)
    assert [start.is_restart for start in costs.starts] == [False, True, True]
    assert costs.all_starts_seconds == pytest.approx(6207, abs=0.5)
    assert costs.restarts_seconds == pytest.approx(5235, abs=0.5)
    assert costs.redone_seconds == pytest.approx(687.8, abs=0.05)
    assert (costs.all_starts_share, costs.redone_share) == pytest.approx((0.088, 0.0097), abs=5e-4)


def test_the_first_rewards_of_two_of_three_published_links_are_too_high():
    costs = _costs(reference_frames())
    bias = costs.reward_bias

    # source: analysis of the published run: mean .462 (n = 6) against .359, Welch .026, Mann–Whitney .004
    assert bias.mean_difference.value == pytest.approx(0.103, abs=5e-4)
    assert (bias.n_a, bias.n_b) == (6, 75)
    assert (bias.welch_p, bias.mann_whitney_p) == pytest.approx((0.026, 0.004), abs=5e-4)
    assert costs.biased_links == ("job_567548", "job_567551")
    assert [start.mean_reward for start in costs.starts] == pytest.approx([0.503, 0.364, 0.519], abs=5e-4)


def test_one_fresh_job_has_a_start_and_no_restart():
    costs = _costs(_frames([[300, 200, 100, 100, 100]]))

    assert (costs.all_starts_seconds, costs.restarts_seconds, costs.redone_seconds) == (300, 0, 0)


def test_a_link_without_settled_steps_has_no_median_to_compare_with():
    costs = _costs(_frames([[100, 100, 100], [500, 400]]))

    assert costs.starts[1].excess_seconds is None
    assert costs.starts[1].reason == "no step time in the first steps, or none after them"
    assert costs.restarts_seconds is None


def test_without_step_times_there_are_no_costs():
    cells = block_rows("job_1", 0, 1, {REWARD: 0.4})

    costs = _costs(experiment_frames(jobs=[job_row("job_1")], step_metrics=cells))

    assert (costs.all_starts_seconds, costs.restarts_seconds, costs.redone_seconds) == (None, None, None)
    assert _costs(experiment_frames()).starts == ()
