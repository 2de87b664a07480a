"""Trials over time: outcomes and exception classes in bins of equal length, by the end of the trial.

Bins, not steps: a batch is consumed long after its trials ended, so a step's number would book failures
to the wrong step. Trials without an end time are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from rl_pipeline.analysis.populations import training_trials
from rl_pipeline.schema import OUTCOMES
from rl_pipeline.units import SECONDS_PER_HOUR

BIN_SECONDS = (60, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400)
MOST_BINS = 64
NO_CLASS = "class unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseCell:
    """Trials of one kind in one bin.

    Attributes:
        started_at: begin of the bin.
        hours: from the begin of the first bin.
        kind: outcome, or exception class.
        trials: of that kind.
        of_trials: all trials in the bin.
    """

    started_at: datetime
    hours: float
    kind: str
    trials: int
    of_trials: int

    @property
    def share(self) -> float:
        """Of all trials in the bin."""
        return self.trials / self.of_trials


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCourse:
    """Outcomes and failures over time.

    Attributes:
        minutes: length of a bin.
        outcomes: cells by outcome.
        failures: cells by exception class, most frequent class first.
        without_time: trials that have no end.
        zone: UTC, or None for local time.
    """

    minutes: float
    outcomes: tuple[CourseCell, ...]
    failures: tuple[CourseCell, ...]
    without_time: int
    zone: str | None


def trial_course(trials: pd.DataFrame) -> TrialCourse | None:
    """None when no training trial has an end time."""
    own = training_trials(trials)
    timed = own[["finished_at", "exception_type", "exception_class", "outcome", "zone"]][own["finished_at"].notna()]
    if timed.empty:
        return None
    times = pd.to_datetime(timed["finished_at"])
    start = times.min().floor("min")
    seconds = (times - start).dt.total_seconds()
    width = next((w for w in BIN_SECONDS if float(seconds.max()) / w <= MOST_BINS), BIN_SECONDS[-1])
    place = (seconds // width).astype("int64")
    failed = timed["exception_type"].notna()
    classes = timed["exception_class"].where(timed["exception_class"].notna(), NO_CLASS)[failed]
    ordered = [
        str(name) for name in classes.value_counts().sort_index().sort_values(ascending=False, kind="stable").index
    ]
    zones = timed["zone"].dropna().unique()
    return TrialCourse(
        minutes=width / 60,
        outcomes=_cells(place, timed["outcome"], place, list(OUTCOMES), start, width),
        failures=_cells(place[failed], classes, place, ordered, start, width),
        without_time=len(own) - len(timed),
        zone=str(zones[0]) if len(zones) == 1 and timed["zone"].notna().all() else None,
    )


def _cells(
    place: pd.Series[int],
    kinds: pd.Series[str],
    all_places: pd.Series[int],
    order: list[str],
    start: pd.Timestamp,
    width: int,
) -> tuple[CourseCell, ...]:
    counts = pd.DataFrame({"place": place, "kind": kinds}).groupby(["place", "kind"]).size().to_dict()
    totals = dict(zip(*(part.tolist() for part in np.unique(all_places, return_counts=True)), strict=True))
    return tuple(
        CourseCell(
            started_at=(start + pd.Timedelta(seconds=int(bin_) * width)).to_pydatetime(),
            hours=int(bin_) * width / SECONDS_PER_HOUR,
            kind=kind,
            trials=int(number),
            of_trials=int(totals[bin_]),
        )
        for bin_ in totals
        for kind in order
        if (number := counts.get((bin_, kind), 0))
    )
