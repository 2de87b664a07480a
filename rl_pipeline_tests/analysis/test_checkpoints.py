"""Which checkpoint to keep."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from rl_pipeline.analysis.checkpoints import choose_checkpoint, ema, reward_collapse
from rl_pipeline.analysis.series import REWARD, canonical_steps
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames

# source: analysis of the published run, moving average at every fifth step
PUBLISHED = {
    5: 0.4259, 10: 0.3782, 15: 0.3267, 20: 0.3138, 25: 0.3293, 30: 0.3371, 35: 0.3756, 40: 0.3564,
    45: 0.3588, 50: 0.3313, 55: 0.3647, 60: 0.3832, 65: 0.3562, 70: 0.3934, 75: 0.3572, 80: 0.3662,
}  # fmt: skip


def _rows(rewards):
    cells = [row for i, r in enumerate(rewards) for row in block_rows("job_1", i, i + 1, {REWARD: r})]
    return canonical_steps(experiment_frames(jobs=[job_row("job_1")], step_metrics=cells))


def test_step_70_of_the_published_run_is_chosen():
    choice = choose_checkpoint(canonical_steps(reference_frames()))

    # source: analysis of the published run; the published model is the one of step 70
    assert (choice.step, round(present(choice.ema), 4), choice.reward) == (70, 0.3934, 0.3359)
    assert {c.global_step: round(present(c.ema), 4) for c in choice.candidates} == PUBLISHED
    assert [c.global_step for c in choice.candidates if c.excluded] == [5]
    assert choice.standard_error == pytest.approx(0.0229, abs=5e-5)
    assert choice.warning is None


def test_the_next_best_of_the_published_run_can_not_be_told_apart():
    choice = choose_checkpoint(canonical_steps(reference_frames()))

    # source: analysis of the published run: 60, 10, 35 and 80; step 55 lies within the error of a difference too
    assert choice.tied_steps == (60, 10, 35, 80, 55)
    assert choice.difference_error == pytest.approx(0.0324, abs=5e-5)


def test_the_first_seen_version_of_step_9_changes_step_10_and_not_the_choice():
    rows = canonical_steps(reference_frames())
    rows = rows.assign(**{REWARD: rows[REWARD].where(rows["global_step"] != 9, 0.2812)})

    choice = choose_checkpoint(rows)

    assert choice.step == 70
    # source: analysis of the published run, first seen wins
    assert round(present({c.global_step: c.ema for c in choice.candidates}[10]), 4) == 0.3647


def test_only_what_is_on_disk_can_be_chosen():
    choice = choose_checkpoint(canonical_steps(reference_frames()), on_disk=[5, 60, 75, 80])

    assert (choice.step, choice.tied_steps) == (60, (80, 75))
    assert {c.global_step: c.excluded for c in choice.candidates}[70] == "not on disk"


def test_checkpoints_at_other_steps_are_judged_where_no_multiple_of_five_is_on_disk():
    choice = choose_checkpoint(canonical_steps(reference_frames()), on_disk=[8, 16, 71])

    assert [c.global_step for c in choice.candidates] == [8, 16, 71]
    assert (choice.step, choice.tied_steps) == (8, (71, 16))


def test_the_first_five_steps_of_a_chain_that_starts_late_are_too_young():
    cells = [row for i in range(20) for row in block_rows("job_1", i, 41 + i, {REWARD: 0.4})]

    choice = choose_checkpoint(canonical_steps(experiment_frames(jobs=[job_row("job_1")], step_metrics=cells)))

    assert [c.global_step for c in choice.candidates if c.excluded] == [45]
    assert choice.step == 60


def test_nothing_on_disk_leaves_nothing_to_choose():
    choice = choose_checkpoint(canonical_steps(reference_frames()), on_disk=[])

    assert (choice.step, choice.reason, choice.last_step) == (None, "no checkpoint that could be chosen", 80)


def test_the_average_agrees_with_that_of_pandas():
    values = np.random.default_rng(2).random(30)

    assert ema(values, alpha=1 / 3).tolist() == pytest.approx(
        pd.Series(values).ewm(alpha=1 / 3, adjust=False).mean().tolist()
    )


def test_a_missing_reward_repeats_the_average():
    assert ema(np.array([math.nan, 0.3, math.nan, 0.6]), alpha=0.5).tolist()[1:] == pytest.approx([0.3, 0.3, 0.45])


def test_a_collapsed_run_gets_a_warning_and_a_checkpoint_from_before():
    rewards = [0.3 + 0.01 * (i % 3) for i in range(30)] + [0.001] * 20

    choice = choose_checkpoint(_rows(rewards))

    assert choice.step is not None
    assert choice.step <= 30
    assert present(choice.warning).startswith("the mean reward of the last 10 steps is under 10% of the best ones")


def test_what_a_rule_says_about_a_collapse_goes_before():
    assert choose_checkpoint(_rows([0.3] * 12), collapse="the entropy is gone").warning == "the entropy is gone"


def test_a_reward_of_zero_throughout_is_a_collapse():
    assert reward_collapse(np.zeros(12)) == "every reward is 0"
    assert reward_collapse(np.zeros(9)) is None


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_short_runs_have_no_checkpoint_to_choose(n):
    choice = choose_checkpoint(_rows([0.4] * n))

    assert (choice.step, choice.ema, choice.tied_steps) == (None, None, ())
    assert choice.reason is not None


def test_the_last_step_that_was_saved_is_a_candidate_whatever_it_is_a_multiple_of():
    steps = _rows([0.1] * 20 + [0.9] * 4)

    assert [c.global_step for c in choose_checkpoint(steps).candidates] == [5, 10, 15, 20]
    choice = choose_checkpoint(steps, last_saved=24)
    assert [c.global_step for c in choice.candidates] == [5, 10, 15, 20, 24]
    assert choice.step == 24
    assert choose_checkpoint(steps, last_saved=99) == choose_checkpoint(steps)
