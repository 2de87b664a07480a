"""What a run could have shown at all: the smallest gain it would detect with a given power.

Normal approximation for independent steps of equal spread. Positive autocorrelation makes the true
values larger, so these are lower limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from rl_pipeline.analysis.estimates import FloatArray, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableGain:
    """Smallest gains a test at `alpha` finds with probability `power`, in units of the series.

    Attributes:
        over_run: gain of a straight line from the first to the last step (slope × number of steps).
        between_windows: gain between two windows, by window length in steps; only lengths that fit twice.
        residual_spread: SD of a single step it rests on.
        n: steps.
        power: as asked.
        alpha: two-sided level of the test.
        reason: why it is missing.
    """

    over_run: float | None
    between_windows: dict[int, float]
    residual_spread: float | None
    n: int
    power: float
    alpha: float
    reason: str | None = None


def detectable_gain(
    residual_spread: float | None,
    steps: FloatArray,
    *,
    windows: tuple[int, ...] = (10, 20),
    power: float = 0.8,
    alpha: float = 0.05,
) -> DetectableGain:
    """Smallest detectable gains over steps of shape (n,) whose single values spread by `residual_spread`."""
    n = int(np.asarray(steps).size)
    missing = residual_spread is None or n < 3
    if missing or residual_spread is None:
        reason = "fewer than 3 steps" if n < 3 else "no residual spread"
        return DetectableGain(
            over_run=None, between_windows={}, residual_spread=None, n=n, power=power, alpha=alpha, reason=reason
        )
    factor = float(special.ndtri(1 - alpha / 2) + special.ndtri(power))
    centred = np.asarray(steps, dtype=np.float64) - np.mean(steps)
    span = float(np.ptp(steps)) + 1
    over_run = factor * residual_spread / math.sqrt(float((centred**2).sum())) * span
    between = {w: factor * residual_spread * math.sqrt(2 / w) for w in windows if 2 * w <= n}
    return DetectableGain(
        over_run=plain(over_run),
        between_windows=between,
        residual_spread=residual_spread,
        n=n,
        power=power,
        alpha=alpha,
    )
