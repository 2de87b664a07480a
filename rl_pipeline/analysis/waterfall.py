"""From the first to the last second of the experiment: disjoint parts, losses told apart.

The clock parts (queue between jobs, start-up, silent gaps, tail of a job) need times in the logs; without
them the waterfall covers the accounted time only, and `covers` says so. Restart excess is taken out of the
wait of the first steps (and out of their training, where the wait cannot hold it), so that the parts add
up to the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import FloatArray, ratio
from rl_pipeline.analysis.links import Chain, Link, optional_time
from rl_pipeline.analysis.series import STEP_SECONDS, WAIT_SECONDS, sum_of, values_of
from rl_pipeline.analysis.time_accounting import BESIDE, PREFIX, StepTime, step_time
from rl_pipeline.units import SECONDS_PER_HOUR

GAP_SECONDS = 10.0  # unexplained time between two blocks that is shown on its own
USEFUL, NEEDED, LOST, OUTSIDE = "useful", "needed", "lost", "outside the job"
ACCOUNTED, WHOLE = "accounted time (no clocks in the logs)", "first to last time in the logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the waterfall; `kind` is useful, needed, lost, or outside the job."""

    name: str
    kind: str
    seconds: float
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockGap:
    """Time between two blocks of a job that no known span explains (s), after a step."""

    job: str
    after_step: int
    seconds: float
    between_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """Time of the whole experiment.

    Attributes:
        covers: what the total is.
        total_seconds: sum of all parts; None when nothing is known.
        parts: disjoint, in the order in which they are met.
        goodput: time of steps that count, their restart excess left out, ÷ total.
        training_share: training within these ÷ total.
        steps_per_hour: steps that count per hour of the total.
        gpus: number of GPUs, None when the geometry is unknown.
        gpu_hours: gpus × time inside the jobs (queue left out).
        queue_seconds: between the jobs; None without clocks.
        start_up_seconds: from a job's first time to its first step; None without clocks.
        gaps: unexplained times of ten seconds and more between blocks, longest first.
        reason: why there is no total.
    """

    covers: str
    total_seconds: float | None
    parts: tuple[Part, ...]
    goodput: float | None
    training_share: float | None
    steps_per_hour: float | None
    gpus: int | None
    gpu_hours: float | None
    queue_seconds: float | None
    start_up_seconds: float | None
    gaps: tuple[ClockGap, ...]
    reason: str | None = None


def waterfall(rows: pd.DataFrame, chain: Chain, *, gpus: int | None = None) -> Waterfall:
    """The waterfall over rows of `all_rows`; `gpus` from the configuration or a setting."""
    tree = step_time(rows)
    if tree.step_seconds is None:
        return _nothing(gpus, tree.reason)
    clock = _clock(rows, chain.links)
    amounts = [*_step_amounts(rows, tree), *(clock.amounts if clock else ())]
    total = sum(seconds for _, _, seconds in amounts)
    parts = tuple(Part(name=n, kind=k, seconds=s, share=ratio(s, total)) for n, k, s in amounts if s)
    useful = sum(part.seconds for part in parts if part.kind in (USEFUL, NEEDED) and part.name in _IN_STEP)
    training = sum(part.seconds for part in parts if part.name == "training")
    inside = total - sum(part.seconds for part in parts if part.kind == OUTSIDE)
    steps = int(rows["canonical"].astype(bool).sum())
    return Waterfall(
        covers=WHOLE if clock else ACCOUNTED,
        total_seconds=total,
        parts=parts,
        goodput=ratio(useful, total),
        training_share=ratio(training, total),
        steps_per_hour=ratio(steps * SECONDS_PER_HOUR, total),
        gpus=gpus,
        gpu_hours=gpus * inside / SECONDS_PER_HOUR if gpus else None,
        queue_seconds=clock.seconds("queue between jobs") if clock else None,
        start_up_seconds=clock.seconds("start-up") if clock else None,
        gaps=clock.gaps if clock else (),
    )


_IN_STEP = ("wait", "generation", "training", "weight sync", "conversion", "rest of the step")
_SPAN_OF = {
    "wait_for_generation_buffer": "wait",
    "generate": "generation",
    "run_training": "training",
    "train_critic_and_policy": "training",
    "fwd_logprobs_values_reward": "training",
    "compute_advantages_and_returns": "training",
    "apply_reward_kl_penalty": "training",
    "policy_train": "training",
    "critic_train": "training",
    "sync_weights": "weight sync",
    "convert_to_training_input": "conversion",
    "postprocess_generator_output": "conversion",
}
_KIND_OF = {"training": USEFUL, "generation": USEFUL}


def activities(tree: StepTime) -> tuple[Part, ...]:
    """Accounted time by timer alone: wait, training, sync, conversion, rest of the step, then each span beside it."""
    amounts: dict[str, float] = {}
    for span in tree.parts:
        name = _SPAN_OF.get(span.name, span.name)
        amounts[name] = amounts.get(name, 0.0) + span.seconds
    amounts["rest of the step"] = tree.unattributed_seconds or 0.0
    for span in tree.beside:
        amounts[span.name] = span.seconds
    total = tree.accounted_seconds
    return tuple(
        Part(name=name, kind=_KIND_OF.get(name, NEEDED), seconds=seconds, share=ratio(seconds, total))
        for name, seconds in amounts.items()
    )


def _nothing(gpus: int | None, reason: str | None) -> Waterfall:
    return Waterfall(
        covers=ACCOUNTED,
        total_seconds=None,
        parts=(),
        goodput=None,
        training_share=None,
        steps_per_hour=None,
        gpus=gpus,
        gpu_hours=None,
        queue_seconds=None,
        start_up_seconds=None,
        gaps=(),
        reason=reason,
    )


def _step_amounts(rows: pd.DataFrame, tree: StepTime) -> list[tuple[str, str, float]]:
    """(name, kind, seconds) of everything that timers measured."""
    counts = rows["canonical"].astype(bool)
    amounts = {part.name: part.seconds for part in activities(step_time(rows[counts]))}
    beside = {span.name: span.seconds for span in tree.beside}
    amounts = {name: seconds for name, seconds in amounts.items() if name not in beside}
    excess = _excess(rows)
    from_wait = min(excess, _warm_up_wait(rows), amounts.get("wait", 0.0))
    amounts["wait"] = amounts.get("wait", 0.0) - from_wait
    from_rest = min(excess - from_wait, amounts.get("generation", amounts.get("training", 0.0)))
    name = "generation" if "generation" in amounts else "training"
    amounts[name] = amounts.get(name, 0.0) - from_rest
    return [
        ("slow first steps", LOST, from_wait + from_rest),
        *((name, _KIND_OF.get(name, NEEDED), seconds) for name, seconds in amounts.items()),
        ("steps trained in vain", LOST, sum_of(rows[~counts], STEP_SECONDS) or 0.0),
        *((name, NEEDED, seconds) for name, seconds in beside.items()),
    ]


def _excess(rows: pd.DataFrame) -> float:
    """Σ over links of what the first steps that count took beyond the link's settled median, ≥ 0 each."""
    total = 0.0
    for _, part in rows.groupby("link", sort=True):
        warm = part["is_warm_up"].to_numpy(dtype=bool)
        seconds, counts = values_of(part, STEP_SECONDS), part["canonical"].to_numpy(dtype=bool)
        rest = seconds[~warm & np.isfinite(seconds)]
        first = seconds[warm & counts & np.isfinite(seconds)]
        if rest.size and first.size:
            total += float(np.maximum(first - np.median(rest), 0).sum())
    return total


def _warm_up_wait(rows: pd.DataFrame) -> float:
    return sum_of(rows[rows["is_warm_up"].astype(bool) & rows["canonical"].astype(bool)], WAIT_SECONDS) or 0.0


@dataclass(frozen=True, slots=True)
class _Clock:
    amounts: tuple[tuple[str, str, float], ...]
    gaps: tuple[ClockGap, ...]

    def seconds(self, name: str) -> float | None:
        return next((seconds for part, _, seconds in self.amounts if part == name), None)


def _clock(rows: pd.DataFrame, links: Sequence[Link]) -> _Clock | None:
    """Parts that clocks show; None unless every job with steps has times in one zone."""
    trained = [link for link in links if link.rows]
    if any(link.started_at is None or link.ended_at is None for link in links) or not trained:
        return None
    if len({link.zone for link in links}) > 1 or rows["logged_at"].isna().any():
        return None
    queue = sum(
        max(0.0, (b.started_at - a.ended_at).total_seconds()) for a, b in pairwise(links) if a.ended_at and b.started_at
    )
    start_up = tail = stepless = 0.0
    gaps: list[ClockGap] = []
    for link in links:
        part = rows[rows["link"] == link.index]
        if part.empty:
            stepless += (link.ended_at - link.started_at).total_seconds() if link.ended_at and link.started_at else 0.0
            continue
        start_up += max(0.0, _before_first_step(part, link))
        gaps += _gaps(part)
        tail += _after_last_step(part, link)
    silent = sum(gap.seconds for gap in gaps)
    amounts = (
        ("queue between jobs", OUTSIDE, queue),
        ("start-up", NEEDED, start_up),
        ("jobs without a step", LOST, stepless),
        ("unexplained between steps", LOST, silent),
        ("after the last step", NEEDED, tail),
    )
    return _Clock(amounts, tuple(sorted((g for g in gaps if g.seconds >= GAP_SECONDS), key=lambda gap: -gap.seconds)))


def _before_first_step(part: pd.DataFrame, link: Link) -> float:
    first = optional_time(part["logged_at"].iloc[0])
    seconds = values_of(part, STEP_SECONDS)[0] + _beside_seconds(part)[0]
    if first is None or link.started_at is None or not np.isfinite(seconds):
        return 0.0
    return (first - link.started_at).total_seconds() - float(seconds)


def _after_last_step(part: pd.DataFrame, link: Link) -> float:
    """From the last block to the end of the log; a save in it is counted by its own timer where printed."""
    last = optional_time(part["logged_at"].iloc[-1])
    if last is None or link.ended_at is None:
        return 0.0
    return max(0.0, (link.ended_at - last).total_seconds())


def gaps_between_blocks(rows: pd.DataFrame) -> list[ClockGap]:
    """Unexplained time between all successive blocks of the same job, over rows of `all_rows`."""
    return [gap for _, part in rows.groupby("link", sort=True) for gap in _gaps(part)]


def _gaps(part: pd.DataFrame) -> list[ClockGap]:
    """Time between successive blocks beyond the spans of the later step and those beside it."""
    step = values_of(part, STEP_SECONDS)
    known = np.nan_to_num(step) + _beside_seconds(part)
    times = [optional_time(value) for value in part["logged_at"]]
    found = []
    for i in range(1, len(part)):
        before, after = times[i - 1], times[i]
        if before is None or after is None or not np.isfinite(step[i]):
            continue
        between = (after - before).total_seconds()
        found.append(
            ClockGap(
                job=str(part["job"].iloc[0]),
                after_step=int(part["global_step"].iloc[i - 1]),
                seconds=between - float(known[i]),
                between_seconds=between,
            )
        )
    return found


def _beside_seconds(part: pd.DataFrame) -> FloatArray:
    total = np.zeros(len(part))
    for name in (name for name, parents in BESIDE.items() if not parents):
        total += np.nan_to_num(values_of(part, PREFIX + name))
    return total
