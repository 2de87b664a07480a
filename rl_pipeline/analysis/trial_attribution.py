"""Which job ran a trial, for frames, and how that was decided; the rules are those of `trial_placing`."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.trial_placing import ASSUMED_UTC, ESTIMATED_ZONE, QUARTER_HOUR, Placed, Spans, placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """How trials were given to jobs.

    Attributes:
        method: the zone reasoning in words.
        offset_hours: what the logs' clock is ahead of UTC; None when the zones are known or nothing fits.
        equally_good: number of offsets that place as many trials.
        trials: all.
        timed: with a time.
        attributed: with a job.
        by_job: trials of each job.
        by_confidence: trials of each confidence.
        reason: why nothing was attributed.
    """

    method: str
    offset_hours: float | None
    equally_good: int
    trials: int
    timed: int
    attributed: int
    by_job: dict[str, int]
    by_confidence: dict[str, int]
    reason: str | None = None


def attribute_trials(trials: pd.DataFrame, jobs: pd.DataFrame) -> pd.DataFrame:
    """The trials with their columns `job` and `job_confidence` filled; see `attribution` for the summary."""
    found = _placed(trials, jobs)
    job = pd.Series(found.job, index=trials.index, dtype=object)
    return trials.assign(job=job, job_confidence=pd.Series(found.confidence, index=trials.index, dtype=object))


def attribution(trials: pd.DataFrame, jobs: pd.DataFrame) -> Attribution:
    """How `attribute_trials` decides on these trials, in numbers."""
    found = _placed(trials, jobs)
    offsets, job, confidence = found.offsets, pd.Series(found.job, dtype=object), pd.Series(found.confidence)
    has_job = job.notna()
    estimated = offsets.confidence in (ASSUMED_UTC, ESTIMATED_ZONE) and offsets.values.size > 0
    return Attribution(
        method=offsets.method,
        offset_hours=float(offsets.values[0]) / (4 * QUARTER_HOUR) if estimated else None,
        equally_good=int(offsets.values.size),
        trials=len(trials),
        timed=int((trials["started_at"].notna() | trials["finished_at"].notna()).sum()),
        attributed=int(has_job.sum()),
        by_job={str(name): int(n) for name, n in job[has_job].value_counts(sort=False).items()},
        by_confidence={str(c): int(n) for c, n in confidence.value_counts().sort_index().items()},
        reason=offsets.reason,
    )


def _placed(trials: pd.DataFrame, jobs: pd.DataFrame) -> Placed:
    names = tuple(str(job) for job in jobs["job"])
    return placed(_spans(trials, "started_at", "finished_at"), names, _spans(jobs, "first_logged_at", "last_logged_at"))


def _spans(rows: pd.DataFrame, first: str, last: str) -> Spans:
    return Spans(
        rows[first].to_numpy(dtype="datetime64[us]"),
        rows[last].to_numpy(dtype="datetime64[us]"),
        (rows["zone"] == "UTC").to_numpy(dtype=bool),
    )
