"""Does the run learn? Trends of reward and pass@k over the steps that count, and what could have been seen.

The headline leaves warm-up steps out (an empty buffer is filled by the fastest trials first, and these
are the easy ones); the trend over all steps stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.estimates import Estimate
from rl_pipeline.analysis.intervals import mean_interval
from rl_pipeline.analysis.power import DetectableGain, detectable_gain
from rl_pipeline.analysis.replayed_prompts import pass_metric
from rl_pipeline.analysis.series import REWARD, has_metric, settled, steps_of, values_of
from rl_pipeline.analysis.trends import LevelChange, Trend, pettitt, trend

RECENT_STEPS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTrend:
    """The trend within one link, warm-up left out."""

    job: str
    trend: Trend


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTrend:
    """How one metric moves over the run.

    Attributes:
        metric: its name.
        settled: over the steps that count, warm-up left out: the headline.
        all_steps: over all steps that count.
        links: within each link.
        level_change: the most likely single change of level, warm-up left out.
        detectable: the smallest gains this run could have shown.
        recent: mean of the last ten steps that count.
        whole: mean of all steps that count.
    """

    metric: str
    settled: Trend
    all_steps: Trend
    links: tuple[LinkTrend, ...]
    level_change: LevelChange
    detectable: DetectableGain
    recent: Estimate
    whole: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTrends:
    """Trends of the run; a metric that is not logged is None."""

    reward: MetricTrend | None
    pass_at_k: MetricTrend | None


def training_trends(canonical: pd.DataFrame) -> TrainingTrends:
    """Trends over rows of `canonical_steps`."""
    named = pass_metric(canonical)
    return TrainingTrends(
        reward=metric_trend(canonical, REWARD) if has_metric(canonical, REWARD) else None,
        pass_at_k=metric_trend(canonical, named[0]) if named else None,
    )


def metric_trend(canonical: pd.DataFrame, metric: str) -> MetricTrend:
    """All there is to say about the course of one metric."""
    calm = settled(canonical)
    values, steps = values_of(canonical, metric), steps_of(canonical)
    whole = trend(values, steps, population="steps that count")
    headline = trend(
        values_of(calm, metric), steps_of(calm), population="steps that count, without the first two of each link"
    )
    return MetricTrend(
        metric=metric,
        settled=headline,
        all_steps=whole,
        links=_links(calm, metric),
        level_change=pettitt(values_of(calm, metric), steps_of(calm), restarts=_starts(canonical)),
        detectable=detectable_gain(headline.residual_spread, steps_of(canonical).astype(float)),
        recent=mean_interval(
            values[-RECENT_STEPS:], population=f"last {min(RECENT_STEPS, values.size)} steps that count"
        ),
        whole=mean_interval(values, population="steps that count"),
    )


def _links(calm: pd.DataFrame, metric: str) -> tuple[LinkTrend, ...]:
    return tuple(
        LinkTrend(
            job=str(part["job"].iloc[0]),
            trend=trend(values_of(part, metric), steps_of(part), population="steps of the link, without its first two"),
        )
        for _, part in calm.groupby("link", sort=True)
    )


def _starts(canonical: pd.DataFrame) -> list[int]:
    """First steps of all links but the first."""
    firsts = canonical.groupby("link", sort=True)["global_step"].min()
    return [int(step) for step in firsts.iloc[1:]]
