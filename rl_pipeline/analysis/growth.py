"""Does a series grow inside the links and fall back at a restart?

Slopes are taken between steps of the same link only and pooled: the median of all of them with Sen's
interval, and the sum of the links' Mann–Kendall scores, so that a different level of each link does
not count as growth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import special

from rl_pipeline.analysis.comparison import mann_whitney_p
from rl_pipeline.analysis.estimates import DEFAULT_LEVEL, Estimate, FloatArray, not_measurable, plain
from rl_pipeline.analysis.series import settled, steps_of, values_of
from rl_pipeline.analysis.trends import Trend, kendall_score, kendall_variance, score_p_value, trend

RESET_WINDOW = 10  # steps compared before and after a restart


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGrowth:
    """One link's part.

    Attributes:
        link: place in the chain.
        job: its name.
        trend: of the series inside it, warm-up left out.
        median: of the series.
        growth: slope × length ÷ median, a fraction; None when the median is 0.
    """

    link: int
    job: str
    trend: Trend
    median: float | None
    growth: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """Last steps before a restart against the first settled ones after it (n each), Mann–Whitney."""

    restart_step: int
    median_before: float
    median_after: float
    n_before: int
    n_after: int
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Growth of a metric inside links, pooled.

    Attributes:
        metric: which.
        slope: pooled Theil–Sen, per step.
        tau: pooled score ÷ pairs.
        p_value: pooled Mann–Kendall, two-sided.
        growth: median over links of the relative growth over a link's length.
        links: those long enough.
        resets: at each restart between two of them.
        reason: why it is missing.
    """

    metric: str
    slope: Estimate
    tau: float | None
    p_value: float | None
    growth: float | None
    links: tuple[LinkGrowth, ...]
    resets: tuple[Reset, ...]
    reason: str | None = None


def growth_within_links(
    rows: pd.DataFrame, metric: str, *, minimum_steps: int = 15, level: float = DEFAULT_LEVEL
) -> Growth:
    """Pooled growth over canonical rows; links shorter than `minimum_steps` settled steps are left out."""
    usable = settled(rows)
    usable = usable[np.isfinite(values_of(usable, metric))]
    parts = [part for _, part in usable.groupby("link", sort=True) if len(part) >= minimum_steps]
    population = f"settled steps of links with at least {minimum_steps} of them"
    if not parts:
        reason = f"no link has {minimum_steps} steps with {metric}"
        missing = not_measurable(reason, population=population, method="pooled Theil–Sen")
        return Growth(
            metric=metric, slope=missing, tau=None, p_value=None, growth=None, links=(), resets=(), reason=reason
        )
    pairs = [(values_of(part, metric), steps_of(part).astype(np.float64)) for part in parts]
    links = tuple(_link_growth(part, metric, level) for part in parts)
    score = sum(kendall_score(y) for y, _ in pairs)
    variance = sum(kendall_variance(y) for y, _ in pairs)
    count = sum(y.size * (y.size - 1) // 2 for y, _ in pairs)
    shares = [link.growth for link in links if link.growth is not None]
    return Growth(
        metric=metric,
        slope=_pooled_slope(pairs, variance, level, population),
        tau=score / count,
        p_value=score_p_value(score, variance) if variance > 0 else None,
        growth=float(np.median(shares)) if shares else None,
        links=links,
        resets=_resets(parts, metric, rows.groupby("link")["global_step"].min()),
    )


def _link_growth(part: pd.DataFrame, metric: str, level: float) -> LinkGrowth:
    values = values_of(part, metric)
    job = str(part["job"].iloc[0])
    found = trend(values, steps_of(part), level=level, population=f"settled steps of {job}")
    median = float(np.median(values))
    slope = found.slope.value
    growth = plain(slope * len(part) / median) if slope is not None and median else None
    return LinkGrowth(link=int(part["link"].iloc[0]), job=job, trend=found, median=median, growth=growth)


def _pooled_slope(
    pairs: Sequence[tuple[FloatArray, FloatArray]], variance: float, level: float, population: str
) -> Estimate:
    slopes = np.sort(np.concatenate([_slopes(y, x) for y, x in pairs]))
    half = float(special.ndtri(0.5 + level / 2)) * math.sqrt(variance)
    lower = max(0, round((slopes.size - half) / 2) - 1)
    upper = min(slopes.size - 1, round((slopes.size + half) / 2))
    return Estimate(
        value=float(np.median(slopes)),
        lower=float(slopes[lower]),
        upper=float(slopes[upper]),
        level=level,
        n=sum(y.size for y, _ in pairs),
        population=population,
        method="pooled Theil–Sen",
    )


def _slopes(y: FloatArray, x: FloatArray) -> FloatArray:
    first, second = np.triu_indices(y.size, 1)
    return np.asarray((y[second] - y[first]) / (x[second] - x[first]))


def _resets(parts: Sequence[pd.DataFrame], metric: str, first_steps: pd.Series[int]) -> tuple[Reset, ...]:
    """Between links that follow each other; a link begins before its first settled step."""
    resets = []
    for before, after in pairwise(parts):
        if int(after["link"].iloc[0]) != int(before["link"].iloc[0]) + 1:
            continue
        last, first = values_of(before, metric)[-RESET_WINDOW:], values_of(after, metric)[:RESET_WINDOW]
        resets.append(
            Reset(
                restart_step=int(first_steps[after["link"].iloc[0]]),
                median_before=float(np.median(last)),
                median_after=float(np.median(first)),
                n_before=int(last.size),
                n_after=int(first.size),
                p_value=mann_whitney_p(last, first),
            )
        )
    return tuple(resets)
