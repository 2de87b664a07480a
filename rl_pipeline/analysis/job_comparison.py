"""Differences between the jobs of one chain, quantity by quantity.

Each quantity is one family for Holm's correction. Jobs of a chain follow each other, so every difference
is confounded with training time; `CONFOUNDED` says so and belongs beside each table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from rl_pipeline.analysis.comparison import Difference, compare, with_holm
from rl_pipeline.analysis.estimates import Estimate, FloatArray
from rl_pipeline.analysis.intervals import mean_interval
from rl_pipeline.analysis.resampling import Draws
from rl_pipeline.analysis.series import (
    REWARD,
    STEP_SECONDS,
    WAIT_SECONDS,
    canonical_of,
    metric_names,
    settled,
    values_of,
)

CONFOUNDED = "the jobs follow each other, so a difference between them may be training, not the job"
PASS_AT = "reward/avg_pass_at_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """Something that jobs can differ in: a name, a unit and its values over rows (shape (rows,))."""

    name: str
    unit: str
    values: Callable[[pd.DataFrame], FloatArray]
    without_warm_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMeans:
    """One quantity over the jobs: means by job (t interval) and pairwise differences, Holm within."""

    quantity: str
    unit: str
    population: str
    means: dict[str, Estimate]
    differences: tuple[Difference, ...]
    caveat: str = CONFOUNDED


def quantities(rows: pd.DataFrame) -> tuple[Quantity, ...]:
    """The quantities that the rows hold: reward, pass@k (both with and without warm-up), times."""
    passes = [metric for metric in metric_names(rows) if metric.startswith(PASS_AT)]
    found = [
        *_both("reward", "reward", REWARD),
        *(q for metric in passes for q in _both(_pass_name(metric), "fraction 0–1", metric)),
        Quantity(name="step time", unit="s", values=lambda part: values_of(part, STEP_SECONDS)),
        Quantity(name="wait", unit="s", values=lambda part: values_of(part, WAIT_SECONDS)),
        Quantity(name="step time without the wait", unit="s", values=_without_wait),
    ]
    return tuple(quantity for quantity in found if np.isfinite(quantity.values(rows)).any())


def compare_jobs(rows: pd.DataFrame, chosen: Sequence[Quantity] | None = None) -> tuple[JobMeans, ...]:
    """Every quantity compared between all pairs of links of `all_rows`.

    Rows are those of each job's log, thrown-away steps included since that job trained them; quantities
    without warm-up leave both out.
    """
    draws = Draws()
    return tuple(_compare(rows, quantity, draws) for quantity in (chosen if chosen is not None else quantities(rows)))


def _compare(rows: pd.DataFrame, quantity: Quantity, draws: Draws) -> JobMeans:
    used = settled(canonical_of(rows)) if quantity.without_warm_up else rows
    population = "steps that count, without warm-up" if quantity.without_warm_up else "all steps in the job's log"
    samples = {_link_name(part): quantity.values(part) for _, part in used.groupby("link", sort=True)}
    pairs = [
        compare(samples[a], samples[b], names=(a, b), population=population, draws=draws)
        for a, b in combinations(samples, 2)
    ]
    return JobMeans(
        quantity=quantity.name,
        unit=quantity.unit,
        population=population,
        means={name: mean_interval(values, population=population) for name, values in samples.items()},
        differences=with_holm(pairs),
    )


def _link_name(part: pd.DataFrame) -> str:
    attempt = int(part["attempt"].iloc[0])
    return str(part["job"].iloc[0]) + (f" (attempt {attempt + 1})" if attempt else "")


def _both(name: str, unit: str, metric: str) -> tuple[Quantity, Quantity]:
    def read(part: pd.DataFrame) -> FloatArray:
        return values_of(part, metric)

    return (
        Quantity(name=name, unit=unit, values=read),
        Quantity(name=f"{name}, without warm-up", unit=unit, values=read, without_warm_up=True),
    )


def _pass_name(metric: str) -> str:
    return f"pass@{metric.removeprefix(PASS_AT)}"


def _without_wait(part: pd.DataFrame) -> FloatArray:
    return values_of(part, STEP_SECONDS) - values_of(part, WAIT_SECONDS)
