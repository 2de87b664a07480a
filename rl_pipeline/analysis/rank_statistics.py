"""Ranks, Theil–Sen slopes and three tests by their definitions, for finite values.

`scipy.stats` has them too, and the tests compare with it; its import alone takes as long as analysing a run, and 45 MB.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]

EXACT_UP_TO = 8  # values of the smaller side for which all orders are counted
EXACT_SIGNS_UP_TO = 50  # differences whose signs are counted in all orders, if no two are of one size
DRAWN_SIGNS_UP_TO = 13  # and if some are
ROWS_AT_ONCE = 128  # of a matrix of pairs


class SenSlope(NamedTuple):
    """Median of all pairwise slopes, and Sen's interval around it."""

    slope: float
    low: float
    high: float


def midranks(values: FloatArray) -> FloatArray:
    """Ranks 1 … n of values of shape (n,); equal ones share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place.ravel()], dtype=np.float64)


def sen_slope(y: FloatArray, x: FloatArray, level: float = 0.95) -> SenSlope:
    """Slopes of all pairs with different x; both of shape (n,).

    Source: Sen 1968, equation 2.6, with the variance corrected for ties. The ends are NaN where it cannot be.
    """
    starts = range(0, x.size, ROWS_AT_ONCE)
    slopes = np.concatenate(
        [_rising_slopes(y, x, slice(start, start + ROWS_AT_ONCE)) for start in starts] or [np.zeros(0)]
    )
    if not slopes.size:
        return SenSlope(math.nan, math.nan, math.nan)
    slopes.sort()
    middle = float((slopes[(slopes.size - 1) // 2] + slopes[slopes.size // 2]) / 2)
    n = y.size
    variance = (n * (n - 1) * (2 * n + 5) - _tie_term(x) - _tie_term(y)) / 18
    if variance < 0:
        return SenSlope(middle, math.nan, math.nan)
    reach = -float(special.ndtri((1 - level) / 2)) * math.sqrt(variance)
    low = max(round((slopes.size - reach) / 2) - 1, 0)
    high = min(round((slopes.size + reach) / 2), slopes.size - 1)
    return SenSlope(middle, float(slopes[low]), float(slopes[high]))


def _rising_slopes(y: FloatArray, x: FloatArray, some: slice) -> FloatArray:
    """Slopes of some of the points to all others with a smaller x."""
    run = x[some, np.newaxis] - x
    rising = run > 0
    return (y[some, np.newaxis] - y)[rising] / run[rising]


def _tie_term(values: FloatArray) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) * (2 * counts + 5)).sum())


def mann_whitney(a: FloatArray, b: FloatArray) -> float:
    """Two-sided p of the Mann–Whitney U test of values of shapes (n,) and (m,), none of them empty.

    All orders are counted when a side is small and no two values are equal; else the normal approximation with
    corrections for ties and continuity. NaN when all values are equal.
    """
    together = np.concatenate([a, b])
    counts = np.unique(together, return_counts=True)[1].astype(np.float64)
    n, m = a.size, b.size
    first = float(midranks(together)[:n].sum()) - n * (n + 1) / 2
    u = max(first, n * m - first)
    if min(n, m) <= EXACT_UP_TO and counts.size == n + m:
        return min(1.0, 2 * _share_of_orders(round(n * m - u), n, m))
    ties = float((counts**3 - counts).sum()) / ((n + m) * (n + m - 1))
    spread = math.sqrt(max(0.0, n * m / 12 * ((n + m + 1) - ties)))
    return min(1.0, 2 * float(special.ndtr(-(u - n * m / 2 - 0.5) / spread))) if spread else math.nan


def _share_of_orders(u: int, n: int, m: int) -> float:
    """Share of the orders of n and m values whose U is at most `u`, from the generating function of U."""
    ways = [1] + [0] * u
    for step in range(1, min(n, m) + 1):
        for place in range(u, max(n, m) + step - 1, -1):
            ways[place] -= ways[place - max(n, m) - step]
        for place in range(step, u + 1):
            ways[place] += ways[place - step]
    return sum(ways) / math.comb(n + m, n)


def welch(a: FloatArray, b: FloatArray) -> float:
    """Two-sided p of Welch's t test; values of shapes (n,) and (m,), at least two each, and one side varies.

    NaN where the values differ by less than their squares can tell.
    """
    parts = np.array([float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size])
    largest = float(parts.max())
    if not largest:
        return math.nan
    shares = parts / largest  # of parts as small as those of numbers near 0, the squares would be 0
    freedom = float(shares.sum() ** 2 / (shares[0] ** 2 / (a.size - 1) + shares[1] ** 2 / (b.size - 1)))
    t = float(a.mean() - b.mean()) / math.sqrt(float(parts.sum()))
    return 2 * float(special.stdtr(freedom, -abs(t)))


def spearman(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Spearman's ρ of arrays of shape (n,), n ≥ 3, neither constant, and its two-sided p by Student's t."""
    rho = float(np.corrcoef(midranks(x), midranks(y))[0, 1])
    freedom = x.size - 2
    rest = (rho + 1) * (1 - rho)
    t = rho * math.sqrt(freedom / rest) if rest > 0 else math.inf
    return rho, 2 * float(special.stdtr(freedom, -abs(t)))


def signed_rank(differences: FloatArray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test of differences of shape (n,), none of them 0.

    The normal approximation with a correction for ties where SciPy takes it; few differences are left to SciPy, which
    counts all orders or draws some.
    """
    sizes, n = np.abs(differences), differences.size
    counts = np.unique(sizes, return_counts=True)[1].astype(np.float64)
    if n > EXACT_SIGNS_UP_TO or (n > DRAWN_SIGNS_UP_TO and counts.size < n):
        spread = math.sqrt((n * (n + 1) * (2 * n + 1) - float((counts**3 - counts).sum()) / 2) / 24)
        z = (float(midranks(sizes)[differences > 0].sum()) - n * (n + 1) / 4) / spread
        return 2 * float(special.ndtr(-abs(z)))
    from scipy import stats  # noqa: PLC0415 - few reports ask for it, and none waits for it otherwise

    found: Any = stats.wilcoxon(differences)
    return float(found.pvalue)
