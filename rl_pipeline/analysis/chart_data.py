"""What the charts draw: aggregated rows, made once for the picture, its table and its CSV.

In: the frames of one experiment. Out: tuples of rows. Rewards keep every step; everything else is put
into a bounded number of bins, so that a picture stays small whatever the size of the run. Steps that
the final weights do not descend from are marked, not dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from rl_pipeline.analysis.blocks import training_rows
from rl_pipeline.analysis.engine_bins import EngineBin, engine_bins
from rl_pipeline.analysis.error_counts import ErrorCount, error_counts
from rl_pipeline.analysis.findings.finding import FIRED
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.numbers import finite, mean
from rl_pipeline.analysis.published import pass_at_k_of
from rl_pipeline.analysis.series import REWARD, WARM_UP_STEPS, all_rows, canonical_of
from rl_pipeline.analysis.step_parts import StepPart, step_parts
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.schema import OUTCOMES

# The weight of the newest step in the smoothed line: a trailing mean of about five steps.
SMOOTHING = 1 / 3
END_WINDOW = 10
TURN_BINS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardPoint:
    """One trained step.

    Attributes:
        job: short name.
        step: global step.
        reward: mean reward of the step.
        pass_at_k: share of prompts solved at least once.
        smoothed: exponential mean of the reward over the canonical steps so far; None off the chain.
        is_canonical: whether the final weights descend from it.
        is_warm_up: one of the first steps after a start.
    """

    job: str
    step: int
    reward: float | None
    pass_at_k: float | None
    smoothed: float | None
    is_canonical: bool
    is_warm_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSeries:
    """Rewards over the chain.

    Attributes:
        points: every row in chain order.
        starts: (job, first step it trained) of every link, in chain order.
        pass_k: the k of pass_at_k.
        early_mean: mean reward of the first canonical steps (`window` of them, warm-up left out).
        late_mean: mean reward of the last ones.
        window: steps in each of both; 0 when the run is too short.
    """

    points: tuple[RewardPoint, ...]
    starts: tuple[tuple[str, int], ...]
    pass_k: int | None
    early_mean: float | None
    late_mean: float | None
    window: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBin:
    """Trials by number of turns.

    Attributes:
        outcome: solved, unsolved or unscored.
        low: smallest number of turns in the bin.
        high: largest one (the last bin ends at the longest trial).
        trials: trials.
    """

    outcome: str
    low: int
    high: int
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """Rows of all charts; an empty tuple means that there is nothing to draw.

    Attributes:
        reward: steps and their rewards.
        errors: failed trials by step and type.
        step_parts: parts of each step.
        engine_bins: engine load over time.
        turns: trials by turns and outcome.
        chosen_step: the checkpoint to keep; None when there is no choice.
        fired: titles of the findings that fired, by rule; what the charts' titles say first.
    """

    reward: RewardSeries
    errors: tuple[ErrorCount, ...]
    step_parts: tuple[StepPart, ...]
    engine_bins: tuple[EngineBin, ...]
    turns: tuple[TurnBin, ...]
    chosen_step: int | None = None
    fired: Mapping[str, str] = field(default_factory=dict)


def chart_data(frames: ExperimentFrames, result: ExperimentResult | None = None) -> ChartData:
    """Aggregate one experiment for its charts; with its results the titles can say what they mean."""
    findings = result.findings if result else ()
    rows = all_rows(frames)
    return ChartData(
        reward=reward_series(frames, rows),
        errors=error_counts(frames, rows),
        step_parts=step_parts(rows),
        engine_bins=engine_bins(frames.vllm_stats),
        turns=turn_bins(frames.trials),
        chosen_step=result.checkpoints.step if result else None,
        fired={finding.id: finding.title for finding in findings if finding.status == FIRED},
    )


def reward_series(frames: ExperimentFrames, rows: pd.DataFrame) -> RewardSeries:
    """Rewards of all rows with the smoothed line over the canonical ones."""
    k = pass_at_k_of(training_rows(frames.step_metrics, [str(job) for job in frames.jobs["job"]]))
    canonical = canonical_of(rows)
    smoothed = _smoothed(canonical)
    points = []
    for row in rows.to_dict("records"):
        is_canonical = bool(row["canonical"])
        line = smoothed.get((row["link"], row["global_step"])) if is_canonical else None
        points.append(
            RewardPoint(
                job=str(row["job"]),
                step=int(row["global_step"]),
                reward=finite(row.get(REWARD)),
                pass_at_k=finite(row.get(f"reward/avg_pass_at_{k}")),
                smoothed=finite(line),
                is_canonical=is_canonical,
                is_warm_up=bool(row["is_warm_up"]),
            )
        )
    early, late, window = _ends(canonical)
    return RewardSeries(
        points=tuple(points), starts=_starts(rows), pass_k=k, early_mean=early, late_mean=late, window=window
    )


def _smoothed(canonical: pd.DataFrame) -> dict[tuple[int, int], float]:
    """(link, step) → exponential mean of the rewards up to there."""
    if REWARD not in canonical:
        return {}
    known = canonical[["link", "global_step", REWARD]].dropna()
    line = known[REWARD].ewm(alpha=SMOOTHING, adjust=False).mean()
    keys = zip(known["link"], known["global_step"], strict=True)
    return {(int(link), int(step)): float(value) for (link, step), value in zip(keys, line, strict=True)}


def _starts(rows: pd.DataFrame) -> tuple[tuple[str, int], ...]:
    firsts = rows.drop_duplicates("link")
    return tuple((str(job), int(step)) for job, step in zip(firsts["job"], firsts["global_step"], strict=True))


def _ends(canonical: pd.DataFrame) -> tuple[float | None, float | None, int]:
    """Means of the first and the last window without warm-up; the windows do not overlap."""
    if REWARD not in canonical:
        return None, None, 0
    settled = canonical[~canonical["is_warm_up"].astype(bool)][REWARD].dropna()
    window = min(END_WINDOW, len(settled) // 2)
    if window < WARM_UP_STEPS:
        return None, None, 0
    return mean(settled.iloc[:window]), mean(settled.iloc[-window:]), window


def turn_bins(trials: pd.DataFrame) -> tuple[TurnBin, ...]:
    """Histogram of turns by outcome; bins of equal whole width, at most `TURN_BINS`."""
    known = trials[trials["n_turns"].notna() & ~trials["is_eval"].fillna(False).astype(bool)]
    if known.empty:
        return ()
    turns = known["n_turns"].astype("int64")
    longest = int(turns.max())
    width = -(-(longest + 1) // TURN_BINS)
    counts = known.groupby([turns // width, known["outcome"]]).size()
    return tuple(
        TurnBin(outcome=outcome, low=place * width, high=min((place + 1) * width - 1, longest), trials=int(number))
        for place in range(longest // width + 1)
        for outcome in OUTCOMES
        if (number := counts.get((place, outcome), 0))
    )
