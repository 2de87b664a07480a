"""What an index of all experiments needs to know of one: state, first numbers, curves, and what decides a comparison.

The card goes into `report.json`, and everything that compares experiments later reads cards alone: no
table has to be kept or read again. `profile_of` turns a card back into what `experiment_comparison` takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import plain
from rl_pipeline.analysis.experiment_comparison import ExperimentProfile, profile
from rl_pipeline.analysis.first_numbers import FirstNumber, first_numbers
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.links import optional_time
from rl_pipeline.analysis.populations import Populations
from rl_pipeline.analysis.replayed_prompts import pass_metric
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, all_rows, canonical_of, first_logged, values_of
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.units import SECONDS_PER_HOUR

CLOCK, STEP_TIME = "clock", "time inside steps"
RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCurves:
    """The steps that count, in order; all tuples have one value per step.

    Attributes:
        steps: global steps.
        reward: mean reward.
        pass_at_k: share of prompts solved at least once.
        samples: samples trained so far; None from the first step on that does not log them.
        hours: hours at the end of the step, on the axis that `hours_are` names.
        hours_are: clock (since the first time in the logs), or time inside steps, where logs have no clock.
        is_warm_up: one of the first steps after a start.
    """

    steps: tuple[int, ...]
    reward: tuple[float | None, ...]
    pass_at_k: tuple[float | None, ...]
    samples: tuple[int | None, ...]
    hours: tuple[float | None, ...]
    hours_are: str
    is_warm_up: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentCard:
    """One experiment for the index.

    Attributes:
        state: running, or how the last job ended.
        first_logged_at: first time in the logs.
        last_logged_at: last time in the logs.
        zone: UTC, or None for the node's local time.
        last_step: last step that counts.
        numbers: the five first numbers.
        goodput: time of steps that count ÷ whole time, fraction.
        gpus: GPUs behind it; None when unknown.
        group_size: samples per prompt; None when unknown.
        tasks: attempts and solved ones of scored training trials, by task.
        curves: the steps that count.
    """

    state: str
    first_logged_at: datetime | None
    last_logged_at: datetime | None
    zone: str | None
    last_step: int | None
    numbers: tuple[FirstNumber, ...]
    goodput: float | None
    gpus: int | None
    group_size: int | None
    tasks: dict[str, tuple[int, int]]
    curves: CardCurves


def experiment_card(frames: ExperimentFrames, result: ExperimentResult) -> ExperimentCard:
    """The card of one experiment."""
    rows = all_rows(frames)
    canonical, known = canonical_of(rows), profile(frames, rows)
    links = result.lineage.links
    starts = [link.started_at for link in links if link.started_at]
    ends = [link.ended_at for link in links if link.ended_at]
    zones = {link.zone for link in links}
    endings = result.lineage.endings
    return ExperimentCard(
        state=RUNNING if result.as_of is not None else (endings[-1].state if endings else "unknown"),
        first_logged_at=min(starts, default=None),
        last_logged_at=max(ends, default=None),
        zone=zones.pop() if len(zones) == 1 else None,
        last_step=result.lineage.last_step,
        numbers=first_numbers(result, canonical, result.trials.tasks),
        goodput=result.time.waterfall.goodput,
        gpus=result.time.geometry.gpus,
        group_size=known.group_size,
        tasks=known.tasks,
        curves=card_curves(canonical, min(starts, default=None)),
    )


def card_curves(canonical: pd.DataFrame, origin: datetime | None) -> CardCurves:
    """Curves over rows of `canonical_steps`; `origin` is the first time in the logs."""
    hours, axis = _hours(canonical, origin)
    named = pass_metric(canonical)
    return CardCurves(
        steps=tuple(int(step) for step in canonical["global_step"]),
        reward=_numbers(values_of(canonical, REWARD)),
        pass_at_k=_numbers(values_of(canonical, named[0] if named else "")),
        samples=_samples(canonical),
        hours=hours,
        hours_are=axis,
        is_warm_up=tuple(bool(flag) for flag in canonical["is_warm_up"]),
    )


def _numbers(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float | None, ...]:
    return tuple(plain(float(value)) for value in values)


def _samples(canonical: pd.DataFrame) -> tuple[int | None, ...]:
    name = first_logged(canonical, SAMPLES)
    sums = np.cumsum(values_of(canonical, name or ""))
    return tuple(None if np.isnan(value) else round(float(value)) for value in sums)


def _hours(canonical: pd.DataFrame, origin: datetime | None) -> tuple[tuple[float | None, ...], str]:
    times = [optional_time(time) for time in canonical["logged_at"]]
    dated = [time for time in times if time is not None]
    if origin is not None and dated and len(dated) == len(times):
        return tuple((time - origin).total_seconds() / SECONDS_PER_HOUR for time in dated), CLOCK
    sums = np.cumsum(values_of(canonical, STEP_SECONDS)) / SECONDS_PER_HOUR
    return _numbers(sums), STEP_TIME


def profile_of(experiment: str, card: ExperimentCard, populations: Populations) -> ExperimentProfile:
    """What a comparison takes, from what `report.json` holds."""
    curves = card.curves
    rows = pd.DataFrame(
        {
            "global_step": np.array(curves.steps, dtype=np.int64),
            "is_warm_up": np.array(curves.is_warm_up, dtype=bool),
            REWARD: np.array([np.nan if value is None else value for value in curves.reward], dtype=np.float64),
        }
    )
    return ExperimentProfile(
        experiment=experiment,
        rows=rows,
        populations=populations,
        group_size=card.group_size,
        tasks=dict(card.tasks),
    )
