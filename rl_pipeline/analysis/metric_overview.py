"""Every logged metric in one line: over the steps that count, with its course in a few points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.series import metric_names, states_of, values_of
from rl_pipeline.metric_catalog import describe
from rl_pipeline.schema import BELOW_RESOLUTION, NOT_FINITE

COURSE_POINTS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOverview:
    """One metric over the steps that count, in the unit of the catalogue.

    Attributes:
        metric: name as logged.
        meaning: from the catalogue; None for a name outside it.
        note: versions and caveats from the catalogue.
        unit: of its values; None for a name outside the catalogue.
        better: higher, lower or None.
        n: steps with a finite value.
        of_steps: all steps that count.
        mean, std, minimum, maximum: over these (sample standard deviation).
        first: of the first step that has it.
        last: of the last one.
        below_resolution: steps in which 0.0000 was printed.
        not_finite: steps in which it was NaN or infinite.
        course: thinned to a few means in step order, for a small line.
    """

    metric: str
    meaning: str | None
    note: str
    unit: str | None
    better: str | None
    n: int
    of_steps: int
    mean: float | None
    std: float | None
    minimum: float | None
    maximum: float | None
    first: float | None
    last: float | None
    below_resolution: int
    not_finite: int
    course: tuple[float, ...]


def metric_overview(canonical: pd.DataFrame) -> tuple[MetricOverview, ...]:
    """All metrics of rows of `canonical_steps`, by name."""
    return tuple(_overview(canonical, metric) for metric in sorted(metric_names(canonical)))


def _overview(canonical: pd.DataFrame, metric: str) -> MetricOverview:
    values, states = values_of(canonical, metric), states_of(canonical, metric)
    known = values[np.isfinite(values)]
    info = describe(metric)
    some = bool(known.size)
    return MetricOverview(
        metric=metric,
        meaning=info.meaning if info else None,
        note=info.note if info else "",
        unit=info.unit.value if info else None,
        better=info.better if info else None,
        n=int(known.size),
        of_steps=len(canonical),
        mean=float(known.mean()) if some else None,
        std=_spread(known),
        minimum=float(known.min()) if some else None,
        maximum=float(known.max()) if some else None,
        first=float(known[0]) if some else None,
        last=float(known[-1]) if some else None,
        below_resolution=states.count(BELOW_RESOLUTION),
        not_finite=states.count(NOT_FINITE),
        course=thinned(known),
    )


def _spread(known: FloatArray) -> float | None:
    """Sample standard deviation; exactly 0 of equal values, whatever floating point leaves."""
    if known.size < 2:
        return None
    return float(known.std(ddof=1)) if known.max() > known.min() else 0.0


def thinned(values: FloatArray, points: int = COURSE_POINTS) -> tuple[float, ...]:
    """At most `points` values of shape (n,): means of stretches of nearly equal length, none left out."""
    if values.size <= points:
        return tuple(float(value) for value in values)
    return tuple(float(part.mean()) for part in np.array_split(values, points))
