"""How each link ended, by what evidence, and whether the same death came again.

The state comes from `jobs` (decided where the log is read); here the last crash of the log is put
beside it and turned into a signature that two links can share. A time limit or a cancellation is how
chains work, so these are no deaths; neither is an end nobody saw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.links import Link, optional_int, optional_text

CRASH_EVENTS = ("failure", "driver_traceback", "worker_died", "out_of_memory", "traceback")
FATAL_STATES = ("out_of_memory", "node_failure", "failed")
REQUEUED = "requeued"
# "path/to/file.py:812 in train — message", as tracebacks carry the last frame of the run's own code.
_PLACE = re.compile(r"^(\S{1,400}):\d{1,7}(?: in (\S{1,200}))?(?: — |$)")
_VARIABLE = re.compile(r"0x[0-9a-fA-F]+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnd:
    """How one link ended.

    Attributes:
        link: place in the chain.
        job: its name.
        state: one of `schema.END_STATES`; an attempt that another one follows in the same log is requeued.
        evidence: the line that shows it, redacted; None without any.
        line: its line number.
        byte_offset: where it starts in the uncompressed log.
        crash: exception type of the last crash line, None without one.
        crash_detail: that line, redacted.
        crash_line: its line number.
        signature: what two equal deaths share; None when this was no death.
        succeeded_by: the next link with steps; None for the last.
    """

    link: int
    job: str
    state: str
    evidence: str | None
    line: int | None
    byte_offset: int | None
    crash: str | None
    crash_detail: str | None
    crash_line: int | None
    signature: str | None
    succeeded_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedDeath:
    """One signature in two or more successive links."""

    signature: str
    jobs: tuple[str, ...]


def find_endings(frames: ExperimentFrames, links: Sequence[Link]) -> tuple[LinkEnd, ...]:
    """The end of every link, in chain order."""
    return tuple(_ending(frames, link, links[place + 1 :]) for place, link in enumerate(links))


def find_repeated_deaths(endings: Sequence[LinkEnd]) -> tuple[RepeatedDeath, ...]:
    """Runs of at least two successive links with the same signature."""
    found: list[RepeatedDeath] = []
    run: list[LinkEnd] = []
    for end in [*endings, None]:
        if run and (end is None or end.signature != run[-1].signature):
            if len(run) > 1 and run[0].signature is not None:
                found.append(RepeatedDeath(signature=run[0].signature, jobs=tuple(e.job for e in run)))
            run = []
        if end is not None and end.signature is not None:
            run.append(end)
    return tuple(found)


def _ending(frames: ExperimentFrames, link: Link, later: Sequence[Link]) -> LinkEnd:
    followed = next((other for other in later if other.job == link.job), None)
    row = frames.jobs[frames.jobs["job"] == link.job].iloc[0]
    state = REQUEUED if followed else optional_text(row["end_state"]) or "unknown"
    crashes = _crashes(frames.job_events, link, followed.first_line if followed else None)
    crash = _last_crash(crashes)
    name = optional_text(crash["name"]) if crash is not None else None
    detail = optional_text(crash["detail"]) if crash is not None else None
    evidence = f"line {followed.first_line} starts the next attempt" if followed else optional_text(row["end_evidence"])
    return LinkEnd(
        link=link.index,
        job=link.job,
        state=state,
        evidence=evidence,
        line=followed.first_line if followed else optional_int(row["end_line"]),
        byte_offset=None if followed else optional_int(row["end_byte"]),
        crash=name,
        crash_detail=detail,
        crash_line=optional_int(crash["line"]) if crash is not None else None,
        signature=_signature(state, name, detail, _place(crashes, name)),
        succeeded_by=next((other.name for other in later if other.rows), None),
    )


def _crashes(events: pd.DataFrame, link: Link, before: int | None) -> pd.DataFrame:
    """The crash lines of the link, in order."""
    own = events[(events["job"] == link.job) & (events["line"] >= link.first_line) & events["kind"].isin(CRASH_EVENTS)]
    own = own[own["line"] < before] if before is not None else own
    return own.sort_values("line", kind="stable")


def _last_crash(crashes: pd.DataFrame) -> pd.Series[Any] | None:
    """The last crash line, the trainer's own words and the driver's traceback first."""
    for kinds in (("failure", "driver_traceback"), CRASH_EVENTS):
        found = crashes[crashes["kind"].isin(kinds)]
        if len(found):
            return found.iloc[-1]
    return None


def _place(crashes: pd.DataFrame, name: str | None) -> str | None:
    """File and function of the last traceback of that exception, where it shows a frame of the run's own code."""
    same = crashes[crashes["kind"].isin(("driver_traceback", "traceback")) & (crashes["name"] == name)]
    for detail in reversed([str(text) for text in same["detail"] if isinstance(text, str)]):
        found = _PLACE.match(detail)
        if found:
            file = found.group(1).rsplit("/", 1)[-1]
            return f"{file}:{found.group(2)}" if found.group(2) else file
    return None


def _signature(state: str, name: str | None, detail: str | None, place: str | None) -> str | None:
    if state in ("out_of_memory", "node_failure"):
        return state
    if state not in FATAL_STATES or name is None:
        return None
    if place:
        return f"{name} in {place}"
    words = _VARIABLE.sub("#", (detail or "").strip())[:120]
    return f"{name}: {words}" if words else name
