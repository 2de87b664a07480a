"""pass@k of trials for any k: the chance that at least one of k attempts at a task succeeds.

Unbiased per task from n ≥ k attempts with c successes, 1 − C(n−c, k) ÷ C(n, k) (Chen et al. 2021,
section 2.1), averaged over tasks; the interval resamples tasks, since attempts at one task resemble each
other. Tasks with fewer attempts are left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from rl_pipeline.analysis.estimates import DEFAULT_SEED, Estimate, FloatArray, not_measurable
from rl_pipeline.analysis.intervals import bootstrap_means
from rl_pipeline.analysis.trial_outcomes import counts_by_task, has_outcome
from rl_pipeline.schema import UNSCORED

RESAMPLES = 2_000
SCORED, ALL_AS_FAILURES = "scored trials", "all trials, unscored as not solved"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassAtK:
    """pass@k with a task bootstrap; `n` of the estimate counts tasks."""

    k: int
    estimate: Estimate
    tasks: int
    tasks_left_out: int
    trials: int


def pass_at_k(
    trials: pd.DataFrame,
    ks: Sequence[int] = (1, 2, 4, 8),
    *,
    population: str = SCORED,
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> tuple[PassAtK, ...]:
    """One result per k, over trials of the table `trials` that name a task."""
    attempts, successes = attempts_by_task(trials, population=population)
    populations = [f"tasks with at least {k} {population}" for k in ks]
    rates = [_rates(attempts, successes, k) for k in ks]
    estimates = bootstrap_means(rates, populations, resamples=resamples, seed=seed)
    return tuple(
        _one(attempts, k, estimate if len(values) else _missing(k, population, estimate.population))
        for k, values, estimate in zip(ks, rates, estimates, strict=True)
    )


def attempts_by_task(trials: pd.DataFrame, *, population: str = SCORED) -> tuple[FloatArray, FloatArray]:
    """(attempts, successes) of each task, shape (tasks,), by task name."""
    counts = counts_by_task(trials, ~has_outcome(trials, UNSCORED) if population == SCORED else None)
    return counts.trials.astype(np.float64), counts.hits.astype(np.float64)


def unbiased_pass_at_k(attempts: npt.NDArray[Any], successes: npt.NDArray[Any], k: int) -> FloatArray:
    """1 − C(n−c, k) ÷ C(n, k) for n and c of shape (tasks,), every n ≥ k; by log-gamma, exact 1 where n−c < k.

    >>> unbiased_pass_at_k(np.array([4.0, 4.0]), np.array([0.0, 2.0]), 2).round(4).tolist()
    [0.0, 0.8333]
    """
    n, c = np.asarray(attempts, dtype=np.float64), np.asarray(successes, dtype=np.float64)
    certain = n - c < k
    failures = np.where(certain, k, n - c)
    log_ratio = _log_choose(failures, k) - _log_choose(n, k)
    return np.where(certain, 1.0, 1.0 - np.exp(log_ratio))


def _log_choose(n: FloatArray, k: int) -> FloatArray:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1))


def _rates(attempts: FloatArray, successes: FloatArray, k: int) -> FloatArray:
    """pass@k of each task with k attempts or more; none when k is not positive."""
    enough = attempts >= k
    if k < 1 or not enough.any():
        return np.zeros(0)
    return np.clip(unbiased_pass_at_k(attempts[enough], successes[enough], k), 0.0, 1.0)


def _missing(k: int, population: str, what: str) -> Estimate:
    reason = "k must be positive" if k < 1 else f"no task has {k} {population}"
    return not_measurable(reason, population=what, method="task bootstrap")


def _one(attempts: FloatArray, k: int, estimate: Estimate) -> PassAtK:
    enough = attempts >= k
    return PassAtK(
        k=k,
        estimate=estimate,
        tasks=int(enough.sum()),
        tasks_left_out=int((~enough).sum()),
        trials=int(attempts[enough].sum()),
    )
