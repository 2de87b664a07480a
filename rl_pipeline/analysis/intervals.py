"""Intervals on means, rates and any statistic of a sample; arrays in, `Estimate` out.

The t interval and Wilson's score interval are closed forms; every other statistic takes a percentile
bootstrap with a fixed seed, so that the same values give the same interval each time. Observations
that depend on each other (trials of one prompt, steps of one run) make the closed forms too narrow:
then resample clusters (`cluster_rate_interval`) or widen by the design effect (`clustering`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from rl_pipeline.analysis.estimates import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Estimate,
    FloatArray,
    finite,
    not_measurable,
    plain,
)
from rl_pipeline.analysis.resampling import Draws, Places, resamples_of

Values = Sequence[float] | npt.NDArray[Any]
# A statistic over the last axis: shape (..., n) → (...).
Statistic = Callable[[FloatArray], FloatArray]


def mean_interval(values: Values, *, level: float = DEFAULT_LEVEL, population: str = "values") -> Estimate:
    """Mean of values of shape (n,) with Student's t interval; NaN are left out.

    Without two finite values there is no interval; the value of a single one is still given.
    """
    sample = finite(values)
    n = int(sample.size)
    if n == 0:
        return not_measurable("no finite value", population=population, method="t")
    mean = float(sample.mean())
    if n == 1:
        return Estimate(value=mean, n=1, population=population, method="t", level=level, reason="n = 1, no spread")
    spread = float(sample.std(ddof=1))
    error = spread / math.sqrt(n)
    half = error * float(special.stdtrit(n - 1, 0.5 + level / 2))
    return Estimate(
        value=mean,
        lower=mean - half,
        upper=mean + half,
        level=level,
        n=n,
        population=population,
        method="t",
        standard_error=error,
        spread=spread,
    )


def wilson_interval(
    successes: int, attempts: int, *, level: float = DEFAULT_LEVEL, population: str = "attempts"
) -> Estimate:
    """Success rate with Wilson's score interval, which stays inside [0, 1] for small samples.

    The attempts count as independent. Source: Wilson 1927; recommended for small n by
    Brown, Cai & DasGupta 2001, section 3.1.1.

    >>> wilson_interval(0, 8).upper > 0
    True
    """
    if attempts <= 0:
        return not_measurable("no attempt", population=population, method="wilson")
    rate = successes / attempts
    lower, upper = wilson_bounds(rate, attempts, level=level)
    error = math.sqrt(rate * (1 - rate) / attempts)
    return Estimate(
        value=rate,
        lower=lower,
        upper=upper,
        level=level,
        n=attempts,
        population=population,
        method="wilson",
        standard_error=error,
    )


def widened(rate: Estimate, design_effect: float | None) -> Estimate:
    """A Wilson rate whose attempts are worth fewer independent ones: n ÷ design effect.

    Without a design effect above 1 the rate stays as it is.
    """
    if rate.value is None or design_effect is None or design_effect <= 1 or rate.n <= 0:
        return rate
    lower, upper = wilson_bounds(rate.value, rate.n / design_effect, level=rate.level)
    error = None if rate.standard_error is None else rate.standard_error * math.sqrt(design_effect)
    method = f"wilson, design effect {design_effect:.1f}"
    return replace(rate, lower=lower, upper=upper, method=method, standard_error=error)


def wilson_bounds(rate: float, attempts: float, *, level: float = DEFAULT_LEVEL) -> tuple[float, float]:
    """Wilson's bounds for a rate out of attempts; attempts may be an effective (fractional) number."""
    z = float(special.ndtri(0.5 + level / 2))
    denominator = 1 + z * z / attempts
    centre = (rate + z * z / (2 * attempts)) / denominator
    half = z * math.sqrt(rate * (1 - rate) / attempts + z * z / (4 * attempts * attempts)) / denominator
    return (0.0 if rate == 0 else max(0.0, centre - half)), (1.0 if rate == 1 else min(1.0, centre + half))


def bootstrap_interval(
    values: Values,
    statistic: Statistic | None = None,
    *,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    population: str = "values",
) -> Estimate:
    """A statistic (default: mean) of values of shape (n,) with its percentile bootstrap interval."""
    compute = statistic or _mean
    sample = np.sort(finite(values))  # sorted: the interval does not depend on the order of the values
    drawn = None
    if sample.size > 1:
        drawn = _resampled(sample, compute, resamples_of(sample.size, resamples=resamples, seed=seed))
    return _bootstrap_estimate(sample, compute, drawn, level=level, population=population)


def bootstrap_means(
    samples: Sequence[Values],
    populations: Sequence[str],
    *,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> tuple[Estimate, ...]:
    """The interval that `bootstrap_interval` gives for the mean of each sample; equal sizes are drawn for once."""
    ordered = [np.sort(finite(values)) for values in samples]
    drawn: dict[int, FloatArray] = {}
    for size in sorted({sample.size for sample in ordered if sample.size > 1}):
        places = [place for place, sample in enumerate(ordered) if sample.size == size]
        stacked = np.stack([ordered[place] for place in places])
        means = _resampled(stacked, _mean, resamples_of(size, resamples=resamples, seed=seed))
        drawn.update(zip(places, means, strict=True))
    return tuple(
        _bootstrap_estimate(sample, _mean, drawn.get(place), level=level, population=population)
        for place, (sample, population) in enumerate(zip(ordered, populations, strict=True))
    )


def _bootstrap_estimate(
    sample: FloatArray, compute: Statistic, drawn: FloatArray | None, *, level: float, population: str
) -> Estimate:
    n = int(sample.size)
    if n == 0:
        return not_measurable("no finite value", population=population, method="bootstrap")
    value = plain(compute(sample).item())
    if drawn is None:
        return Estimate(
            value=value, n=n, population=population, method="bootstrap", level=level, reason="n = 1, no spread"
        )
    return _percentile_estimate(value, drawn, level=level, n=n, population=population, method="bootstrap")


def bootstrap_difference(
    a: Values,
    b: Values,
    statistic: Statistic | None = None,
    *,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    population: str = "values",
    draws: Draws | None = None,
) -> Estimate:
    """statistic(a) − statistic(b) (default: means), both resampled independently; n is that of both.

    `draws` are those of earlier calls, to be shared.
    """
    first, second, compute = np.sort(finite(a)), np.sort(finite(b)), statistic or _mean
    n = int(first.size + second.size)
    if first.size == 0 or second.size == 0:
        return not_measurable("one side has no finite value", n=n, population=population, method="bootstrap")
    value = plain(compute(first).item() - compute(second).item())
    if first.size < 2 or second.size < 2:
        reason = "one side has a single value, no spread"
        return Estimate(value=value, n=n, population=population, method="bootstrap", level=level, reason=reason)
    draws = draws or Draws()
    drawn = _resampled(first, compute, draws.resamples(first.size, resamples=resamples, seed=seed))
    drawn = drawn - _resampled(second, compute, draws.resamples(second.size, resamples=resamples, seed=seed + 1))
    return _percentile_estimate(value, drawn, level=level, n=n, population=population, method="bootstrap")


def cluster_rate_interval(
    successes: Values,
    attempts: Values,
    *,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    population: str = "attempts",
) -> Estimate:
    """Σ successes ÷ Σ attempts, resampling whole clusters (tasks, prompts).

    Args:
        successes: shape (clusters,), successes of each cluster.
        attempts: shape (clusters,), attempts of each cluster, > 0.
        level: coverage.
        resamples: number of bootstrap samples.
        seed: of the generator.
        population: what the attempts are, in words.

    Returns:
        The pooled rate; `n` is the number of attempts. One cluster gives no interval.
    """
    won, tried = np.asarray(successes, dtype=np.float64), np.asarray(attempts, dtype=np.float64)
    won, tried = won[tried > 0], tried[tried > 0]
    if tried.size == 0:
        return not_measurable("no attempt", population=population, method="cluster bootstrap")
    value, n = float(won.sum() / tried.sum()), int(tried.sum())
    if tried.size == 1:
        reason = "all attempts belong to one cluster"
        return Estimate(value=value, n=n, population=population, method="cluster bootstrap", level=level, reason=reason)
    order = np.lexsort((tried, won))
    drawn = _cluster_resampled(won[order], tried[order], resamples=resamples, seed=seed)
    return _percentile_estimate(value, drawn, level=level, n=n, population=population, method="cluster bootstrap")


def _mean(values: FloatArray) -> FloatArray:
    return np.asarray(values.mean(axis=-1))


def _resampled(sample: FloatArray, compute: Statistic, parts: Iterable[Places]) -> FloatArray:
    """The statistic of bootstrap samples of values of shape (..., n), shape (..., resamples)."""
    return np.concatenate([compute(sample.take(places, axis=-1)) for places in parts], axis=-1)


def _cluster_resampled(won: FloatArray, tried: FloatArray, *, resamples: int, seed: int) -> FloatArray:
    parts = resamples_of(won.size, resamples=resamples, seed=seed)
    return np.concatenate([won.take(places).sum(axis=1) / tried.take(places).sum(axis=1) for places in parts])


def _percentile_estimate(
    value: float | None, drawn: FloatArray, *, level: float, n: int, population: str, method: str
) -> Estimate:
    drawn = drawn[np.isfinite(drawn)]
    if value is None or drawn.size == 0:
        return not_measurable("the statistic is not finite", n=n, population=population, method=method)
    lower, upper = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(
        value=value,
        lower=float(lower),
        upper=float(upper),
        level=level,
        n=n,
        population=population,
        method=method,
        standard_error=float(drawn.std(ddof=1)) if drawn.size > 1 else None,
    )
