"""What a statistic is in a result: a value with its interval, its n and the population it speaks of.

Every number that leaves analysis is an `Estimate` or stands in a result next to its n. A number that
cannot be had is None, and `reason` says in words what is missing; it is never 0 and never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

DEFAULT_LEVEL = 0.95
DEFAULT_SEED = 20_260_101
DEFAULT_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One estimated quantity.

    Attributes:
        value: the estimate in the unit of the quantity; None when not measurable.
        lower: lower end of the interval; None when there is none.
        upper: upper end of the interval.
        level: coverage the interval aims at.
        n: observations behind the value (finite ones).
        population: what was averaged or counted over, in words.
        method: how the interval was made.
        standard_error: standard error of the value, where the method has one.
        spread: sample standard deviation (n − 1); None for n < 2.
        reason: why `value` (or the interval) is missing; None when nothing is.
    """

    value: float | None
    lower: float | None = None
    upper: float | None = None
    level: float = DEFAULT_LEVEL
    n: int
    population: str
    method: str
    standard_error: float | None = None
    spread: float | None = None
    reason: str | None = None

    def contains(self, value: float) -> bool | None:
        """Whether the interval holds the value; None without an interval."""
        if self.lower is None or self.upper is None:
            return None
        return self.lower <= value <= self.upper


def not_measurable(reason: str, *, n: int = 0, population: str = "", method: str = "none") -> Estimate:
    """An estimate that does not exist, and why."""
    return Estimate(value=None, n=n, population=population, method=method, reason=reason)


def finite(values: Sequence[float] | npt.NDArray[Any]) -> FloatArray:
    """The finite values, as a float array of shape (n,), in the order given."""
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]


def plain(value: float | np.floating[Any] | None) -> float | None:
    """A finite number as Python float, anything else as None."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Numerator ÷ denominator; None when one is missing or the denominator is 0."""
    if numerator is None or denominator is None or denominator == 0:
        return None
    return plain(numerator / denominator)
