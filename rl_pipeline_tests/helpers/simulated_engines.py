"""Engine statistics lines of a simulated run: fed, starved, over-subscribed or out of cache."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rl_pipeline_tests.helpers.simulated_plan import KV_PRESSURE, STARVATION, THRASH, Plan
from rl_pipeline_tests.helpers.simulated_steps import StepTruth
from rl_pipeline_tests.helpers.simulated_trials import moments

LINES_PER_STEP = 6


def vllm_stats(plan: Plan, truths: list[StepTruth]) -> pd.DataFrame:
    """A few lines per engine and step; in synchronous runs only while generating."""
    rng = plan.rng
    engines, capacity = int(rng.choice([2, 4, 8])), int(rng.choice([32, 64, 128]))
    plan.notes["max_num_seqs"] = capacity
    folds = rng.random() < 0.3
    parts = [_lines_of_step(plan, truth, engines, capacity, folds) for truth in truths]
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _lines_of_step(plan: Plan, truth: StepTruth, engines: int, capacity: int, folds: bool) -> dict[str, np.ndarray]:
    rng, count = plan.rng, engines * LINES_PER_STEP
    running, waiting, kv = _load(plan, capacity, count)
    peak = 30.0 * capacity**0.7
    throughput = peak * (running / capacity) ** 0.6 * np.exp(rng.normal(0, 0.08, count))
    if plan.scenario == THRASH:
        throughput = peak * np.exp(rng.normal(0, 0.05, count))
    span = (truth.ended_at - truth.started_at).total_seconds() * (1.0 if plan.is_async else 0.45)
    offsets = np.sort(rng.uniform(0, span, count))
    engine = np.tile(np.arange(engines), LINES_PER_STEP)
    times = moments(truth.started_at, offsets)
    return {
        "job": np.full(count, truth.link.job, dtype=object),
        "line": 1000 + 400 * truth.place + 40 + np.arange(count),
        "logged_at": times if plan.has_clocks else np.full(count, np.datetime64("NaT", "us")),
        "pid": 1000 + engine,
        "ip": np.array([f"10.0.0.{number // 2}" for number in engine], dtype=object),
        "engine_index": np.zeros(count, dtype=int),
        "prompt_throughput": throughput * 5,
        "generation_throughput": throughput,
        "running": running.round().astype(int),
        "waiting": waiting.round().astype(int),
        "kv_cache_usage": kv,
        "prefix_cache_hit_rate": rng.uniform(0.7, 0.95, count),
        "repeat_count": rng.integers(1, 4, count) if folds else np.ones(count, dtype=int),
        "scope": np.full(count, "engine", dtype=object),
    }


def _load(plan: Plan, capacity: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Running, waiting and KV usage; a sawtooth over each step, since groups end together."""
    rng = plan.rng
    level = np.linspace(1.0, 0.55, count) * rng.uniform(0.75, 1.0)
    running = np.clip(rng.normal(level * capacity, 0.08 * capacity), 1, capacity).round()
    waiting = np.where(running >= capacity * 0.97, rng.integers(0, 4, count), 0).astype(float)
    kv = np.clip(running / capacity * rng.uniform(0.45, 0.75) + rng.normal(0, 0.03, count), 0.01, 0.89)
    if plan.scenario == STARVATION:
        share = plan.notes.setdefault("fed", float(rng.uniform(0.08, 0.35)))
        running = np.clip(rng.poisson(share * capacity, count), 0, capacity).astype(float)
        waiting, kv = np.zeros(count), np.clip(rng.normal(share, 0.05, count), 0.01, 0.8)
    if plan.scenario == THRASH:
        running = np.full(count, float(capacity)) - rng.integers(0, 3, count)
        waiting = running * rng.uniform(1.1, 4.0) + rng.integers(0, 10, count)
    if plan.scenario == KV_PRESSURE:
        full = rng.random(count) < plan.notes.setdefault("full", float(rng.uniform(0.12, 0.5)))
        kv = np.where(full, rng.uniform(0.91, 1.0, count), kv)
        waiting = np.where(full, rng.integers(1, 15, count), waiting)
    return running, waiting, kv
