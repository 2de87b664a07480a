"""Has a job finished, how, and by what evidence.

In this order: what the log's last lines say; what `sacct` says, where an export is at hand; that the next
job of the chain has started after this one's last line; that nothing was written for the quiet period.
Silence and a successor show that a job is over, never how it ended: its state is then `unknown`.

Clocks are arguments. Three kinds of them meet here and are not compared with each other: the node's
local times printed in logs, the file system's time of the last write, and the caller's `now`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rl_pipeline.discovery.end_lines import EndLine, dated_times, find_end
from rl_pipeline.discovery.found import JobLog
from rl_pipeline.discovery.sacct import SacctState
from rl_pipeline.discovery.tail import read_head, read_tail

SUCCESSOR, SACCT, QUIET, GROWING = "successor", "sacct", "quiet", "growing"
# What the log says without giving a cause; a more exact word of sacct wins over these.
_VAGUE = frozenset({"cancelled", "failed"})
_PRINTED_TIME = "%Y-%m-%d %H:%M:%S"
_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """How a job stands. `by`: end_line, scheduler_tail, sacct, successor, quiet or growing.

    `line` and `byte` say where the evidence stands in the uncompressed log, where that is known.
    """

    state: str
    finished: bool
    by: str
    evidence: str
    line: int | None = None
    byte: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What the caller knows besides the log itself.

    `now` and `unchanged_since` are seconds since 1970 UTC of one clock, the caller's; the second is when it
    first saw the file as it is now (null at a first look). `successor_starts` are first printed times
    of later jobs of the experiment, on the same local clock as the log.
    """

    now: float
    quiet_period_s: float
    unchanged_since: float | None = None
    successor_starts: tuple[datetime, ...] = ()
    sacct: Mapping[str, SacctState] | None = None


def job_state(job: JobLog, look: Look) -> JobState:
    """Decide whether a job has finished. Reads the end of its log; a log that cannot be read is `unknown`."""
    try:
        tail = read_tail(job.path)
    except OSError as error:
        return JobState(state="unknown", finished=False, by=GROWING, evidence=f"cannot be read: {error.strerror}")
    end = find_end(tail)
    known = (look.sacct or {}).get(job.job_id or "")
    if end is not None:
        return _from_log(end, known, _silence(job, look), look.quiet_period_s)
    if known is not None:
        return _from_sacct(known)
    last_time = last_printed_time(tail.data)
    successor = min((start for start in look.successor_starts if last_time and start >= last_time), default=None)
    if successor is not None:
        evidence = f"the next job started at {successor:{_PRINTED_TIME}}, after this one's last line"
        return JobState(state="unknown", finished=True, by=SUCCESSOR, evidence=evidence)
    return _from_silence(_silence(job, look), look.quiet_period_s)


def _from_log(end: EndLine, known: SacctState | None, silence_s: float, quiet_period_s: float) -> JobState:
    if known is not None and end.state in _VAGUE and known.state not in (*_VAGUE, "running", "completed"):
        return _from_sacct(known)
    # A requeued job comes back under the same id and, perhaps, in the same file.
    finished = end.state != "requeued" or silence_s >= quiet_period_s
    return JobState(state=end.state, finished=finished, by=end.by, evidence=end.text, line=end.line, byte=end.byte)


def _from_sacct(known: SacctState) -> JobState:
    over = known.state not in ("running", "requeued")
    return JobState(state=known.state, finished=over, by=SACCT, evidence=f"{known.command}: {known.printed}")


def _from_silence(silence_s: float, quiet_period_s: float) -> JobState:
    if silence_s >= quiet_period_s:
        evidence = f"nothing written for {silence_s:.0f} s (quiet period {quiet_period_s:.0f} s)"
        return JobState(state="unknown", finished=True, by=QUIET, evidence=evidence)
    evidence = f"last written {silence_s:.0f} s ago, no end line"
    return JobState(state="running", finished=False, by=GROWING, evidence=evidence)


def _silence(job: JobLog, look: Look) -> float:
    """Seconds without a write: by the file system's clock or by the caller's own looks, the longer one.

    A file time in the future (clocks differ) counts as just written, so that only the caller's looks
    can tell; they do so after one quiet period.
    """
    by_file = max(look.now - job.mtime_ns / 1e9, 0.0)
    by_looks = 0.0 if look.unchanged_since is None else max(look.now - look.unchanged_since, 0.0)
    return max(by_file, by_looks)


def first_printed_time(path: Path) -> datetime | None:
    """The first full date and time at the head of a line: when a job began to print. Local to its node."""
    try:
        head = read_head(path, _HEAD_BYTES)
    except OSError:
        return None
    return next(_times(head), None)


def last_printed_time(data: bytes) -> datetime | None:
    """The latest full date and time at the head of a line of these bytes."""
    return max(_times(data), default=None)


def _times(data: bytes) -> Iterator[datetime]:
    for printed in dated_times(data.decode("utf-8", "replace")):
        with suppress(ValueError):  # digits that are no date
            yield datetime.strptime(printed.replace("T", " "), _PRINTED_TIME)


def successor_starts(job: JobLog, jobs: Iterable[JobLog], starts: Mapping[str, datetime]) -> tuple[datetime, ...]:
    """Starts of the jobs after this one in an experiment; `jobs` in chain order, `starts` by job key."""
    later = False
    found: list[datetime] = []
    for other in jobs:
        if later and other.job_key in starts:
            found.append(starts[other.job_key])
        later = later or other.job_key == job.job_key
    return tuple(found)
