"""From pandas results to plain Python numbers: a number that does not exist is None, never NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd


def finite(value: Any) -> float | None:  # noqa: ANN401 - whatever a frame gives back
    """The number as a float; None when there is none or it is not finite."""
    if value is None or value is pd.NA:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def whole(value: float | None) -> int | None:
    """A count that went through a float column."""
    return None if value is None else round(value)


def mean(values: pd.Series[Any]) -> float | None:
    """Mean of the values that are there."""
    if values.dtype == np.float64:
        return mean_of(values.to_numpy())
    return finite(values.mean()) if len(values) else None


def mean_of(values: npt.NDArray[np.float64]) -> float | None:
    """The same of an array, to the last digit: what is missing is summed as 0."""
    is_missing = np.isnan(values)
    missing = np.count_nonzero(is_missing)
    if missing == values.size:
        return None
    known = np.where(is_missing, 0.0, values) if missing else values
    return finite(known.sum() / (values.size - missing))


def maximum_of(values: npt.NDArray[np.float64]) -> float | None:
    """Largest of the values of an array that are there."""
    known = values[~np.isnan(values)]
    return finite(known.max()) if known.size else None


def sample_std(values: pd.Series[Any]) -> float | None:
    """Standard deviation with n − 1; None for fewer than two values."""
    return finite(values.std(ddof=1)) if len(values) else None


def maximum(values: pd.Series[Any]) -> float | None:
    """Largest of the values that are there."""
    return finite(values.max()) if len(values) else None


def minimum(values: pd.Series[Any]) -> float | None:
    """Smallest of the values that are there."""
    return finite(values.min()) if len(values) else None


def total(values: pd.Series[Any]) -> float | None:
    """Sum of the values that are there; None when there is none."""
    return finite(values.sum(min_count=1)) if len(values) else None
