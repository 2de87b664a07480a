"""Which checkpoint to keep: the exponential moving average of the reward, and what it cannot tell apart.

Rule: the EMA with α = 1/3 (span 5) over the canonical steps of the whole chain; candidates are the
multiples of five, at which weights are usually exported, and the last step that a log says was saved, but for the first
five steps, whose average is still young; the best EMA wins.
The reward is that of training with unscored samples as 0, so the choice is a hint where to evaluate, not a
result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import FloatArray, plain
from rl_pipeline.analysis.series import REWARD, has_metric, settled, steps_of, values_of
from rl_pipeline.analysis.trends import trend

ALPHA = 1 / 3
INTERVAL = 5
COLLAPSE_WINDOW = 10
COLLAPSE_SHARE = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One checkpoint.

    Attributes:
        global_step: its step.
        ema: moving average at the step; None before the first reward.
        reward: raw mean reward of the step.
        on_disk: whether it is there; None when nobody looked.
        excluded: why it cannot be chosen; None when it can.
        below_best: EMA of the choice − its EMA.
        tied: whether that lies within one standard error of a difference of two such averages.
    """

    global_step: int
    ema: float | None
    reward: float | None
    on_disk: bool | None
    excluded: str | None
    below_best: float | None = None
    tied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointChoice:
    """The rule's answer.

    Attributes:
        step: the chosen checkpoint; None when there is none to choose.
        ema: its moving average.
        reward: raw mean reward of that step.
        tied_steps: other candidates that cannot be told apart from it, best first.
        standard_error: of one EMA: residual spread × √(α ÷ (2 − α)).
        difference_error: of the difference of two: standard_error × √2.
        candidates: all, by step.
        last_step: last trained step.
        warning: why the choice is doubtful (the run collapsed); None when nothing speaks against it.
        reason: why there is no choice.
    """

    step: int | None
    ema: float | None
    reward: float | None
    tied_steps: tuple[int, ...]
    standard_error: float | None
    difference_error: float | None
    candidates: tuple[Candidate, ...]
    last_step: int | None
    warning: str | None = None
    reason: str | None = None


def choose_checkpoint(
    rows: pd.DataFrame,
    *,
    on_disk: Collection[int] | None = None,
    metric: str = REWARD,
    alpha: float = ALPHA,
    interval: int = INTERVAL,
    last_saved: int | None = None,
    collapse: str | None = None,
) -> CheckpointChoice:
    """The checkpoint to keep, from canonical rows.

    Args:
        rows: of `canonical_steps`.
        on_disk: steps whose checkpoints exist; None when unknown.
        metric: what is averaged.
        alpha: weight of the newest step.
        interval: checkpoints are multiples of it.
        last_saved: the last step that a log says was saved; a candidate whatever it is a multiple of.
        collapse: what a rule said about a collapse; without it the reward alone is looked at.
    """
    if not has_metric(rows, metric):
        return _no_choice(rows, f"no step has {metric}")
    values, steps = values_of(rows, metric), steps_of(rows)
    averages = ema(values, alpha=alpha)
    table = {int(s): (plain(a), plain(v)) for s, a, v in zip(steps, averages, values, strict=True)}
    candidates = _candidates(table, on_disk, interval, last_saved)
    usable = [c for c in candidates if c.excluded is None and c.ema is not None]
    if not usable:
        return _no_choice(rows, "no checkpoint that could be chosen", candidates)
    best = max(usable, key=lambda c: (c.ema or -math.inf, c.global_step))
    error = _standard_error(rows, metric, alpha)
    difference = None if error is None else error * math.sqrt(2)
    judged = tuple(_judge(c, best, difference) for c in candidates)
    tied = sorted((c for c in judged if c.tied), key=lambda c: -(c.ema or 0.0))
    return CheckpointChoice(
        step=best.global_step,
        ema=best.ema,
        reward=best.reward,
        tied_steps=tuple(c.global_step for c in tied),
        standard_error=error,
        difference_error=difference,
        candidates=judged,
        last_step=int(steps[-1]),
        warning=collapse or reward_collapse(values),
    )


def ema(values: FloatArray, *, alpha: float) -> FloatArray:
    """Exponential moving average of shape (n,), starting with the first finite value; NaN repeats the last.

    eₜ = α xₜ + (1 − α) eₜ₋₁.
    """
    averages = np.full(values.shape, np.nan)
    current = math.nan
    for place, value in enumerate(values):
        if math.isfinite(value):
            current = float(value) if math.isnan(current) else alpha * float(value) + (1 - alpha) * current
        averages[place] = current
    return averages


def reward_collapse(values: FloatArray) -> str | None:
    """Words for a reward that fell to nothing; None when it did not, or the run is too short to say."""
    known = values[np.isfinite(values)]
    if known.size < COLLAPSE_WINDOW:
        return None
    if not known.any():
        return "every reward is 0"
    means = np.convolve(known, np.full(COLLAPSE_WINDOW, 1 / COLLAPSE_WINDOW), mode="valid")
    if means.max() > 0 and means[-1] < COLLAPSE_SHARE * means.max():
        return (
            f"the mean reward of the last {COLLAPSE_WINDOW} steps is under {COLLAPSE_SHARE:.0%} of the best ones:"
            " keep a checkpoint from before the fall"
        )
    return None


def _candidates(
    table: dict[int, tuple[float | None, float | None]],
    on_disk: Collection[int] | None,
    interval: int,
    last_saved: int | None,
) -> tuple[Candidate, ...]:
    regular = [step for step in table if step > 0 and step % interval == 0]
    saved = [step for step in table if on_disk is not None and step in on_disk]
    steps = regular if set(regular) & set(saved) or not saved else saved
    steps = sorted({*steps, *(step for step in table if step == last_saved and step > 0)})
    young = set(sorted(table)[:interval])
    return tuple(_candidate(step, table[step], on_disk, young=step in young) for step in steps)


def _candidate(
    step: int, numbers: tuple[float | None, float | None], on_disk: Collection[int] | None, *, young: bool
) -> Candidate:
    there = None if on_disk is None else step in on_disk
    excluded = "not on disk" if there is False else "its average is too young" if young else None
    return Candidate(global_step=step, ema=numbers[0], reward=numbers[1], on_disk=there, excluded=excluded)


def _judge(candidate: Candidate, best: Candidate, difference_error: float | None) -> Candidate:
    if candidate.ema is None or best.ema is None:
        return candidate
    below = best.ema - candidate.ema
    tied = (
        candidate.global_step != best.global_step
        and candidate.excluded is None
        and difference_error is not None
        and below <= difference_error
    )
    return Candidate(
        global_step=candidate.global_step,
        ema=candidate.ema,
        reward=candidate.reward,
        on_disk=candidate.on_disk,
        excluded=candidate.excluded,
        below_best=below,
        tied=tied,
    )


def _standard_error(rows: pd.DataFrame, metric: str, alpha: float) -> float | None:
    steady = settled(rows)
    spread = trend(values_of(steady, metric), steps_of(steady)).residual_spread
    return None if spread is None else spread * math.sqrt(alpha / (2 - alpha))


def _no_choice(rows: pd.DataFrame, reason: str, candidates: Iterable[Candidate] = ()) -> CheckpointChoice:
    return CheckpointChoice(
        step=None,
        ema=None,
        reward=None,
        tied_steps=(),
        standard_error=None,
        difference_error=None,
        candidates=tuple(candidates),
        last_step=int(steps_of(rows)[-1]) if len(rows) else None,
        reason=reason,
    )
