"""Metric blocks of a simulated run: rewards from drawn groups, and everything the trainer would log beside them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
from scipy import stats

from rl_pipeline.schema import BELOW_RESOLUTION, CONSOLE, MEASURED, MIRROR, TRAIN
from rl_pipeline_tests.helpers.simulated_plan import (
    COLLAPSE,
    GROWING_WAIT,
    LEAK,
    SPIKE,
    STALL,
    Link,
    Plan,
)

HOST_GIB = 900.0


@dataclass
class StepTruth:
    """One trained step of one link."""

    link: Link
    step: int
    place: int
    tasks: np.ndarray
    solved: np.ndarray
    unscored: int
    metrics: dict[str, float]
    started_at: datetime
    ended_at: datetime


def simulate_steps(plan: Plan) -> list[StepTruth]:
    """All steps in the order in which they ran."""
    noise = _course_noise(plan)
    clock, rows = plan.started_at, []
    for number, link in enumerate(plan.links):
        clock += timedelta(seconds=float(plan.rng.uniform(200, 900)) + (3600.0 * number))
        for place, step in enumerate(link.steps):
            truth = _one_step(plan, link, step, place, noise, clock)
            clock = truth.ended_at
            rows.append(truth)
    return rows


def _course_noise(plan: Plan) -> dict[str, np.ndarray]:
    size = plan.last_step + 1
    entropy = np.zeros(size)
    for step in range(1, size):
        entropy[step] = 0.6 * entropy[step - 1] + plan.rng.normal(0, 0.035)
    return {"entropy": entropy}


def _one_step(
    plan: Plan, link: Link, step: int, place: int, noise: dict[str, np.ndarray], clock: datetime
) -> StepTruth:
    tasks = plan.rng.choice(plan.difficulty.size, plan.groups, replace=False)
    solved = _groups(plan, step, place, tasks)
    unscored = int(plan.rng.binomial(plan.samples, _unscored_share(plan)))
    values = {
        **_reward(plan, solved),
        **_policy(plan, step, noise),
        **_tokens(plan, unscored),
        **_memory(plan, step, place),
    }
    timing = _timing(plan, step, place)
    values |= timing
    if plan.is_async:
        values |= _async(plan, place)
    values["trainer/global_step"] = float(step)
    outside = sum(timing.get(f"timing/{name}", 0.0) for name in ("save_checkpoints", "save_hf_model"))
    ended = clock + timedelta(seconds=timing["timing/step"] + plan.rng.uniform(0.5, 3.0))
    truth = StepTruth(link, step, place, tasks, solved, unscored, values, clock, ended)
    truth.ended_at = ended + timedelta(seconds=outside if plan.is_async else 0.0)
    return truth


def _unscored_share(plan: Plan) -> float:
    return plan.shares.verifier + plan.shares.infrastructure + 0.5 * plan.shares.context


def _groups(plan: Plan, step: int, place: int, tasks: np.ndarray) -> np.ndarray:
    """Solved samples of each group."""
    rate = float(plan.solve_rate[step - 1])
    if plan.scenario == COLLAPSE and step >= plan.trouble_at:
        rate *= float(np.exp(-(step - plan.trouble_at + 1) / 2.0))
    rate += 0.08 if place < 2 and rate > 0 else 0.0  # the buffer fills with the fastest trials first
    rate = min(max(rate, 0.0), 0.95)
    if rate <= 1e-4:
        return np.zeros(plan.groups, dtype=int)
    size = 1 / plan.prompt_correlation - 1
    chances = stats.beta.ppf(1 - plan.difficulty[tasks], rate * size, (1 - rate) * size)
    return np.asarray(plan.rng.binomial(plan.group_size, chances))


def _reward(plan: Plan, solved: np.ndarray) -> dict[str, float]:
    mean = float(solved.mean() / plan.group_size)
    return {
        "reward/avg_raw_reward": mean,
        f"reward/avg_pass_at_{plan.group_size}": float((solved > 0).mean()),
        "loss/avg_final_rewards": mean,
        "loss/avg_raw_advantages_abs": abs(float(plan.rng.normal(0.16, 0.02))),
    }


def _policy(plan: Plan, step: int, noise: dict[str, np.ndarray]) -> dict[str, float]:
    rng, share = plan.rng, step / max(plan.last_step, 2)
    entropy = plan.entropy_start * plan.entropy_drift**share * float(np.exp(noise["entropy"][step]))
    gradient = (
        plan.gradient_scale
        * float(np.exp(rng.normal(0, 0.25)))
        * (float(rng.uniform(3, 6)) if rng.random() < 0.015 else 1.0)
    )
    if plan.scenario == COLLAPSE and step >= plan.trouble_at:
        entropy *= float(np.exp(-(step - plan.trouble_at + 1) / 4.0))
        gradient *= float(rng.uniform(2, 20))
    if plan.scenario == SPIKE and plan.trouble_at <= step < plan.trouble_at + plan.notes.setdefault(
        "length", int(rng.integers(2, 6))
    ):
        gradient *= plan.notes.setdefault("size", float(rng.uniform(9, 40)))
    values = {
        "policy/policy_entropy": entropy,
        "policy/raw_grad_norm": gradient,
        "policy/final_loss": float(rng.normal(0, 0.002)),
        "policy/policy_loss": float(rng.normal(-0.001, 0.003)),
        "policy/policy_lr": 1e-6,
        "policy/policy_update_steps": float(plan.updates),
        "policy/ppo_clip_ratio": 0.0 if plan.updates == 1 else float(rng.uniform(0.0005, 0.004)),
        "policy/log_ratio_abs_mean": 0.0 if plan.updates == 1 else 0.012 * float(np.exp(rng.normal(0, 0.15))),
    }
    if plan.has_kl:
        values["policy/policy_kl"] = (0.0008 + 0.012 * share) * float(np.exp(rng.normal(0, 0.15)))
    return values


def _tokens(plan: Plan, unscored: int) -> dict[str, float]:
    mean = float(plan.rng.normal(3000, 150))
    return {
        "generate/avg_num_tokens": mean,
        "generate/avg_tokens_non_zero_rewards": mean * 0.9,
        "generate/avg_tokens_zero_rewards": mean * 1.1,
        "generate/min_num_tokens": 1.0 if unscored else float(plan.rng.integers(40, 200)),
        "generate/max_num_tokens": float(plan.rng.integers(8000, 16000)),
    }


def _memory(plan: Plan, step: int, place: int) -> dict[str, float]:
    rss = 10.0 + 3.0 * (1 - np.exp(-place / 10)) + 0.01 * place + float(plan.rng.normal(0, 0.2))
    if plan.scenario == LEAK:
        rss += place * plan.notes.setdefault("leak", float(plan.rng.uniform(0.75, 1.0)) * HOST_GIB / plan.last_step)
    used = min(0.25 * HOST_GIB + rss, HOST_GIB)
    return {"system/process_rss_gb": float(rss), "system/ram_used_gb": float(used), "system/ram_total_gb": HOST_GIB}


def _timing(plan: Plan, step: int, place: int) -> dict[str, float]:
    rng = plan.rng
    training = plan.training_seconds * (1 + 0.08 * step / max(plan.last_step, 1)) * float(np.exp(rng.normal(0, 0.06)))
    sync = float(rng.uniform(8, 25))
    slow = float(rng.uniform(1.5, 3.5)) if rng.random() < 0.01 else 1.0
    values = {"timing/run_training": training, "timing/policy_train": training * 0.7, "timing/sync_weights": sync}
    waiting = (
        plan.training_seconds * plan.wait_share / (1 - plan.wait_share) * float(np.exp(rng.normal(0, 0.35))) * slow
    )
    if plan.scenario == GROWING_WAIT:
        waiting = plan.training_seconds * (0.12 + 0.012 * place) * float(np.exp(rng.normal(0, 0.1)))
    if plan.is_async:
        waiting += training * float(rng.uniform(0.3, 0.9)) if place < 2 else 0.0
        values["timing/wait_for_generation_buffer"] = waiting
        values["timing/step"] = training + sync + waiting + float(rng.uniform(1, 4))
    else:
        generate = training * float(rng.uniform(0.9, 1.1)) * slow * (1.5 if place < 2 else 1.0)
        values["timing/generate"] = generate
        values["timing/step"] = training + sync + generate + float(rng.uniform(1, 4))
    if step % 5 == 0:
        save = float(np.exp(rng.normal(np.log(15), 0.3)))
        values["timing/save_checkpoints"] = save
        values["timing/step"] += 0.0 if plan.is_async else save
    return values


def _async(plan: Plan, place: int) -> dict[str, float]:
    stale = min(place / 3, 1.0) * float(plan.rng.uniform(0.6, 1.6))
    return {
        "async/staleness_mean": stale,
        "async/staleness_max": float(round(stale * 2)),
        "async/staleness_ratio": min(1.0, stale / 2),
        "async/discard_rate": 0.0,
        "async/discarded_count": 0.0,
        "async/effective_batch_groups": float(plan.groups),
        "async/effective_batch_samples": float(plan.samples),
    }


def step_metrics(plan: Plan, truths: list[StepTruth]) -> pd.DataFrame:
    """The table of that name: console blocks with four decimals, or mirror lines with all digits."""
    columns: dict[str, list[object]] = {
        name: [] for name in ("job", "block", "line", "global_step", "metric", "value", "state", "logged_at")
    }
    for truth in truths:
        block = truth.place
        for metric, exact in truth.metrics.items():
            value = exact if plan.is_mirrored else round(exact, 4)
            below = value == 0 and not float(exact).is_integer()
            cells = (
                truth.link.job,
                block,
                line_of(block),
                truth.step,
                metric,
                value,
                BELOW_RESOLUTION if below else MEASURED,
                truth.ended_at,
            )
            for name, cell in zip(columns, cells, strict=True):
                columns[name].append(cell)
    count = len(columns["job"])
    source = MIRROR if plan.is_mirrored else CONSOLE
    return pd.DataFrame({**columns, "kind": [TRAIN] * count, "source": [source] * count})


def line_of(block: int) -> int:
    """Line of a block's head."""
    return 1000 + 400 * block


def is_stalled(plan: Plan) -> bool:
    """Whether the log goes on long after the last step."""
    return plan.scenario == STALL
