"""Is it learning? Trends of reward and pass@k over the chain, with what the run could have shown.

The headline leaves out the warm-up of each link, whose rewards are biased; all steps and single links stand
beside it. Windows chosen after looking are no evidence, so none are offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.clustering import DesignEffect, GradientGroups, design_effect, gradient_groups
from rl_pipeline.analysis.comparison import Difference, compare, with_holm
from rl_pipeline.analysis.estimates import Estimate, FloatArray
from rl_pipeline.analysis.intervals import mean_interval
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.links import Chain
from rl_pipeline.analysis.power import DetectableGain, detectable_gain
from rl_pipeline.analysis.replayed_prompts import GROUPS, pass_metric
from rl_pipeline.analysis.series import REWARD, first_logged, has_metric, settled, steps_of, values_of
from rl_pipeline.analysis.trends import LevelChange, Trend, pettitt, trend

ADVANTAGE = "loss/avg_raw_advantages_abs"
WINDOW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTrend:
    """One metric over the canonical steps.

    Attributes:
        metric: name as logged.
        headline: without the warm-up of each link.
        all_steps: with it.
        links: each link, warm-up included.
        level_change: Pettitt without warm-up, restarts named where they coincide.
        level_change_all: the same over all steps.
        at_restarts: settled steps after each restart against those before it, Holm over restarts; the cause of
            a difference stays open, since the run went on training.
        within_links: Pettitt inside each link without its warm-up, so that restarts are known breaks.
        detectable: smallest gains this run could have shown.
        last: mean of the last ten steps (t interval).
        last_against_first: last ten against the first ten settled ones; None for fewer than 20 settled steps.
        reason: why it is missing.
    """

    metric: str
    headline: Trend
    all_steps: Trend
    links: dict[str, Trend]
    level_change: LevelChange
    level_change_all: LevelChange
    at_restarts: tuple[Difference, ...]
    within_links: dict[str, LevelChange]
    detectable: DetectableGain
    last: Estimate
    last_against_first: Difference | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardTrend:
    """Reward, pass@k, and how noisy a step is.

    Attributes:
        reward: trend of the mean reward.
        pass_at_k: trend of the logged pass@k; None when none is logged.
        k: samples per prompt of it.
        design: noise of a step against independent samples.
        groups: groups that carry gradient, from means over the canonical steps.
    """

    reward: MetricTrend
    pass_at_k: MetricTrend | None
    k: int | None
    design: DesignEffect
    groups: GradientGroups


def reward_trend(rows: pd.DataFrame, chain: Chain) -> RewardTrend:
    """Trends over the rows of `canonical_steps`."""
    named = pass_metric(rows)
    reward = metric_trend(rows, REWARD, chain)
    k = named[1] if named else None
    mean = _mean(rows, REWARD)
    samples, groups = _typical(rows, SAMPLES), _typical(rows, GROUPS)
    groups = samples / k if groups is None and samples is not None and k else groups
    return RewardTrend(
        reward=reward,
        pass_at_k=metric_trend(rows, named[0], chain) if named else None,
        k=k,
        design=design_effect(mean, reward.headline.residual_spread, samples, group_size=k),
        groups=gradient_groups(
            mean,
            _mean(rows, named[0]) if named else None,
            k or 1,
            groups=groups,
            mean_absolute_advantage=_mean(rows, ADVANTAGE),
        ),
    )


def metric_trend(rows: pd.DataFrame, metric: str, chain: Chain) -> MetricTrend:
    """The trend of any metric over the rows of `canonical_steps`."""
    steady = settled(rows)
    restarts = [link.first_step for link in chain.links[1:] if link.first_step is not None]
    headline = _trend(steady, metric, "steps that count, without the warm-up of each link")
    values = values_of(steady, metric)
    known = values[np.isfinite(values)]
    return MetricTrend(
        metric=metric,
        headline=headline,
        all_steps=_trend(rows, metric, "all steps that count"),
        links={
            str(p["job"].iloc[0]): _trend(p, metric, "steps of the link that count") for _, p in rows.groupby("link")
        },
        level_change=_change(steady, metric, restarts),
        level_change_all=_change(rows, metric, restarts),
        at_restarts=_at_restarts(steady, metric, restarts),
        within_links={str(p["job"].iloc[0]): _change(p, metric, ()) for _, p in steady.groupby("link")},
        detectable=detectable_gain(headline.residual_spread, _known_steps(rows, metric)),
        last=mean_interval(_last(rows, metric), population=f"last {WINDOW} steps that count"),
        last_against_first=_last_against_first(known),
        reason=None if has_metric(rows, metric) else f"no step has {metric}",
    )


def _trend(rows: pd.DataFrame, metric: str, population: str) -> Trend:
    return trend(values_of(rows, metric), steps_of(rows), population=population)


def _change(rows: pd.DataFrame, metric: str, restarts: Sequence[int]) -> LevelChange:
    return pettitt(values_of(rows, metric), steps_of(rows), restarts=restarts)


def _at_restarts(steady: pd.DataFrame, metric: str, restarts: Sequence[int]) -> tuple[Difference, ...]:
    values, steps = values_of(steady, metric), steps_of(steady)
    found = [
        compare(
            values[steps >= restart],
            values[steps < restart],
            names=(f"from step {restart}", f"before step {restart}"),
            population="settled steps that count",
        )
        for restart in restarts
    ]
    return with_holm(found)


def _known_steps(rows: pd.DataFrame, metric: str) -> FloatArray:
    return steps_of(rows)[np.isfinite(values_of(rows, metric))].astype(np.float64)


def _last(rows: pd.DataFrame, metric: str) -> FloatArray:
    values = values_of(rows, metric)
    return values[np.isfinite(values)][-WINDOW:]


def _last_against_first(known: FloatArray) -> Difference | None:
    if known.size < 2 * WINDOW:
        return None
    names = (f"last {WINDOW} steps", f"first {WINDOW} settled steps")
    return compare(known[-WINDOW:], known[:WINDOW], names=names, population="settled steps that count")


def _mean(rows: pd.DataFrame, metric: str) -> float | None:
    values = values_of(rows, metric)
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _typical(rows: pd.DataFrame, metrics: Sequence[str]) -> float | None:
    """Median over the rows of the first of the names that is logged."""
    name = first_logged(rows, metrics)
    if name is None:
        return None
    values = values_of(rows, name)
    return float(np.median(values[np.isfinite(values)]))
