"""Which job ran a trial: by time, with a stated confidence, or not at all.

A trial belongs to the job in whose log window (first to last time) it started and ended. Trial files say UTC;
log lines show the node's local time without a zone. Then the offset is estimated among whole quarter hours.
Where the logs of all jobs are there, the true offset holds nearly all trials, and the best ones win. Where
logs are missing, trials outside are no evidence; but no trial outlives its job, so the true offset cuts
hardly any trial in two while others cut through those in flight: without such a clear minimum nothing is
said. A trial gets a job only if all equally good offsets agree on it.

Confidence (column `job_confidence`): exact (zones known, one window) · assumed_utc (zone unknown, but UTC fits
as well as anything) · estimated_zone (zone unknown, another offset fits better) · overlap (several windows) ·
none (no window, no time, or no agreement). Trials without a file time get none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

QUARTER_HOUR = 15 * 60 * 1_000_000  # µs, the unit of all times here
OFFSETS = np.arange(-12 * 4, 14 * 4 + 1) * QUARTER_HOUR  # all offsets in use, UTC−12 … UTC+14
NEARLY_ALL = 0.95  # share of the trials from which the logs count as complete
SLACK = 0.001  # share of the trials in which equally good offsets may differ
MOST = 0.5  # with logs missing: share of what the best offset holds that another must hold
CLEAR = 0.2  # with logs missing: fewest cut ÷ median cut that counts as a clear minimum
SAMPLE = 20_000  # trials that the search for an offset looks at
EXACT, ASSUMED_UTC, ESTIMATED_ZONE, OVERLAP, NONE = "exact", "assumed_utc", "estimated_zone", "overlap", "none"

Micros = npt.NDArray[np.int64]


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


@dataclass(frozen=True, slots=True)
class _Windows:
    jobs: tuple[str, ...]
    first: Micros
    last: Micros


@dataclass(frozen=True, slots=True)
class _Offsets:
    """Offsets (µs, clock of the logs − UTC) that are equally good, the preferred one first."""

    values: Micros
    confidence: str
    method: str
    reason: str | None = None


def attribute_trials(trials: pd.DataFrame, jobs: pd.DataFrame) -> pd.DataFrame:
    """The trials with their columns `job` and `job_confidence` filled; see `attribution` for the summary."""
    return _attribute(trials, jobs)[0]


def attribution(trials: pd.DataFrame, jobs: pd.DataFrame) -> Attribution:
    """How `attribute_trials` decides on these trials, in numbers."""
    filled, offsets = _attribute(trials, jobs)
    placed = filled["job"].notna()
    estimated = offsets.confidence in (ASSUMED_UTC, ESTIMATED_ZONE) and offsets.values.size > 0
    return Attribution(
        method=offsets.method,
        offset_hours=float(offsets.values[0]) / (4 * QUARTER_HOUR) if estimated else None,
        equally_good=int(offsets.values.size),
        trials=len(filled),
        timed=int((filled["started_at"].notna() | filled["finished_at"].notna()).sum()),
        attributed=int(placed.sum()),
        by_job={str(job): int(n) for job, n in filled.loc[placed, "job"].value_counts(sort=False).items()},
        by_confidence={str(c): int(n) for c, n in filled["job_confidence"].value_counts().sort_index().items()},
        reason=offsets.reason,
    )


def _attribute(trials: pd.DataFrame, jobs: pd.DataFrame) -> tuple[pd.DataFrame, _Offsets]:
    start, end, timed = _times(trials)
    windows, log_zone = _windows(jobs)
    job = np.full(len(trials), None, dtype=object)
    confidence = np.full(len(trials), NONE, dtype=object)
    offsets = _offsets(start[timed], end[timed], windows, _zone(trials["zone"][timed]), log_zone)
    if offsets.values.size:
        place, several = _agreed(start, end, windows, offsets.values)
        found = timed & (place >= 0)
        names = np.array([*windows.jobs, None], dtype=object)
        job[found] = names[place[found]]
        confidence[found] = offsets.confidence
        confidence[timed & several] = OVERLAP
    columns = {"job": pd.Series(job, index=trials.index, dtype=object)}
    columns["job_confidence"] = pd.Series(confidence, index=trials.index, dtype=object)
    return trials.assign(**columns), offsets


def _times(trials: pd.DataFrame) -> tuple[Micros, Micros, npt.NDArray[np.bool_]]:
    """Start and end in µs (each stands in for a missing other), and where there is any."""
    start, end = trials["started_at"], trials["finished_at"]
    first, last = start.fillna(end), end.fillna(start)
    timed = first.notna().to_numpy(dtype=bool)
    return _micros(first), _micros(last), timed


def _micros(times: pd.Series[Any]) -> Micros:
    return times.to_numpy(dtype="datetime64[us]").astype(np.int64)


def _windows(jobs: pd.DataFrame) -> tuple[_Windows, str | None]:
    """Windows of the jobs that have times, in order of their beginning, and the zone of all of them."""
    known = jobs[jobs["first_logged_at"].notna() & jobs["last_logged_at"].notna()]
    known = known.sort_values("first_logged_at", kind="stable")
    windows = _Windows(
        tuple(str(job) for job in known["job"]), _micros(known["first_logged_at"]), _micros(known["last_logged_at"])
    )
    return windows, _zone(known["zone"])


def _zone(zones: pd.Series[Any]) -> str | None:
    """UTC when all say so, else unknown."""
    return "UTC" if len(zones) and bool((zones == "UTC").all()) else None


def _offsets(start: Micros, end: Micros, windows: _Windows, trial_zone: str | None, log_zone: str | None) -> _Offsets:
    nothing = np.zeros(0, dtype=np.int64)
    if not start.size:
        return _Offsets(nothing, NONE, "not attributed", "no trial has a time")
    if not windows.jobs:
        return _Offsets(nothing, NONE, "not attributed", "no log has times")
    if trial_zone == log_zone == "UTC":
        return _Offsets(np.zeros(1, dtype=np.int64), EXACT, "trial files and logs are in UTC")
    stride = max(1, start.size // SAMPLE)
    return _estimated(start[::stride], end[::stride], windows)


def _estimated(start: Micros, end: Micros, windows: _Windows) -> _Offsets:
    held, cut = np.array([_held_and_cut(start + offset, end + offset, windows) for offset in OFFSETS]).T
    slack = SLACK * start.size
    if held.max() >= NEARLY_ALL * start.size:
        good = held >= held.max() - slack
    else:
        good = _clean(held, cut, slack)
    most = int(held[good].max(initial=0))
    if not most:
        reason = (
            f"logs are missing, or their clock runs otherwise: no offset holds more than {held.max() / start.size:.0%}"
        )
        return _Offsets(np.zeros(0, dtype=np.int64), NONE, "not attributed", f"{reason} of the trials")
    hour = 4 * QUARTER_HOUR
    order = sorted(OFFSETS[good], key=lambda offset: (offset != 0, offset % hour != 0, abs(offset), offset))
    text = f"the logs' zone is unknown; UTC{order[0] / hour:+g} h holds {most / start.size:.1%} of the trials"
    text += f", as do {len(order) - 1} other offsets" if len(order) > 1 else ", better than any other offset"
    confidence = ASSUMED_UTC if order[0] == 0 else ESTIMATED_ZONE
    return _Offsets(np.array(order, dtype=np.int64), confidence, text)


def _clean(held: Micros, cut: Micros, slack: float) -> npt.NDArray[np.bool_]:
    """Offsets that cut clearly fewer trials than others do; none when there is no clear minimum."""
    enough = (held >= MOST * held.max()) & (held > 0)
    if not enough.any():
        return np.zeros(held.size, dtype=bool)
    fewest, usual = int(cut[enough].min()), float(np.median(cut))
    if usual < 1 or fewest > CLEAR * usual:
        return np.zeros(held.size, dtype=bool)
    clean = enough & (cut <= fewest + slack)
    return np.asarray(clean & (held >= held[clean].max() - slack))


def _held_and_cut(start: Micros, end: Micros, windows: _Windows) -> tuple[int, int]:
    """Trials inside one window with both ends, and trials across an edge of one but inside none."""
    held, cut = np.zeros(start.size, dtype=bool), np.zeros(start.size, dtype=bool)
    for first, last in zip(windows.first, windows.last, strict=True):
        held |= (start >= first) & (end <= last)
        cut |= ((start < first) & (end >= first)) | ((start <= last) & (end > last))
    return int(held.sum()), int((cut & ~held).sum())


def _agreed(
    start: Micros, end: Micros, windows: _Windows, offsets: Micros
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Window of each trial (−1: none, or the offsets disagree), and where several windows hold it."""
    place, several = _place(start + offsets[0], end + offsets[0], windows)
    for offset in offsets[1:]:
        other, other_several = _place(start + offset, end + offset, windows)
        place = np.where(other == place, place, -1)
        several = several & other_several
    return place, several


def _place(start: Micros, end: Micros, windows: _Windows) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The one window that holds both ends, else the only one that holds either; and where several do."""
    whole, whole_count = np.full(start.size, -1), np.zeros(start.size, dtype=np.int64)
    part, part_count = np.full(start.size, -1), np.zeros(start.size, dtype=np.int64)
    for number, (first, last) in enumerate(zip(windows.first, windows.last, strict=True)):
        begun, ended = (start >= first) & (start <= last), (end >= first) & (end <= last)
        whole[begun & ended], part[begun | ended] = number, number
        whole_count += begun & ended
        part_count += begun | ended
    place = np.where(whole_count == 1, whole, np.where((whole_count == 0) & (part_count == 1), part, -1))
    return place.astype(np.int64), (whole_count > 1) | ((whole_count == 0) & (part_count > 1))
