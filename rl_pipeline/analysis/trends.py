"""Trends, level changes and the smallest gain a run could have shown; arrays in, dataclasses out.

Theil–Sen slopes with Sen's interval, the Mann–Kendall test with its correction for ties and, beside it,
Hamed & Rao's correction for autocorrelation, Pettitt's test for one change of level. SciPy has the first
only. Times of observation are the global steps; NaN are left out pairwise with their step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from rl_pipeline.analysis.estimates import DEFAULT_LEVEL, Estimate, FloatArray, not_measurable
from rl_pipeline.analysis.rank_statistics import midranks, sen_slope

Values = Sequence[float] | npt.NDArray[Any]
MINIMUM = 3  # observations below which no trend is computed
AUTOCORRELATION_LEVEL = 0.05  # Hamed & Rao use the lags that are significant at this level


@dataclass(frozen=True, slots=True, kw_only=True)
class MannKendall:
    """Is there a monotone trend?

    Attributes:
        n: observations.
        s: pairs that rise minus pairs that fall.
        tau: s ÷ number of pairs (ties count in the denominator).
        variance: of s without a trend, corrected for ties.
        p_value: two-sided, continuity-corrected normal approximation, independent observations.
        correction: Hamed & Rao's factor n/n*; below 1 the series is negatively autocorrelated.
        corrected_p_value: p with variance × correction; None when the factor is not positive.
        reason: why something is missing.
    """

    n: int
    s: int | None = None
    tau: float | None = None
    variance: float | None = None
    p_value: float | None = None
    correction: float | None = None
    corrected_p_value: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A series against its steps.

    Attributes:
        slope: Theil–Sen change per step with Sen's interval.
        test: Mann–Kendall.
        residual_spread: sample SD (n − 2) of what the slope leaves, in units of the series.
        first_step: first step used.
        last_step: last step used.
        population: which rows.
    """

    slope: Estimate
    test: MannKendall
    residual_spread: float | None
    first_step: int | None
    last_step: int | None
    population: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """Pettitt's test: after which step the level changes, if it does.

    Attributes:
        after_step: last step of the first part; None when not measurable.
        k: the test's statistic.
        p_value: approximate two-sided p (asymptotic, at most 1).
        mean_before: mean up to `after_step`.
        mean_after: mean of the rest.
        n: observations.
        restart_step: first step of the link that begins at the change (within `near_steps`), else None.
        reason: why it is missing.
    """

    after_step: int | None
    k: int | None
    p_value: float | None
    mean_before: float | None
    mean_after: float | None
    n: int
    restart_step: int | None = None
    reason: str | None = None


def trend(
    values: Values, steps: Values | None = None, *, level: float = DEFAULT_LEVEL, population: str = "steps"
) -> Trend:
    """Slope, test and residual spread of values of shape (n,) at steps of shape (n,) (default 0 … n−1)."""
    y, x = _aligned(values, steps)
    slope = theil_sen(y, x, level=level, population=population)
    return Trend(
        slope=slope,
        test=mann_kendall(y, x),
        residual_spread=_residual_spread(y, x, slope.value),
        first_step=int(x.min()) if x.size else None,
        last_step=int(x.max()) if x.size else None,
        population=population,
    )


def theil_sen(
    values: Values, steps: Values | None = None, *, level: float = DEFAULT_LEVEL, population: str = "steps"
) -> Estimate:
    """Median of all pairwise slopes, per step, with Sen's interval."""
    y, x = _aligned(values, steps)
    if y.size < MINIMUM or np.unique(x).size < 2:
        return not_measurable(f"fewer than {MINIMUM} values", n=int(y.size), population=population, method="Theil–Sen")
    found = sen_slope(y, x, level)
    return Estimate(
        value=found.slope,
        lower=found.low,
        upper=found.high,
        level=level,
        n=int(y.size),
        population=population,
        method="Theil–Sen",
    )


def mann_kendall(values: Values, steps: Values | None = None) -> MannKendall:
    """Mann–Kendall test of values of shape (n,), in the order of their steps.

    Source: Mann 1945, Kendall 1975 (variance with ties); Hamed & Rao 1998 for the correction: the series
    is detrended by Theil–Sen, and the significant autocorrelations of the ranks enter equation 10 there.
    """
    y, x = _aligned(values, steps)
    order = np.argsort(x, kind="stable")
    y, x = y[order], x[order]
    n = int(y.size)
    if n < MINIMUM:
        return MannKendall(n=n, reason=f"fewer than {MINIMUM} values")
    s, variance = kendall_score(y), kendall_variance(y)
    if variance <= 0:
        return MannKendall(n=n, s=s, tau=0.0, variance=0.0, reason="all values are equal")
    factor = hamed_rao_factor(y, x)
    usable = factor > 0
    return MannKendall(
        n=n,
        s=s,
        tau=s / (n * (n - 1) / 2),
        variance=variance,
        p_value=score_p_value(s, variance),
        correction=factor,
        corrected_p_value=score_p_value(s, variance * factor) if usable else None,
        reason=None if usable else "the autocorrelation correction is not positive",
    )


def kendall_score(values: FloatArray) -> int:
    """Rising minus falling pairs of values of shape (n,) in time order."""
    differences = np.sign(values[None, :] - values[:, None])
    return int(np.triu(differences, 1).sum())


def kendall_variance(values: FloatArray) -> float:
    """Variance of the score without a trend, ties corrected."""
    n = values.size
    _, ties = np.unique(values, return_counts=True)
    return float((n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18)


def score_p_value(s: int, variance: float) -> float:
    """Two-sided p of a score, with continuity correction."""
    z = (abs(s) - 1) / math.sqrt(variance) if s else 0.0
    return float(2 * special.ndtr(-max(z, 0.0)))


def hamed_rao_factor(values: FloatArray, steps: FloatArray) -> float:
    """n/n* of Hamed & Rao 1998, equation 10, from the significant rank autocorrelations."""
    n = values.size
    if n < 4:
        return 1.0
    slope = sen_slope(values, steps).slope
    ranks = midranks(values - slope * steps)
    correlations = autocorrelations(ranks)
    lags = np.arange(1, n - 1)
    weights = (n - lags) * (n - lags - 1.0) * (n - lags - 2.0)
    limit = float(special.ndtri(1 - AUTOCORRELATION_LEVEL / 2)) / math.sqrt(n)
    significant = np.abs(correlations[1 : n - 1]) > limit
    return float(1 + 2 / (n * (n - 1.0) * (n - 2.0)) * (weights * correlations[1 : n - 1])[significant].sum())


def autocorrelations(values: FloatArray) -> FloatArray:
    """Sample autocorrelation at lags 0 … n−1, shape (n,); zeros for a constant series."""
    centred = np.asarray(values, dtype=np.float64) - np.mean(values)
    total = float(centred @ centred)
    if total == 0:
        return np.zeros(centred.size)
    return np.asarray(np.correlate(centred, centred, mode="full")[centred.size - 1 :] / total)


def pettitt(
    values: Values, steps: Values | None = None, *, restarts: Sequence[int] = (), near_steps: int = 5
) -> LevelChange:
    """The most likely single change of level of values of shape (n,).

    Args:
        values: the series.
        steps: its steps.
        restarts: first steps of links; one within `near_steps` of the change is named, since a restart is
            then a cause that the data cannot tell from others.
        near_steps: how near counts.

    Source: Pettitt 1979; p ≈ 2 exp(−6 K² / (n³ + n²)).
    """
    y, x = _aligned(values, steps)
    n = int(y.size)
    if n < MINIMUM + 1:
        reason = f"fewer than {MINIMUM + 1} values"
        return LevelChange(after_step=None, k=None, p_value=None, mean_before=None, mean_after=None, n=n, reason=reason)
    ranks = midranks(y)
    sizes = np.arange(1, n)
    scores = sizes * (n + 1) - 2 * np.cumsum(ranks)[:-1]
    place = int(np.argmax(np.abs(scores)))
    k = float(abs(scores[place]))
    after = int(x[place])
    near = [step for step in restarts if abs(step - after - 1) <= near_steps]
    return LevelChange(
        after_step=after,
        k=round(k),
        p_value=min(1.0, 2 * math.exp(-6 * k * k / (n**3 + n**2))),
        mean_before=float(y[: place + 1].mean()),
        mean_after=float(y[place + 1 :].mean()),
        n=n,
        restart_step=min(near, key=lambda step: abs(step - after - 1)) if near else None,
    )


def _aligned(values: Values, steps: Values | None) -> tuple[FloatArray, FloatArray]:
    """Finite values and their steps, as float arrays."""
    y = np.asarray(values, dtype=np.float64).ravel()
    x = np.arange(y.size, dtype=np.float64) if steps is None else np.asarray(steps, dtype=np.float64).ravel()
    both = np.isfinite(y) & np.isfinite(x)
    return y[both], x[both]


def _residual_spread(y: FloatArray, x: FloatArray, slope: float | None) -> float | None:
    if slope is None or y.size < MINIMUM:
        return None
    rest = y - slope * x
    return float(math.sqrt(((rest - rest.mean()) ** 2).sum() / (y.size - 2)))
