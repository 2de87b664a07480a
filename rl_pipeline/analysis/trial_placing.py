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

import numpy as np
import numpy.typing as npt

QUARTER_HOUR = 15 * 60 * 1_000_000  # µs, the unit of all times here
OFFSETS = np.arange(-12 * 4, 14 * 4 + 1) * QUARTER_HOUR  # all offsets in use, UTC−12 … UTC+14
NEARLY_ALL = 0.95  # share of the trials from which the logs count as complete
SLACK = 0.001  # share of the trials in which equally good offsets may differ
MOST = 0.5  # with logs missing: share of what the best offset holds that another must hold
CLEAR = 0.2  # with logs missing: fewest cut ÷ median cut that counts as a clear minimum
SAMPLE = 20_000  # trials that the search for an offset looks at
EXACT, ASSUMED_UTC, ESTIMATED_ZONE, OVERLAP, NONE = "exact", "assumed_utc", "estimated_zone", "overlap", "none"

Times = npt.NDArray[np.datetime64]
Texts = npt.NDArray[np.object_]
Flags = npt.NDArray[np.bool_]
Micros = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spans:
    """Times of trials or of logs, all of shape (n,).

    Attributes:
        first: beginnings; NaT where unknown.
        last: ends, likewise.
        is_utc: whether they are known to be in UTC.
    """

    first: Times
    last: Times
    is_utc: Flags


@dataclass(frozen=True, slots=True)
class _Windows:
    jobs: tuple[str, ...]
    first: Micros
    last: Micros


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets (µs, clock of the logs − UTC) that are equally good, the preferred one first."""

    values: Micros
    confidence: str
    method: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """Trials with their jobs.

    Attributes:
        job: names of shape (trials,), None where there is none.
        confidence: of shape (trials,).
        offsets: what was found of the clock of the logs.
    """

    job: Texts
    confidence: Texts
    offsets: Offsets


def placed(trials: Spans, jobs: tuple[str, ...], logs: Spans) -> Placed:
    """The job of each trial.

    Args:
        trials: when they ran; each end stands in for a missing other.
        jobs: names of the jobs.
        logs: first and last time of each job's log.
    """
    start = np.where(np.isnat(trials.first), trials.last, trials.first)
    end = np.where(np.isnat(trials.last), trials.first, trials.last)
    timed = ~np.isnat(start)
    begun, ended = _micros(start), _micros(end)
    windows, log_zone = _windows(jobs, logs)
    job = np.full(timed.size, None, dtype=object)
    confidence = np.full(timed.size, NONE, dtype=object)
    offsets = _offsets(begun[timed], ended[timed], windows, _zone(trials.is_utc[timed]), log_zone)
    if offsets.values.size:
        place, several = _agreed(begun, ended, windows, offsets.values)
        found = timed & (place >= 0)
        names = np.array([*windows.jobs, None], dtype=object)
        job[found] = names[place[found]]
        confidence[found] = offsets.confidence
        confidence[timed & several] = OVERLAP
    return Placed(job, confidence, offsets)


def _micros(times: Times) -> Micros:
    return times.astype("datetime64[us]").astype(np.int64)


def _windows(jobs: tuple[str, ...], logs: Spans) -> tuple[_Windows, str | None]:
    """Windows of the jobs that have times, in order of their beginning, and the zone of all of them."""
    known = np.flatnonzero(~np.isnat(logs.first) & ~np.isnat(logs.last))
    known = known[np.argsort(logs.first[known], kind="stable")]
    windows = _Windows(tuple(jobs[row] for row in known), _micros(logs.first[known]), _micros(logs.last[known]))
    return windows, _zone(logs.is_utc[known])


def _zone(is_utc: Flags) -> str | None:
    """UTC when all say so, else unknown."""
    return "UTC" if is_utc.size and bool(is_utc.all()) else None


def _offsets(start: Micros, end: Micros, windows: _Windows, trial_zone: str | None, log_zone: str | None) -> Offsets:
    nothing = np.zeros(0, dtype=np.int64)
    if not start.size:
        return Offsets(nothing, NONE, "not attributed", "no trial has a time")
    if not windows.jobs:
        return Offsets(nothing, NONE, "not attributed", "no log has times")
    if trial_zone == log_zone == "UTC":
        return Offsets(np.zeros(1, dtype=np.int64), EXACT, "trial files and logs are in UTC")
    stride = max(1, start.size // SAMPLE)
    return _estimated(start[::stride], end[::stride], windows)


def _estimated(start: Micros, end: Micros, windows: _Windows) -> Offsets:
    held, cut = np.array([_held_and_cut(start, end, windows, int(offset)) for offset in OFFSETS]).T
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
        return Offsets(np.zeros(0, dtype=np.int64), NONE, "not attributed", f"{reason} of the trials")
    hour = 4 * QUARTER_HOUR
    order = sorted(OFFSETS[good], key=lambda offset: (offset != 0, offset % hour != 0, abs(offset), offset))
    text = f"the logs' zone is unknown; UTC{order[0] / hour:+g} h holds {most / start.size:.1%} of the trials"
    text += f", as do {len(order) - 1} other offsets" if len(order) > 1 else ", better than any other offset"
    confidence = ASSUMED_UTC if order[0] == 0 else ESTIMATED_ZONE
    return Offsets(np.array(order, dtype=np.int64), confidence, text)


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


def _held_and_cut(start: Micros, end: Micros, windows: _Windows, offset: int) -> tuple[int, int]:
    """Trials inside one window with both ends, and trials across an edge of one but inside none."""
    held, cut = np.zeros(start.size, dtype=bool), np.zeros(start.size, dtype=bool)
    for first, last in zip(windows.first - offset, windows.last - offset, strict=True):
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
