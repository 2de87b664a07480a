"""The story of the chain: what was trained twice, what is missing, why each link ended.

In: all frames, `Chain` and the step rows. Out: one `Lineage`. Nothing here judges; the rules do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from rl_pipeline.analysis.endings import LinkEnd, RepeatedDeath, find_endings, find_repeated_deaths
from rl_pipeline.analysis.estimates import plain
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.links import Chain, Link, find_chain
from rl_pipeline.analysis.missing_steps import LostBlock, StepGap, find_gaps, find_lost_blocks
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, all_rows, first_logged, values_of

# Samples behind one step, best name first.
SAMPLES = ("async/effective_batch_samples", "generate/batch_num_seq", "generate/num_seq_before_merge")
CONCURRENT_SECONDS = 120.0  # logs of successive jobs may overlap by their tear-down


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrownAwayStep:
    """A step whose weights did not go on.

    Attributes:
        global_step: which.
        job: that trained it in vain.
        attempt: of that job.
        line: where its block stands.
        kept_job: job whose version counts; None when no later link reached the step.
        reward: mean reward then.
        kept_reward: mean reward of the version that counts.
        seconds: step time lost; None when not logged.
        kept_seconds: step time of the version that counts.
        samples: samples lost; None when not logged.
    """

    global_step: int
    job: str
    attempt: int
    line: int
    kept_job: str | None
    reward: float | None
    kept_reward: float | None
    seconds: float | None
    kept_seconds: float | None
    samples: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcurrentLinks:
    """Two jobs whose logs overlap in time by more than a tear-down takes."""

    first: str
    second: str
    seconds: float
    both_trained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """All links and what became of their steps.

    Attributes:
        links: in the order in which they ran.
        order_evidence: how that order was found.
        ancestry: names of the links whose weights went on, oldest first.
        dead_branches: links with steps from which no later one went on.
        rows: steps in all logs.
        distinct_steps: global steps that count.
        first_step: smallest of these; above 1 the earlier part is not in the inputs.
        last_step: largest of these.
        thrown_away: steps that do not count, in order.
        thrown_away_seconds: step time in them; None when there is none or it was not logged.
        thrown_away_samples: samples in them; likewise.
        gaps: steps between first and last that no log has.
        lost_blocks: steps that were trained but whose block is missing or cut.
        stepless: links without a training block: attempts, not progress.
        concurrent: pairs that ran at the same time.
        disordered: (job, step) of blocks that came after a higher step of the same attempt.
        endings: how each link ended, in order.
        repeated_deaths: the same death in successive links.
        notes: oddities in words.
    """

    links: tuple[Link, ...]
    order_evidence: str
    ancestry: tuple[str, ...]
    dead_branches: tuple[str, ...]
    rows: int
    distinct_steps: int
    first_step: int | None
    last_step: int | None
    thrown_away: tuple[ThrownAwayStep, ...]
    thrown_away_seconds: float | None
    thrown_away_samples: float | None
    gaps: tuple[StepGap, ...]
    lost_blocks: tuple[LostBlock, ...]
    stepless: tuple[Link, ...]
    concurrent: tuple[ConcurrentLinks, ...]
    disordered: tuple[tuple[str, int], ...]
    endings: tuple[LinkEnd, ...]
    repeated_deaths: tuple[RepeatedDeath, ...]
    notes: tuple[str, ...]

    @property
    def restarts(self) -> tuple[Link, ...]:
        """Links that went on from another one."""
        return tuple(link for link in self.links[1:] if link.rows)


def find_lineage(frames: ExperimentFrames, chain: Chain | None = None, rows: pd.DataFrame | None = None) -> Lineage:
    """Everything about the chain; `chain` and `rows` (of `all_rows`) only save computing them again."""
    chain = chain or find_chain(frames)
    rows = rows if rows is not None else all_rows(frames, chain)
    canonical = rows[rows["canonical"].astype(bool)]
    steps = sorted({int(step) for step in canonical["global_step"]})
    lost, line = find_lost_blocks(frames, rows), chain.ancestry
    thrown = _thrown_away(rows, chain.links)
    endings = find_endings(frames, chain.links)
    return Lineage(
        links=chain.links,
        order_evidence=chain.order_evidence,
        ancestry=tuple(link.name for link in line),
        dead_branches=tuple(link.name for link in chain.links if link.rows and link not in line),
        rows=len(rows),
        distinct_steps=len(steps),
        first_step=steps[0] if steps else None,
        last_step=steps[-1] if steps else None,
        thrown_away=thrown,
        thrown_away_seconds=_total([step.seconds for step in thrown]),
        thrown_away_samples=_total([step.samples for step in thrown]),
        gaps=find_gaps(steps, chain.links, lost),
        lost_blocks=lost,
        stepless=tuple(link for link in chain.links if link.rows == 0),
        concurrent=_concurrent(chain.links),
        disordered=_disordered(rows),
        endings=endings,
        repeated_deaths=find_repeated_deaths(endings),
        notes=tuple(_notes(chain.links, steps)),
    )


def _thrown_away(rows: pd.DataFrame, links: Sequence[Link]) -> tuple[ThrownAwayStep, ...]:
    gone, kept = rows[~rows["canonical"].astype(bool)], rows[rows["canonical"].astype(bool)]
    names = {link.index: link.job for link in links}
    place = {int(step): i for i, step in enumerate(kept["global_step"])}
    owners = [names[int(link)] for link in kept["link"]]
    samples = first_logged(rows, SAMPLES)
    rewards, seconds = values_of(gone, REWARD), values_of(gone, STEP_SECONDS)
    kept_rewards, kept_seconds = values_of(kept, REWARD), values_of(kept, STEP_SECONDS)
    lost_samples = values_of(gone, samples) if samples else np.full(len(gone), np.nan)
    found = []
    keys = zip(gone["global_step"], gone["job"], gone["attempt"], gone["line"], strict=True)
    for i, (step, job, attempt, line) in enumerate(keys):
        at = place.get(int(step))
        found.append(
            ThrownAwayStep(
                global_step=int(step),
                job=str(job),
                attempt=int(attempt),
                line=int(line),
                kept_job=None if at is None else owners[at],
                reward=plain(rewards[i]),
                kept_reward=None if at is None else plain(kept_rewards[at]),
                seconds=plain(seconds[i]),
                kept_seconds=None if at is None else plain(kept_seconds[at]),
                samples=plain(lost_samples[i]),
            )
        )
    return tuple(found)


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _concurrent(links: Sequence[Link]) -> tuple[ConcurrentLinks, ...]:
    jobs: dict[str, list[Link]] = {}
    for link in links:
        jobs.setdefault(link.job, []).append(link)
    spans = [(job, parts[0].started_at, parts[-1].ended_at, parts[0].zone, parts) for job, parts in jobs.items()]
    found = []
    for place, (first, start, end, zone, parts) in enumerate(spans):
        for second, other_start, other_end, other_zone, others in spans[place + 1 :]:
            if start is None or end is None or other_start is None or other_end is None or zone != other_zone:
                continue
            seconds = (min(end, other_end) - max(start, other_start)).total_seconds()
            if seconds > CONCURRENT_SECONDS:
                both = any(p.rows for p in parts) and any(p.rows for p in others)
                found.append(ConcurrentLinks(first=first, second=second, seconds=seconds, both_trained=both))
    return tuple(found)


def _disordered(rows: pd.DataFrame) -> tuple[tuple[str, int], ...]:
    found = []
    for _, part in rows[["link", "line", "job", "global_step"]].groupby("link", sort=True):
        ordered = part.sort_values("line", kind="stable")
        behind = ordered["global_step"] < ordered["global_step"].cummax()
        found += [
            (str(job), int(step)) for job, step in ordered.loc[behind, ["job", "global_step"]].itertuples(index=False)
        ]
    return tuple(found)


def _notes(links: Sequence[Link], steps: Sequence[int]) -> list[str]:
    notes = []
    if steps and steps[0] > 1:
        notes.append(f"the chain starts at step {steps[0]}: the part before it is not in the inputs")
    for link in links:
        if link.attempt:
            notes.append(f"{link.job} trained step {link.first_step} again in the same log: it was requeued")
        elif link.rows and link.start == "unknown":
            notes.append(f"{link.job} has no start line: its beginning is missing or was overwritten by a requeue")
    for earlier, later in _backwards(links):
        notes.append(
            f"{later.job} starts at step {later.first_step} after {earlier.job} had reached {earlier.last_step}"
        )
    return notes


def _backwards(links: Sequence[Link]) -> list[tuple[Link, Link]]:
    """Fresh starts after progress: the earlier weights were given up."""
    trained = [link for link in links if link.rows]
    return [(a, b) for a, b in pairwise(trained) if b.start == "fresh"]
