"""Curves over the steps that count: smoothed, with jobs, for the pictures of stability.

Each curve is one quantity under whichever of its names the run logged. A value printed as 0.0000 is kept
as what was printed and marked, since its size is unknown. Long runs are put into bins of successive steps
of one link, so that a curve holds at most `MOST_POINTS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.checkpoints import ALPHA, ema
from rl_pipeline.analysis.series import first_logged, settled, states_of, steps_of, values_of
from rl_pipeline.analysis.trends import trend
from rl_pipeline.metric_catalog import describe
from rl_pipeline.schema import BELOW_RESOLUTION

MOST_POINTS = 400
# What stability is read from, and the names under which trainers log it, best first.
STABILITY: dict[str, tuple[str, ...]] = {
    "entropy": ("policy/policy_entropy",),
    "gradient norm": ("policy/grad_norm", "policy/raw_grad_norm"),
    "policy loss": ("policy/policy_loss", "policy/final_loss"),
    "KL to the reference": ("policy/policy_kl", "loss/avg_kl", "reward/policy_ref_kl"),
    "clip fraction": ("policy/loss_metrics/clip_ratio", "policy/ppo_clip_ratio"),
    "staleness": ("async/staleness_mean",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One step, or one bin of successive steps.

    Attributes:
        job: short name.
        step: global step, the first one of a bin.
        steps: rows in the bin.
        value: the value, in a bin the mean.
        smoothed: exponential mean up to here.
        below_resolution: printed as 0.0000 (in a bin: all of them).
        is_warm_up: one of the first steps after a start (in a bin: all of them).
    """

    job: str
    step: int
    steps: int
    value: float
    smoothed: float
    below_resolution: bool
    is_warm_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One quantity over the run.

    Attributes:
        name: what it is called.
        metric: the name it was logged under; None when it was not.
        unit: of its values.
        points: in step order.
        error: standard error of one smoothed value, from the noise of the settled steps; None when unknown.
    """

    name: str
    metric: str | None
    unit: str
    points: tuple[CurvePoint, ...]
    error: float | None = None


def stability_curves(canonical: pd.DataFrame) -> tuple[Curve, ...]:
    """All curves of `STABILITY`; one that was never logged has no points."""
    return tuple(curve_of(canonical, name, metrics) for name, metrics in STABILITY.items())


def curve_of(canonical: pd.DataFrame, name: str, metrics: tuple[str, ...]) -> Curve:
    """The curve of the first of the metrics that was logged, over rows of `canonical_steps`."""
    metric = first_logged(canonical, metrics)
    if metric is None:
        return Curve(name=name, metric=None, unit="", points=())
    info = describe(metric)
    calm = settled(canonical)
    spread = trend(values_of(calm, metric), steps_of(calm)).residual_spread
    return Curve(
        name=name,
        metric=metric,
        unit=info.unit.value if info else "1",
        points=_points(canonical, metric),
        error=None if spread is None else spread * math.sqrt(ALPHA / (2 - ALPHA)),
    )


def _points(canonical: pd.DataFrame, metric: str) -> tuple[CurvePoint, ...]:
    values = values_of(canonical, metric)
    table = pd.DataFrame(
        {
            "job": canonical["job"],
            "link": canonical["link"],
            "step": canonical["global_step"].astype("int64"),
            "value": values,
            "smoothed": ema(values, alpha=ALPHA),
            "warm_up": canonical["is_warm_up"].astype(bool),
            "below": [state == BELOW_RESOLUTION for state in states_of(canonical, metric)],
        }
    )
    table = table[np.isfinite(table["value"])]
    bins = _binned(table) if len(table) > MOST_POINTS else table.sort_values(["link", "step"]).assign(steps=1)
    columns = ("job", "step", "steps", "value", "smoothed", "below", "warm_up")
    return tuple(
        CurvePoint(
            job=str(job),
            step=int(step),
            steps=int(steps),
            value=float(value),
            smoothed=float(smoothed),
            below_resolution=bool(below),
            is_warm_up=bool(warm_up),
        )
        for job, step, steps, value, smoothed, below, warm_up in bins[list(columns)].itertuples(index=False, name=None)
    )


def _binned(table: pd.DataFrame) -> pd.DataFrame:
    width = -(-len(table) // MOST_POINTS)
    return table.groupby([table["link"], (table["step"] - 1) // width], sort=True).agg(
        job=("job", "first"),
        step=("step", "min"),
        steps=("step", "size"),
        value=("value", "mean"),
        smoothed=("smoothed", "last"),
        below=("below", "all"),
        warm_up=("warm_up", "all"),
    )
