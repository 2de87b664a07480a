"""Is the difference between two samples more than chance? Arrays in, `Difference` out.

The headline p is that of a permutation test of the means with a fixed seed; Welch's t and Mann–Whitney
stand beside it, Cliff's delta gives the size without units, Holm's procedure corrects a family. Values of
successive steps are treated as exchangeable under the null hypothesis, which trends and autocorrelation
violate: a difference between jobs of one chain is confounded with training time, and callers say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_pipeline.analysis.estimates import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Estimate,
    FloatArray,
    finite,
    plain,
)
from rl_pipeline.analysis.intervals import bootstrap_difference
from rl_pipeline.analysis.rank_statistics import mann_whitney, midranks, welch
from rl_pipeline.analysis.resampling import Draws

Values = Sequence[float] | npt.NDArray[Any]
PERMUTATIONS = 20_000
ENOUGH_EXTREME = 1_000  # relabellings as extreme as the data after which p is known to 3 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Sample a against sample b.

    Attributes:
        a: name of the first sample.
        b: name of the second.
        mean_difference: mean(a) − mean(b) with its bootstrap interval.
        n_a: finite values of a.
        n_b: finite values of b.
        permutation_p: two-sided p of the difference of means under relabelling.
        holm_p: the same, Holm-corrected within its family; None outside a family.
        welch_p: Welch's t test.
        mann_whitney_p: Mann–Whitney U.
        cliffs_delta: P(a > b) − P(a < b), −1 … 1.
        reason: why something is missing.
    """

    a: str
    b: str
    mean_difference: Estimate
    n_a: int
    n_b: int
    permutation_p: float | None = None
    holm_p: float | None = None
    welch_p: float | None = None
    mann_whitney_p: float | None = None
    cliffs_delta: float | None = None
    reason: str | None = None


def compare(
    a: Values,
    b: Values,
    *,
    names: tuple[str, str] = ("a", "b"),
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = DEFAULT_SEED,
    population: str = "values",
    draws: Draws | None = None,
) -> Difference:
    """All tests of two samples of shape (n_a,) and (n_b,); NaN are left out.

    `resamples` are those of the bootstrap, `permutations` the relabellings; `draws` are those of earlier calls, to
    be shared.
    """
    draws = draws or Draws()
    first, second = np.sort(finite(a)), np.sort(finite(b))  # so that their order changes nothing
    interval = bootstrap_difference(
        first, second, level=level, resamples=resamples, seed=seed, population=population, draws=draws
    )
    sizes = Difference(a=names[0], b=names[1], mean_difference=interval, n_a=int(first.size), n_b=int(second.size))
    if first.size < 2 or second.size < 2:
        return replace(sizes, reason=f"{names[0]} has {first.size} and {names[1]} {second.size} values; both need two")
    return replace(
        sizes,
        permutation_p=permutation_p(first, second, permutations=permutations, seed=seed, draws=draws),
        welch_p=welch_p(first, second),
        mann_whitney_p=mann_whitney_p(first, second),
        cliffs_delta=cliffs_delta(first, second),
    )


def permutation_p(
    a: FloatArray,
    b: FloatArray,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = DEFAULT_SEED,
    draws: Draws | None = None,
) -> float:
    """Two-sided p of the difference of means: (1 + relabellings at least as extreme) ÷ (1 + relabellings).

    Drawing stops early once `ENOUGH_EXTREME` are found: a p that is not small needs no more digits (Besag &
    Clifford 1991).
    """
    pooled = np.sort(np.concatenate([a, b]))
    observed = abs(float(a.mean() - b.mean())) * (1 - 1e-12)
    total, size = float(pooled.sum()), min(a.size, b.size)
    extreme = drawn = 0
    for places in (draws or Draws()).relabellings(pooled.size, permutations=permutations, seed=seed):
        part = pooled.take(places[:, :size]).sum(axis=1)
        difference = np.abs(part / size - (total - part) / (pooled.size - size))
        extreme += int((difference >= observed - 1e-12 * np.abs(pooled).max()).sum())
        drawn += len(places)
        if extreme >= ENOUGH_EXTREME:
            break
    return (1 + extreme) / (1 + drawn)


def cliffs_delta(a: FloatArray, b: FloatArray) -> float:
    """P(a > b) − P(a < b) over all pairs; from the Mann–Whitney statistic."""
    ranks = midranks(np.concatenate([a, b]))
    u = float(ranks[: a.size].sum()) - a.size * (a.size + 1) / 2
    return 2 * u / (a.size * b.size) - 1


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction; missing entries stay missing and do not count.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, i) in enumerate(known):
        running = max(running, min(1.0, p * (len(known) - rank)))
        corrected[i] = running
    return corrected


def with_holm(family: Sequence[Difference]) -> tuple[Difference, ...]:
    """The same differences, their permutation p corrected as one family."""
    corrected = holm([difference.permutation_p for difference in family])
    return tuple(replace(d, holm_p=p) for d, p in zip(family, corrected, strict=True))


def welch_p(a: FloatArray, b: FloatArray) -> float | None:
    """Two-sided p of Welch's t test; None when nothing varies or a side has fewer than two values."""
    if min(a.size, b.size) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return None
    return plain(welch(a, b))


def mann_whitney_p(a: FloatArray, b: FloatArray) -> float | None:
    """Two-sided p of the Mann–Whitney U test; None when a side is empty."""
    if not a.size or not b.size:
        return None
    return plain(mann_whitney(a, b))
