"""The run on one axis: jobs, what was thrown away, checkpoints, exports, evaluations, gaps between jobs.

Where every job with steps has times in one zone the axis is the clock, in hours since the first time in
the logs. Else it is the time inside steps, job after job, which knows neither queue nor start-up;
`Timeline.axis` says which. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.links import Link, optional_int, optional_time
from rl_pipeline.analysis.series import STEP_SECONDS, eval_rows, values_of
from rl_pipeline.units import SECONDS_PER_HOUR

CLOCK, STEP_TIME = "clock", "time inside steps"
START_UP, TRAINING, IN_VAIN, TAIL, QUEUE = (
    "start-up", "training", "trained in vain", "after the last step", "between jobs",
)  # fmt: skip
PARTS = (START_UP, TRAINING, IN_VAIN, TAIL, QUEUE)
CHECKPOINT, EXPORT, EVALUATION = "checkpoint saved", "model exported", "evaluation"
MARKS = (CHECKPOINT, EXPORT, EVALUATION)
EVENTS = {"checkpoint_saved": CHECKPOINT, "export_saved": EXPORT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A stretch of time of one job (or the gap before it).

    Attributes:
        job: name of the link.
        part: one of `PARTS`.
        begin: hours from the origin.
        end: hours from the origin.
        first_step: first global step in it; None outside steps.
        last_step: last one.
    """

    job: str
    part: str
    begin: float
    end: float
    first_step: int | None = None
    last_step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happened at one time: hours from the origin."""

    job: str
    what: str
    at: float
    step: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The whole run.

    Attributes:
        axis: clock, or time inside steps.
        origin: time at hour 0; None without a clock.
        zone: UTC, or None for the node's local time.
        stretches: in time order.
        marks: in time order.
        endings: state in which each link ended, by name.
    """

    axis: str
    origin: datetime | None
    zone: str | None
    stretches: tuple[Stretch, ...]
    marks: tuple[Mark, ...]
    endings: dict[str, str]


def find_timeline(
    frames: ExperimentFrames, rows: pd.DataFrame, links: Sequence[Link], endings: dict[int, str]
) -> Timeline | None:
    """Lay the run out; None without a single step.

    Args:
        frames: all tables.
        rows: of `all_rows`.
        links: the chain.
        endings: end state by place in the chain.
    """
    trained = [link for link in links if link.rows]
    if not trained or not np.isfinite(values_of(rows, STEP_SECONDS)).any():
        return None
    names = {link.name: endings.get(link.index, "unknown") for link in links}
    if _has_clock(rows, links):
        origin = min(link.started_at for link in links if link.started_at)
        stretches = [part for link in trained for part in _on_clock(rows[rows["link"] == link.index], link, origin)]
        return Timeline(
            axis=CLOCK,
            origin=origin,
            zone=links[0].zone,
            stretches=tuple(sorted([*stretches, *_queues(links, origin)], key=lambda part: (part.begin, part.end))),
            marks=tuple(sorted(_marks(frames, links, origin), key=lambda mark: (mark.at, mark.what))),
            endings=names,
        )
    return Timeline(
        axis=STEP_TIME,
        origin=None,
        zone=None,
        stretches=tuple(_in_step_time(rows, trained)),
        marks=tuple(_marks_by_step(frames, rows, links)),
        endings=names,
    )


def _has_clock(rows: pd.DataFrame, links: Sequence[Link]) -> bool:
    dated = all(link.started_at is not None and link.ended_at is not None for link in links)
    return dated and len({link.zone for link in links}) == 1 and bool(rows["logged_at"].notna().all())


def _hours(time: datetime, origin: datetime) -> float:
    return (time - origin).total_seconds() / SECONDS_PER_HOUR


def _on_clock(part: pd.DataFrame, link: Link, origin: datetime) -> list[Stretch]:
    """Start-up, runs of steps that count or do not, tail of one link."""
    started, ended = link.started_at or origin, link.ended_at or origin
    seconds = np.nan_to_num(values_of(part, STEP_SECONDS))
    first = optional_time(part["logged_at"].iloc[0]) or started
    begin = max(started, first - timedelta(seconds=float(seconds[0])))
    found = [Stretch(job=link.name, part=START_UP, begin=_hours(started, origin), end=_hours(begin, origin))]
    for counts, run in _runs(part):
        last = optional_time(run["logged_at"].iloc[-1]) or begin
        found.append(
            Stretch(
                job=link.name,
                part=TRAINING if counts else IN_VAIN,
                begin=_hours(begin, origin),
                end=_hours(last, origin),
                **_steps(run),
            )
        )
        begin = last
    found.append(Stretch(job=link.name, part=TAIL, begin=_hours(begin, origin), end=_hours(ended, origin)))
    return [stretch for stretch in found if stretch.end > stretch.begin]


def _runs(part: pd.DataFrame) -> Iterable[tuple[bool, pd.DataFrame]]:
    """Successive rows that all count, or all do not."""
    counts = part["canonical"].astype(bool)
    for _, run in part.groupby((counts != counts.shift()).cumsum(), sort=True):
        yield bool(run["canonical"].iloc[0]), run


def _steps(run: pd.DataFrame) -> dict[str, Any]:
    return {"first_step": int(run["global_step"].min()), "last_step": int(run["global_step"].max())}


def _queues(links: Sequence[Link], origin: datetime) -> list[Stretch]:
    return [
        Stretch(job=after.name, part=QUEUE, begin=_hours(before.ended_at, origin), end=_hours(after.started_at, origin))
        for before, after in pairwise(links)
        if before.ended_at and after.started_at and after.started_at > before.ended_at
    ]


def _marks(frames: ExperimentFrames, links: Sequence[Link], origin: datetime) -> list[Mark]:
    names = _names(links)
    events = frames.job_events[frames.job_events["kind"].isin(list(EVENTS)) & frames.job_events["logged_at"].notna()]
    found = [
        Mark(
            job=names[str(row["job"])],
            what=EVENTS[str(row["kind"])],
            at=_hours(row["logged_at"].to_pydatetime(), origin),
            step=optional_int(row["step"]),
        )
        for row in events.to_dict("records")
        if str(row["job"]) in names
    ]
    evaluations = eval_rows(frames).drop_duplicates(["job", "global_step"])
    for row in evaluations[evaluations["logged_at"].notna()].to_dict("records"):
        at = _hours(row["logged_at"].to_pydatetime(), origin)
        found.append(Mark(job=names[str(row["job"])], what=EVALUATION, at=at, step=optional_int(row["global_step"])))
    return found


def _names(links: Sequence[Link]) -> dict[str, str]:
    """Job → name of its first link: the row on which its events are drawn."""
    names: dict[str, str] = {}
    for link in links:
        names.setdefault(link.job, link.name)
    return names


def _in_step_time(rows: pd.DataFrame, links: Sequence[Link]) -> list[Stretch]:
    found, begin = [], 0.0
    for link in links:
        for counts, run in _runs(rows[rows["link"] == link.index]):
            end = begin + float(np.nansum(values_of(run, STEP_SECONDS))) / SECONDS_PER_HOUR
            part = TRAINING if counts else IN_VAIN
            found.append(Stretch(job=link.name, part=part, begin=begin, end=end, **_steps(run)))
            begin = end
    return found


def _marks_by_step(frames: ExperimentFrames, rows: pd.DataFrame, links: Sequence[Link]) -> list[Mark]:
    """Saves at the end of the step they name."""
    ends = np.nancumsum(values_of(rows, STEP_SECONDS)) / SECONDS_PER_HOUR
    at = {
        (str(job), int(step)): float(end) for job, step, end in zip(rows["job"], rows["global_step"], ends, strict=True)
    }
    names = _names(links)
    events = frames.job_events[frames.job_events["kind"].isin(list(EVENTS)) & frames.job_events["step"].notna()]
    keys = [
        (str(job), int(step), str(kind))
        for job, step, kind in zip(events["job"], events["step"], events["kind"], strict=True)
    ]
    return [
        Mark(job=names[job], what=EVENTS[kind], at=at[(job, step)], step=step)
        for job, step, kind in keys
        if (job, step) in at
    ]
