"""Steps that no log has: holes in the series, and blocks that were trained but are missing or cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.links import Link
from rl_pipeline.schema import PARTIAL

STEP_MARKER = "step_marker"
STEP_TIMER = "step"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBlock:
    """A step that a job trained without a readable block.

    `finished` tells a lost block (the step ended, a later step followed or its timer finished) from a
    step that was cut off with the job.
    """

    job: str
    global_step: int
    line: int
    finished: bool
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGap:
    """Steps first … last, none of which has a block, and where they went as far as can be told."""

    first_step: int
    last_step: int
    explanation: str

    @property
    def steps(self) -> int:
        """How many are missing."""
        return self.last_step - self.first_step + 1


def find_gaps(steps: Sequence[int], links: Sequence[Link], lost: Sequence[LostBlock]) -> tuple[StepGap, ...]:
    """Holes between the first and the last of the sorted canonical steps."""
    gaps = []
    for before, after in pairwise(steps):
        if after > before + 1:
            first, last = before + 1, after - 1
            explanation = _explain(first, last, links, lost)
            gaps.append(StepGap(first_step=first, last_step=last, explanation=explanation))
    return tuple(gaps)


def find_lost_blocks(frames: ExperimentFrames, rows: pd.DataFrame) -> tuple[LostBlock, ...]:
    """Steps named by a step marker or a cut block that have no row in their job."""
    have = {(str(job), int(step)) for job, step in zip(rows["job"], rows["global_step"], strict=True)}
    last = {str(job): int(step) for job, step in rows.groupby("job")["global_step"].max().items()}
    timers = _finished_steps(frames.phase_timings)
    found: dict[tuple[str, int], LostBlock] = {}
    for job, step, line, what in [*_markers(frames.job_events), *_cut_blocks(frames.step_metrics)]:
        if (job, step) in have:
            continue
        timed = _timer_after(timers, frames.job_events, job, line)
        finished = step < last.get(job, step) or timed
        found[job, step] = LostBlock(job=job, global_step=step, line=line, finished=finished, evidence=what)
    return tuple(found[key] for key in sorted(found))


def _explain(first: int, last: int, links: Sequence[Link], lost: Sequence[LostBlock]) -> str:
    here = [block for block in lost if first <= block.global_step <= last]
    if here:
        return f"trained in {', '.join(sorted({block.job for block in here}))}, but the block is missing or cut"
    inside = [
        x for x in links if x.first_step is not None and x.last_step is not None and x.first_step < first <= x.last_step
    ]
    if inside:
        return f"inside {inside[-1].job}: blocks lost, or never printed"
    following = [link for link in links if link.first_step == last + 1]
    return f"before {following[-1].job}: the log of a link is not in the inputs" if following else "unknown"


def _markers(events: pd.DataFrame) -> list[tuple[str, int, int, str]]:
    markers = events[(events["kind"] == STEP_MARKER) & events["step"].notna()]
    columns = zip(markers["job"], markers["step"], markers["line"], strict=True)
    return [(str(job), int(step), int(line), "a step marker without a block") for job, step, line in columns]


def _cut_blocks(cells: pd.DataFrame) -> list[tuple[str, int, int, str]]:
    cut = cells[(cells["kind"] == PARTIAL) & cells["global_step"].notna()].drop_duplicates(["job", "block"])
    columns = zip(cut["job"], cut["global_step"], cut["line"], strict=True)
    return [(str(job), int(step), int(line), "a block that was cut off") for job, step, line in columns]


def _finished_steps(timings: pd.DataFrame) -> dict[str, list[int]]:
    done = timings[(timings["name"] == STEP_TIMER) & timings["finished"].astype(bool)]
    lines: dict[str, list[int]] = {}
    for job, line in zip(done["job"], done["line"], strict=True):
        lines.setdefault(str(job), []).append(int(line))
    return lines


def _timer_after(timers: dict[str, list[int]], events: pd.DataFrame, job: str, line: int) -> bool:
    """Whether the step's timer finished after the line and before the next step's marker."""
    own = events[(events["kind"] == STEP_MARKER) & (events["job"] == job)]
    later = [int(value) for value in own["line"] if int(value) > line]
    limit = min(later, default=None)
    return any(at > line and (limit is None or at < limit) for at in timers.get(job, ()))
