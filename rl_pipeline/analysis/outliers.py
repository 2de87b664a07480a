"""Single steps that stand out: robust z by the median absolute deviation (MAD).

z = (x − median) ÷ (1.4826 × MAD); the factor makes the MAD estimate a normal SD. Where more than half of
the values are equal the MAD is 0 and nothing stands out by this measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.series import STEP_SECONDS, settled, values_of

MAD_TO_SD = 1.4826


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlyingStep:
    """A step far above its fellows.

    Attributes:
        global_step: which.
        job: of its row.
        value: of the metric.
        z: robust z among its fellows.
        median: of its fellows.
        excess: value − median.
        ratio: value ÷ median; None when the median is 0.
    """

    global_step: int
    job: str
    value: float
    z: float
    median: float
    excess: float
    ratio: float | None


def robust_z(values: Sequence[float] | npt.NDArray[Any]) -> FloatArray:
    """Robust z of values of shape (n,); NaN where a value is missing, all NaN when the MAD is 0."""
    array = np.asarray(values, dtype=np.float64)
    known = array[np.isfinite(array)]
    if known.size == 0:
        return np.full(array.shape, np.nan)
    median = np.median(known)
    deviation = MAD_TO_SD * float(np.median(np.abs(known - median)))
    if deviation == 0:
        return np.full(array.shape, np.nan)
    return np.where(np.isfinite(array), (array - median) / deviation, np.nan)


def outlying_steps(
    rows: pd.DataFrame, metric: str = STEP_SECONDS, *, z: float = 3.5, ratio: float = 0.0
) -> tuple[OutlyingStep, ...]:
    """Rows above the given z and above ratio × median among all rows given, farthest first."""
    values = values_of(rows, metric)
    if not np.isfinite(values).any():
        return ()
    scores, median = robust_z(values), float(np.median(values[np.isfinite(values)]))
    found = [
        OutlyingStep(
            global_step=int(rows["global_step"].iloc[i]),
            job=str(rows["job"].iloc[i]),
            value=float(values[i]),
            z=float(scores[i]),
            median=median,
            excess=float(values[i]) - median,
            ratio=float(values[i]) / median if median else None,
        )
        for i in np.flatnonzero(scores > z)
        if values[i] > ratio * median
    ]
    return tuple(sorted(found, key=lambda step: -step.z))


def stragglers(
    rows: pd.DataFrame, metric: str = STEP_SECONDS, *, z: float = 3.5, ratio: float = 1.5, link_steps: int = 10
) -> tuple[OutlyingStep, ...]:
    """Outlying steps within each link, warm-up left out, in order of steps.

    Links with fewer than `link_steps` settled steps are left out: their MAD says little.
    """
    parts = [part for _, part in settled(rows).groupby("link", sort=True) if len(part) >= link_steps]
    found = [step for part in parts for step in outlying_steps(part, metric, z=z, ratio=ratio)]
    return tuple(sorted(found, key=lambda step: step.global_step))
