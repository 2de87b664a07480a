"""R6–R9 on small runs."""

from __future__ import annotations

import math

import pytest

from rl_pipeline_tests.helpers.small_runs import blocks, finding

ENTROPY, GRADIENT = "policy/policy_entropy", "policy/raw_grad_norm"
KL, LOG_RATIO = "policy/policy_kl", "policy/log_ratio_abs_mean"


def wavy(level: float, count: int, size: float = 0.05) -> list[float]:
    return [level * (1 + size * math.sin(place)) for place in range(count)]


def entropy(*values: float) -> str:
    return finding("R6", step_metrics=blocks({ENTROPY: [*values]})).status


def test_entropy_that_wavers_by_a_twentieth_is_clear():
    assert entropy(*wavy(0.3, 40)) == "clear"


def test_entropy_that_drifts_to_half_over_a_run_is_clear():
    assert entropy(*(0.4 * 0.5 ** (place / 60) for place in range(60))) == "clear"


def test_two_steps_far_below_the_window_are_a_collapse():
    found = finding("R6", step_metrics=blocks({ENTROPY: [*wavy(0.3, 20), 0.15, 0.15]}))

    assert (found.status, found.title) == ("fired", "Entropy collapse")
    assert found.evidence[1].step_range == (21, 22)


def test_two_steps_far_above_the_window_are_a_burst():
    found = finding("R6", step_metrics=blocks({ENTROPY: [*wavy(0.3, 20), 0.5, 0.5]}))

    assert (found.status, found.title) == ("fired", "Entropy burst")


def test_one_step_off_is_no_collapse():
    assert entropy(*wavy(0.3, 20), 0.15, *wavy(0.3, 5)) == "clear"


def test_a_slow_fall_below_a_quarter_of_the_start_is_a_collapse():
    assert entropy(*(0.4 * 0.15 ** (place / 60) for place in range(61))) == "fired"


def test_a_short_run_has_no_window():
    assert entropy(*wavy(0.3, 6)) == "not_measurable"


def test_entropy_below_print_precision_says_nothing():
    assert entropy(*([0.0] * 30)) == "not_measurable"


def gradient(*values: float) -> str:
    return finding("R7", step_metrics=blocks({GRADIENT: [*values]})).status


def test_two_steps_at_six_times_the_window_fire():
    assert gradient(*wavy(0.1, 20), 0.6, 0.6, *wavy(0.1, 5)) == "fired"


def test_twice_the_window_fires_only_above_one():
    assert gradient(*wavy(0.1, 20), 0.25, 0.25, *wavy(0.1, 5)) == "clear"
    assert gradient(*wavy(0.6, 20), 1.4, 1.4, *wavy(0.6, 5)) == "fired"


def test_a_single_spike_is_a_note():
    found = finding("R7", step_metrics=blocks({GRADIENT: [*wavy(0.1, 20), 0.9, *wavy(0.1, 9)]}))

    assert found.status == "clear"
    assert "Step 21" in found.notes[0]


def test_gradients_of_a_sequence_normalised_loss_are_small_and_healthy():
    assert gradient(*wavy(1e-5, 40)) == "clear"


def test_a_spike_that_lasts_to_the_end_is_of_high_severity():
    found = finding("R7", step_metrics=blocks({GRADIENT: [*wavy(0.1, 20), 0.9, 0.9, 0.9]}))

    assert (found.status, found.severity) == ("fired", "high")


def test_a_gradient_that_is_not_a_number_is_of_high_severity():
    found = finding("R7", step_metrics=blocks({GRADIENT: [*wavy(0.1, 20), math.nan, 0.1]}))

    assert (found.status, found.severity, found.title) == ("fired", "high", "Gradient is not finite")
    assert found.evidence[0].step_range == (21, 21)


def test_a_gradient_that_fades_away_has_vanished():
    found = finding("R7", step_metrics=blocks({GRADIENT: [*wavy(0.1, 15), *wavy(1e-4, 15)]}))

    assert (found.status, found.title) == ("fired", "Gradient vanished")


def test_a_spike_soon_after_a_restart_is_judged_by_the_steps_before_it():
    before = blocks({GRADIENT: wavy(0.1, 20)})
    after = blocks({GRADIENT: [0.1, 0.1, 0.9, 0.9, 0.1]}, job="job_2", first_step=21)
    jobs = [{"job": job, "path": job, "experiment": "e", "end_state": "unknown", "cut_tail": False, "nul_bytes": 0,
             "undecodable_bytes": 0, "lines": 1} for job in ("job_1", "job_2")]  # fmt: skip

    found = finding("R7", step_metrics=[*before, *after], jobs=jobs)

    assert (found.status, found.evidence[1].step_range) == ("fired", (23, 24))


def test_kl_that_grows_fivefold_past_the_floor_fires():
    found = finding("R8", step_metrics=blocks({KL: [*wavy(0.01, 30), *([0.2] * 5)]}))

    assert found.status == "fired"
    assert found.missing == (f"{LOG_RATIO} is not logged",)


def test_kl_that_grows_below_the_floor_is_clear():
    assert finding("R8", step_metrics=blocks({KL: [*wavy(0.001, 30), *([0.03] * 5)]})).status == "clear"


def test_log_ratios_twice_their_window_fire():
    assert finding("R8", step_metrics=blocks({LOG_RATIO: [*wavy(0.02, 20), 0.06, 0.06]})).status == "fired"


@pytest.mark.parametrize(
    "benign",
    [
        {LOG_RATIO: wavy(0.08, 30), "policy/log_ratio_abs_max": [4.5] * 30},
        {LOG_RATIO: wavy(0.01, 30), "policy/rollout_train_prob_diff_mean": [250.0] * 30},
    ],
    ids=["a large log-ratio of one token", "a huge difference of rollout and training probabilities"],
)
def test_what_is_known_to_be_benign_does_not_fire(benign: dict[str, list[float]]):
    assert finding("R8", step_metrics=blocks(benign)).status == "clear"


def test_zeros_by_construction_say_nothing_about_log_ratios():
    found = finding("R8", step_metrics=blocks({LOG_RATIO: [0.0] * 30, "policy/policy_update_steps": [1.0] * 30}))

    assert found.status == "not_measurable"
    assert "by construction" in " ".join(found.missing)


def test_a_clip_fraction_of_two_percent_fires():
    assert finding("R9", step_metrics=blocks({"policy/ppo_clip_ratio": [0.02] * 12})).status == "fired"


def test_zeros_with_several_updates_are_measured():
    series = {"policy/ppo_clip_ratio": [0.0] * 12, "policy/policy_update_steps": [4.0] * 12}

    assert finding("R9", step_metrics=blocks(series)).status == "clear"


def test_an_importance_ratio_that_was_always_low_is_the_runs_own():
    steady, moved = [0.79] * 30, [*([1.0] * 15), *([0.7] * 15)]

    assert finding("R9", step_metrics=blocks({"tis/imp_ratio_mean": steady})).status == "clear"
    assert finding("R9", step_metrics=blocks({"tis/imp_ratio_mean": moved})).status == "fired"


def test_the_newer_names_are_read_too():
    assert finding("R7", step_metrics=blocks({"policy/grad_norm": [*wavy(0.1, 20), 0.9, 0.9]})).status == "fired"
    assert finding("R9", step_metrics=blocks({"policy/loss_metrics/clip_ratio": [0.02] * 12})).status == "fired"
