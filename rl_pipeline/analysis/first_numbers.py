"""The five numbers that stand first: reward, solved trials, waiting, unscored trials, speed.

Each is an `Estimate` with its interval and its population, or says why it does not exist. Steps of one run
depend on each other, so intervals over steps resample blocks of successive steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.checkpoints import ALPHA, ema
from rl_pipeline.analysis.estimates import DEFAULT_LEVEL, DEFAULT_SEED, Estimate, FloatArray, not_measurable
from rl_pipeline.analysis.experiment_comparison import BLOCK
from rl_pipeline.analysis.metric_overview import thinned
from rl_pipeline.analysis.remembering import remembered
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, WAIT_SECONDS, paired, values_of
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.analysis.trial_analysis import TaskSplit
from rl_pipeline.units import SECONDS_PER_HOUR

REWARD_NUMBER, SOLVED_NUMBER, WAIT_NUMBER, UNSCORED_NUMBER, SPEED_NUMBER = (
    "reward", "solved", "wait", "unscored", "speed",
)  # fmt: skip
GENERATE_SECONDS = "timing/generate"
RESAMPLES = 4_000
FEWEST_STEPS = 2 * BLOCK


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstNumber:
    """One of the five.

    Attributes:
        name: which one.
        label: what it is called on a page.
        estimate: fraction, reward, or steps per hour.
        course: its course over the steps that count in a few points; empty without one.
    """

    name: str
    label: str
    estimate: Estimate
    course: tuple[float, ...] = ()


def first_numbers(
    result: ExperimentResult, canonical: pd.DataFrame, tasks: TaskSplit | None
) -> tuple[FirstNumber, ...]:
    """All five, whatever is missing.

    Args:
        result: of the analysis.
        canonical: rows of `canonical_steps`.
        tasks: split of the tasks, for an interval that knows that trials of one task resemble each other.
    """
    return (
        _reward(result, canonical),
        FirstNumber(name=SOLVED_NUMBER, label="Solved, scored trials", estimate=_solved(result, tasks)),
        _wait(canonical),
        FirstNumber(name=UNSCORED_NUMBER, label="Unscored trials", estimate=result.populations.rewards.unscored),
        _speed(canonical),
    )


def _reward(result: ExperimentResult, canonical: pd.DataFrame) -> FirstNumber:
    trend = result.trend.reward
    if trend is None:
        missing = not_measurable(f"no step has {REWARD}")
        return FirstNumber(name=REWARD_NUMBER, label="Reward", estimate=missing)
    values = values_of(canonical, REWARD)
    course = thinned(ema(values[np.isfinite(values)], alpha=ALPHA))
    return FirstNumber(
        name=REWARD_NUMBER, label=f"Reward, last {trend.recent.n} steps", estimate=trend.recent, course=course
    )


def _solved(result: ExperimentResult, tasks: TaskSplit | None) -> Estimate:
    if tasks is not None and tasks.solve_rate.value is not None and tasks.solve_rate.lower is not None:
        return tasks.solve_rate
    return result.populations.rewards.scored


@remembered
def _wait(canonical: pd.DataFrame) -> FirstNumber:
    """The trainer waiting; in synchronous runs generation, which is on the path by design."""
    for metric, label in ((WAIT_SECONDS, "Waiting for rollouts"), (GENERATE_SECONDS, "Generating")):
        part, step = paired(canonical, metric, STEP_SECONDS)
        if part.size and step.sum() > 0:
            estimate = block_ratio(part, step, population="of the time of steps that count")
            course = thinned(part[step > 0] / step[step > 0])
            return FirstNumber(name=WAIT_NUMBER, label=label, estimate=estimate, course=course)
    return FirstNumber(
        name=WAIT_NUMBER,
        label="Waiting for rollouts",
        estimate=not_measurable(f"no step has {WAIT_SECONDS} or {GENERATE_SECONDS}"),
    )


@remembered
def _speed(canonical: pd.DataFrame) -> FirstNumber:
    seconds = values_of(canonical, STEP_SECONDS)
    seconds = seconds[np.isfinite(seconds) & (seconds > 0)]
    label = "Steps per hour"
    if not seconds.size:
        return FirstNumber(name=SPEED_NUMBER, label=label, estimate=not_measurable(f"no step has {STEP_SECONDS}"))
    hours = seconds / SECONDS_PER_HOUR
    estimate = block_ratio(np.ones_like(hours), hours, population="inside steps that count")
    return FirstNumber(name=SPEED_NUMBER, label=label, estimate=estimate, course=thinned(1 / hours))


def block_ratio(
    part: FloatArray, whole: FloatArray, *, population: str, level: float = DEFAULT_LEVEL, seed: int = DEFAULT_SEED
) -> Estimate:
    """Σ part ÷ Σ whole with a circular block bootstrap over successive steps.

    Args:
        part: shape (n,), in step order.
        whole: shape (n,), positive sum.
        population: what was summed over, in words.
        level: coverage.
        seed: of the resampling.
    """
    n = int(part.size)
    value = float(part.sum() / whole.sum())
    method = f"ratio of sums, bootstrap of blocks of {BLOCK} steps"
    if n < FEWEST_STEPS:
        reason = f"fewer than {FEWEST_STEPS} steps, no interval"
        return Estimate(value=value, n=n, population=population, method="ratio of sums", reason=reason)
    starts = np.random.default_rng(seed).integers(0, n, size=(RESAMPLES, -(-n // BLOCK)))
    places = ((starts[:, :, None] + np.arange(BLOCK)) % n).reshape(RESAMPLES, -1)[:, :n]
    drawn = part[places].sum(axis=1) / whole[places].sum(axis=1)
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value=value,
        lower=float(lower),
        upper=float(upper),
        level=level,
        n=n,
        population=population,
        method=method,
        standard_error=float(drawn.std(ddof=1)),
    )
