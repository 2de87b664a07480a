"""The links of a chain: which jobs followed which, and from which step each went on.

In: `jobs`, `job_events` and the merged training rows. Out: one `Link` per job and attempt, in the order
in which they ran. A job whose log was appended to after a requeue holds several attempts.

Order: by the first time in the log where every job has one, else by job id as a number; without clocks
the restored steps may correct it. Start, best evidence first: a resume line (its number counts completed
steps), a fresh-start line, the first block's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pandas as pd

from rl_pipeline.analysis.blocks import TrainingRows, training_rows
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.remembering import remembered

FRESH, RESUMED, UNKNOWN = "fresh", "resume", "unknown"
FRESH_EVENTS = ("fresh_start",)
RESUME_EVENTS = ("resume",)
_LAST_NUMBER = re.compile(r"(\d+)(?:_(\d+))?\D*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One job (or one attempt of a requeued job) of the chain.

    Attributes:
        index: place in the chain, from 0.
        job: short name.
        attempt: 0, or higher when the same log trained a step again.
        start: fresh, resume or unknown.
        start_evidence: what shows it, in words.
        restored_step: completed steps it went on from; 0 for a fresh start, None without any evidence.
        first_step: smallest global_step it trained; None without a training block.
        last_step: largest one.
        rows: steps in its log.
        first_line: first line of the log that belongs to it.
        started_at: first time in the log (attempt 0 only).
        ended_at: last time in the log (last attempt only).
        zone: of both times; None is the node's local time.
    """

    index: int
    job: str
    attempt: int
    start: str
    start_evidence: str
    restored_step: int | None
    first_step: int | None
    last_step: int | None
    rows: int
    first_line: int
    started_at: datetime | None = None
    ended_at: datetime | None = None
    zone: str | None = None

    @property
    def went_on_from(self) -> int:
        """Completed steps before its first one: the restored step, else what the first block implies."""
        return self.restored_step if self.restored_step is not None else (self.first_step or 1) - 1

    @property
    def name(self) -> str:
        """The job, with the attempt where there are several."""
        return self.job if self.attempt == 0 else f"{self.job} (attempt {self.attempt + 1})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Links in the order in which they ran, and how that order was found."""

    links: tuple[Link, ...]
    order_evidence: str

    @property
    def ancestry(self) -> tuple[Link, ...]:
        """Links whose weights went on, oldest first: the last one with steps, and back from restored step to step.

        The parent of a link is the latest earlier one that had reached the restored step; where none had, part
        of the chain is missing and the latest earlier one with steps stands in. Links that are no ancestor of
        the last one trained in vain.
        """
        trained = [link for link in self.links if link.rows]
        line: list[Link] = []
        while trained:
            link = trained.pop()
            line.append(link)
            if link.went_on_from <= 0:
                break
            reached = [earlier for earlier in trained if (earlier.last_step or 0) >= link.went_on_from]
            while reached and trained[-1] is not reached[-1]:
                trained.pop()
        return tuple(reversed(line))

    def find(self, job: str, attempt: int) -> Link:
        """The link of a job's attempt."""
        return next(link for link in self.links if (link.job, link.attempt) == (job, attempt))


def find_chain(frames: ExperimentFrames, rows: TrainingRows | None = None) -> Chain:
    """All links of the experiment; jobs without a training block are links without steps."""
    if rows is None:
        rows = training_rows(frames.step_metrics, [str(job) for job in frames.jobs["job"]])
    return _chain(frames.jobs, frames.job_events, rows.keys)


@remembered
def _chain(jobs: pd.DataFrame, job_events: pd.DataFrame, keys: pd.DataFrame) -> Chain:
    times = _times(jobs)
    ordered, evidence = _order([str(job) for job in jobs["job"]], times)
    links = [link for job in ordered for link in _links_of_job(jobs, job_events, keys, job, times[job])]
    if "time" not in evidence:
        links, corrected = _order_by_restored_step(links)
        evidence = "restored steps (the job ids contradict them)" if corrected else evidence
    return Chain(links=tuple(replace(link, index=i) for i, link in enumerate(links)), order_evidence=evidence)


def job_number(job: str) -> tuple[int, ...] | None:
    """The trailing scheduler id of a job's name (array tasks as two numbers); None without one.

    >>> job_number("job_567548")
    (567548,)
    """
    found = _LAST_NUMBER.search(job)
    return tuple(int(part) for part in found.groups() if part is not None) if found else None


def optional_int(value: Any) -> int | None:  # noqa: ANN401 - a cell of a frame
    """A cell of a nullable integer column."""
    return None if value is None or pd.isna(value) else int(value)


def optional_time(value: Any) -> datetime | None:  # noqa: ANN401 - a cell of a frame
    """A cell of a time column."""
    return None if value is None or pd.isna(value) else pd.Timestamp(value).to_pydatetime()


def optional_text(value: Any) -> str | None:  # noqa: ANN401 - a cell of a frame
    """A cell of a text column."""
    return None if value is None or pd.isna(value) else str(value)


@dataclass(frozen=True, slots=True)
class _Span:
    first: datetime | None
    last: datetime | None
    zone: str | None


def _times(jobs: pd.DataFrame) -> dict[str, _Span]:
    columns = zip(jobs["job"], jobs["first_logged_at"], jobs["last_logged_at"], jobs["zone"], strict=True)
    return {
        str(job): _Span(optional_time(first), optional_time(last), optional_text(zone))
        for job, first, last, zone in columns
    }


def _order(names: Sequence[str], times: dict[str, _Span]) -> tuple[list[str], str]:
    if len(names) < 2:
        return list(names), "a single job"
    spans = [times[name] for name in names]
    numbers = {name: job_number(name) for name in names}
    clocks = [span.first for span in spans if span.first is not None]
    if len(clocks) == len(names) and len({span.zone for span in spans}) == 1:
        return sorted(
            names, key=lambda name: (times[name].first or clocks[0], numbers[name] or ())
        ), "first time in each log"
    if all(numbers.values()):
        return sorted(names, key=lambda name: numbers[name] or ()), "job ids"
    return list(names), "as listed (no clocks, no job ids)"


def _links_of_job(
    jobs: pd.DataFrame, job_events: pd.DataFrame, keys: pd.DataFrame, job: str, span: _Span
) -> list[Link]:
    own = keys[keys["job"] == job]
    attempts = sorted({int(attempt) for attempt in own["attempt"]}) or [0]
    events = job_events[job_events["job"] == job]
    links, previous_line = [], 0
    for attempt in attempts:
        part = own[own["attempt"] == attempt]
        first_row = int(part["line"].min()) if len(part) else None
        first_line, start = _start(jobs, events, job, part, after=previous_line, before=first_row)
        links.append(
            Link(
                index=0,
                job=job,
                attempt=attempt,
                start=start.kind,
                start_evidence=start.evidence,
                restored_step=start.step,
                first_step=int(part["step"].min()) if len(part) else None,
                last_step=int(part["step"].max()) if len(part) else None,
                rows=len(part),
                first_line=first_line,
                started_at=span.first if attempt == attempts[0] else None,
                ended_at=span.last if attempt == attempts[-1] else None,
                zone=span.zone,
            )
        )
        previous_line = int(part["line"].max()) if len(part) else previous_line
    return links


@dataclass(frozen=True, slots=True)
class _Start:
    kind: str
    step: int | None
    evidence: str


def _start(
    jobs: pd.DataFrame, events: pd.DataFrame, job: str, part: pd.DataFrame, *, after: int, before: int | None
) -> tuple[int, _Start]:
    """First line and start of an attempt whose start lines stand in (after, before)."""
    lines = events["line"].astype("int64")
    inside = (lines > after) & (lines < before) if before is not None else lines > after
    starts = events[inside & events["kind"].isin([*FRESH_EVENTS, *RESUME_EVENTS])]
    first_line = int(starts["line"].min()) if len(starts) and after else (after + 1)
    first_step = int(part["step"].min()) if len(part) else None
    return first_line, _judge_start(starts, _job_resume(jobs, job) if after == 0 else None, first_step)


def _job_resume(jobs: pd.DataFrame, job: str) -> int | None:
    row = jobs[jobs["job"] == job]
    return optional_int(row["resumed_from_step"].iloc[0]) if len(row) else None


def _judge_start(starts: pd.DataFrame, job_resume: int | None, first_step: int | None) -> _Start:
    resumes = starts[starts["kind"].isin(RESUME_EVENTS) & starts["step"].notna() & (starts["step"].fillna(0) > 0)]
    if len(resumes):
        last = resumes.iloc[-1]
        return _bounded(
            int(last["step"]), first_step, f"resume line {int(last['line'])} names step {int(last['step'])}"
        )
    if job_resume:
        return _bounded(job_resume, first_step, f"the log names step {job_resume} as restored")
    fresh = starts[starts["kind"].isin(FRESH_EVENTS)]
    if len(fresh) and first_step in (None, 0, 1):
        return _Start(FRESH, 0, f"line {int(fresh.iloc[-1]['line'])} says that training starts from scratch")
    if first_step is None:
        return _Start(UNKNOWN, None, "no start line and no training block")
    if first_step <= 1:
        return _Start(FRESH, 0, f"the first block is step {first_step}")
    return _Start(UNKNOWN, first_step - 1, f"no start line; the first block is step {first_step}")


def _bounded(step: int, first_step: int | None, evidence: str) -> _Start:
    """A resume line, unless the blocks prove an earlier step."""
    if first_step is not None and first_step <= step:
        return _Start(RESUMED, first_step - 1, f"{evidence}, but the first block is step {first_step}")
    return _Start(RESUMED, step, evidence)


def _order_by_restored_step(links: list[Link]) -> tuple[list[Link], bool]:
    """Reorder when a link went on from a step that only a later one had reached; whether it did."""
    if not _contradictory(links) or any(link.restored_step is None for link in links):
        return links, False
    by_step = sorted(links, key=lambda link: (link.restored_step or 0, link.last_step or 0))
    return (by_step, True) if not _contradictory(by_step) else (links, False)


def _contradictory(links: Iterable[Link]) -> bool:
    ordered = list(links)
    for place, link in enumerate(ordered):
        restored = link.restored_step
        if restored and not _reached(ordered[:place], restored) and _reached(ordered[place + 1 :], restored):
            return True
    return False


def _reached(links: Iterable[Link], step: int) -> bool:
    return any(link.last_step is not None and link.last_step >= step for link in links)
