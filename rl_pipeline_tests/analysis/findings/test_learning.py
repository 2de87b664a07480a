"""R12, R19, R26–R28, R33, R37: rules on rewards."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rl_pipeline_tests.helpers.small_runs import blocks, finding, trial_rows

REWARD = "reward/avg_raw_reward"


def noisy(values: list[float], size: float = 0.03) -> list[float]:
    noise = np.random.default_rng(4).normal(0, size, len(values))
    return [float(value + error) for value, error in zip(values, noise, strict=True)]


def line(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * place / (count - 1) for place in range(count)]


def test_a_rise_well_above_the_noise_is_clear():
    assert finding("R26", step_metrics=blocks({REWARD: noisy(line(0.3, 0.6, 60))})).status == "clear"


def test_no_rise_is_told_with_the_smallest_gain_the_run_could_show():
    found = finding("R26", step_metrics=blocks({REWARD: noisy([0.4] * 60)}))

    assert (found.status, found.severity) == ("fired", "high")
    assert "The run could show a gain of ≥" in found.summary


def test_a_decline_is_called_one():
    found = finding("R26", step_metrics=blocks({REWARD: noisy(line(0.6, 0.3, 60))}))

    assert (found.status, found.title) == ("fired", "Reward declines")


def test_a_run_too_noisy_to_show_anything_is_of_medium_severity():
    found = finding("R26", step_metrics=blocks({REWARD: noisy([0.2] * 40, size=0.08)}))

    assert (found.status, found.severity) == ("fired", "medium")


def test_twenty_nine_settled_steps_are_too_few_for_a_trend():
    found = finding("R26", step_metrics=blocks({REWARD: noisy([0.4] * 31)}))

    assert (found.status, found.n) == ("not_measurable", 29)


def test_a_reward_that_falls_to_nothing_has_collapsed():
    found = finding("R27", step_metrics=blocks({REWARD: [0.4] * 20 + [0.01] * 10}))

    assert (found.status, found.severity) == ("fired", "critical")


def test_ten_steps_of_zero_from_the_start_are_a_collapse():
    assert finding("R27", step_metrics=blocks({REWARD: [0.0] * 10})).status == "fired"
    assert finding("R27", step_metrics=blocks({REWARD: [0.0] * 9})).status == "not_measurable"


def test_the_last_hundred_scored_trials_decide_by_their_end():
    early_good = trial_rows([1.0] * 200 + [0.0] * 100)
    early_bad = trial_rows([0.0] * 200 + [1.0] * 100)

    assert finding("R27", trials=early_good).status == "fired"
    assert finding("R27", trials=early_bad).status == "clear"


def test_tasks_that_were_always_hard_are_no_collapse():
    rewards = [1.0 if place % 16 == 0 else 0.0 for place in range(400)]

    found = finding("R27", step_metrics=blocks({REWARD: line(0.04, 0.08, 30)}), trials=trial_rows(rewards))

    assert (found.status, found.severity, found.title) == ("fired", "high", "Few trials are solved")


def test_a_solve_rate_that_fell_is_a_collapse_even_when_the_mean_fell_less():
    found = finding(
        "R27", step_metrics=blocks({REWARD: line(0.5, 0.2, 30)}), trials=trial_rows([1.0] * 200 + [0.0] * 100)
    )

    assert (found.status, found.severity) == ("fired", "critical")


def test_no_trial_after_a_quarter_of_an_hour_of_long_episodes_says_nothing():
    found = finding("R27", step_metrics=[], trials=[])

    assert found.status == "not_measurable"


PASS = "reward/avg_pass_at_8"
GROUPS = "async/effective_batch_groups"


def test_groups_are_modelled_from_mean_and_pass_at_k():
    found = finding("R12", step_metrics=blocks({REWARD: [0.3679] * 8, PASS: [0.523] * 8, GROUPS: [64.0] * 8}))

    # source: beta-binomial with a = .125, b = .215
    assert (found.status, found.severity) == ("fired", "medium")
    assert "≈ 30 % mixed" in found.summary


def test_groups_of_trial_files_go_before_the_model():
    rewards = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] * 60
    tasks = [f"task-{place // 8}" for place in range(480)]

    found = finding(
        "R12", step_metrics=blocks({REWARD: [0.125] * 8, PASS: [0.99] * 8}), trials=trial_rows(rewards, tasks=tasks)
    )

    assert found.status == "clear"
    assert "100.0 % of 60 groups of 8 are mixed" in found.summary


def test_trial_files_that_contradict_the_log_are_not_used():
    rewards = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] * 60
    tasks = [f"task-{place // 8}" for place in range(480)]

    found = finding(
        "R12", step_metrics=blocks({REWARD: [0.3679] * 8, PASS: [0.523] * 8}), trials=trial_rows(rewards, tasks=tasks)
    )

    assert found.status == "fired"
    assert "pass@8 1.000, the log 0.523" in found.notes[0]


def test_a_tenth_unscored_is_told_with_both_rates():
    found = finding(
        "R19", step_metrics=blocks({REWARD: [0.36] * 8}), trials=trial_rows(([None] + [1.0, 0.0, 1.0] * 3) * 40)
    )

    assert (found.status, found.severity) == ("fired", "high")
    assert "10.0 %" in found.summary
    assert "bounds over all trials 0.600–0.700" in found.summary


def test_when_every_sample_is_scored_the_mean_is_clean():
    assert finding("R19", trials=trial_rows([1.0, 0.0] * 100)).status == "clear"


def test_a_small_share_that_changes_over_the_run_fires():
    rewards = [None if place >= 900 and place % 8 == 0 else 1.0 for place in range(1000)]

    found = finding("R19", trials=trial_rows(rewards))

    assert found.status == "fired"
    assert "1.2 %" in found.summary


def test_pass_at_k_that_fits_fewer_groups_shows_repeated_prompts():
    values = [0.5] * 8 + [0.6226]

    found = finding("R28", step_metrics=blocks({PASS: values, GROUPS: [64.0] * 9}))

    # source: 33/53 = .62264, no n/64 rounds to .6226
    assert found.status == "fired"
    assert "9 (33/53)" in found.summary


def test_partial_credit_is_a_note():
    found = finding("R28", step_metrics=blocks({PASS: [0.5] * 9, GROUPS: [64.0] * 9}), trials=trial_rows([0.5] * 20))

    assert found.status == "clear"
    assert "20 of 20 scored trials have partial credit" in found.notes[0]


def test_one_token_responses_matter_only_with_unscored_trials():
    series = {"generate/min_num_tokens": [1.0] * 8, "generate/avg_num_tokens": [900.0] * 8}
    unscored = trial_rows([None, 1.0, 0.0, 1.0, 0.0] * 40)

    fired = finding("R33", step_metrics=blocks(series), trials=unscored)
    clear = finding("R33", step_metrics=blocks(series), trials=trial_rows([1.0, 0.0] * 100))

    assert (fired.status, clear.status) == ("fired", "clear")
    assert "≈ 1,125" in fired.summary  # (900 − .2) ÷ .8


def test_a_checkpoint_is_always_chosen_where_there_are_rewards():
    found = finding("R37", step_metrics=blocks({REWARD: line(0.2, 0.6, 20)}))

    assert (found.status, found.severity) == ("fired", "info")
    assert found.summary.startswith("Step 20 ")


def test_the_choice_of_a_collapsed_run_carries_a_warning():
    found = finding("R37", step_metrics=blocks({REWARD: [0.4] * 20 + [0.01] * 10}))

    assert "before the fall" in found.notes[0]


@pytest.mark.parametrize("rule", ["R26", "R27", "R37", "R12", "R28"])
def test_rewards_that_are_not_numbers_are_missing(rule: str):
    found = finding(rule, step_metrics=blocks({REWARD: [math.nan] * 40, PASS: [math.nan] * 40}))

    assert found.status == "not_measurable"
