"""The catalogue answers for names as trainers log them."""

from __future__ import annotations

import pytest

from rl_pipeline.metric_catalog import (
    ASYNC_MARIN,
    ASYNC_UPSTREAM,
    CATALOG,
    CONTAINERS,
    EXPECTED_KEYS,
    FORMS,
    OUTSIDE_STEP,
    RENAMED,
    SYNC_UPSTREAM,
    canonical_name,
    container_of,
    describe,
    missing_keys,
    recognised_form,
)
from rl_pipeline.units import Unit


@pytest.mark.parametrize(
    ("metric", "name", "unit", "better"),
    [
        ("reward/avg_raw_reward", "reward/avg_raw_reward", Unit.REWARD, "higher"),
        ("reward/avg_pass_at_8", "reward/avg_pass_at_{n}", Unit.FRACTION, "higher"),
        ("policy/policy_kl", "policy/policy_kl", Unit.NATS, None),
        ("policy/log_ratio_abs_pos40", "policy/log_ratio_abs_pos{n}", Unit.NATS, None),
        ("policy/log_ratio_abs_p99", "policy/log_ratio_abs_p{n}", Unit.NATS, None),
        ("generate/errors/AgentTimeoutError", "generate/errors/{x}", Unit.ONE, "lower"),
        ("async/rejected_count/too/old", "async/rejected_count/{*}", Unit.ONE, "lower"),
        ("eval/some_set/avg_score", "eval/{*}/avg_score", Unit.REWARD, "higher"),
        ("eval/all/generate/avg_num_tokens", "generate/avg_num_tokens", Unit.TOKENS, None),
        ("vllm/train/num_requests_running", "vllm/num_requests_running", Unit.REQUESTS, None),
        ("vllm/engine_3/anything", "vllm/{*}", Unit.ONE, None),
        ("timing/a_new_timer", "timing/{x}", Unit.SECONDS, "lower"),
        ("environment/tool/calls", "environment/{*}", Unit.ONE, None),
    ],
)
def test_a_logged_name_finds_its_entry(metric, name, unit, better):
    info = describe(metric)

    assert info is not None
    assert (info.name, info.unit, info.better) == (name, unit, better)


@pytest.mark.parametrize("metric", ["", "reward", "somebody/elses_metric", "reward/avg_pass_at_x"])
def test_a_name_outside_the_catalogue_is_unknown(metric):
    assert describe(metric) is None


def test_names_of_one_quantity_join_and_lookalikes_stay_apart():
    assert canonical_name("policy/raw_grad_norm") == canonical_name("policy/grad_norm") == "policy/grad_norm"
    assert canonical_name("loss/avg_raw_rewards") == "loss/avg_final_rewards"
    assert canonical_name("policy/rollout_train_prob_diff_mean") == "policy/rollout_train_prob_diff_mean"


def test_an_entry_lists_its_older_names():
    info = describe("policy/ppo_clip_ratio")

    assert info is not None
    assert info.name == "policy/loss_metrics/clip_ratio"
    assert info.aliases == ("policy/ppo_clip_ratio",)


def test_every_entry_is_told_once_and_completely():
    names = [entry.name for entry in CATALOG]

    assert len(set(names)) == len(names)
    assert all(entry.meaning and entry.group for entry in CATALOG)
    assert all(entry.better in ("higher", "lower", None) for entry in CATALOG)
    assert all(entry.low is None or entry.high is None or entry.low < entry.high for entry in CATALOG)
    assert not set(RENAMED) & set(names)
    assert set(RENAMED.values()) <= set(names)


def test_timers_lie_in_timers_without_a_circle():
    for timer, outer in CONTAINERS.items():
        assert timer not in outer
        assert all(timer not in CONTAINERS.get(name, ()) for name in outer)


def test_the_nearest_logged_timer_contains():
    logged = {"step", "train_critic_and_policy", "policy_train"}

    assert container_of("policy_train", logged) == "train_critic_and_policy"
    assert container_of("train_critic_and_policy", logged) == "step"
    assert container_of("step", logged) is None
    assert container_of("save_checkpoints", logged) is None


@pytest.mark.parametrize(
    ("metrics", "form"),
    [
        ({"timing/generate", "timing/step"}, SYNC_UPSTREAM),
        ({"timing/wait_for_generation_buffer", "async/staleness_mean"}, ASYNC_UPSTREAM),
        ({"timing/wait_for_generation_buffer", "async/discard_rate"}, ASYNC_MARIN),
        ({"loss"}, None),
    ],
)
def test_a_trainer_is_known_by_what_it_logs(metrics, form):
    assert recognised_form(metrics) == form


def test_expected_keys_count_under_any_of_their_names():
    logged = {*EXPECTED_KEYS[ASYNC_MARIN], "policy/raw_grad_norm", "tis/imp_ratio_mean"} - {
        "policy/policy_kl",
        "policy/grad_norm",
        "tis/{*}",
    }

    assert missing_keys(logged, ASYNC_MARIN) == ("policy/policy_kl",)


def test_every_form_has_expected_keys_and_spans_outside_the_step():
    assert set(EXPECTED_KEYS) == set(OUTSIDE_STEP) == set(FORMS)
    assert all(describe(key) is not None for form in FORMS for key in EXPECTED_KEYS[form] if "{" not in key)
