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
from rl_pipeline.analysis.checkpoints import CheckpointChoice
from rl_pipeline.analysis.engine_bins import EngineBin, engine_bins
from rl_pipeline.analysis.engine_courses import EngineCourses, engine_courses
from rl_pipeline.analysis.error_counts import ErrorCount, error_counts
from rl_pipeline.analysis.findings.finding import FIRED
from rl_pipeline.analysis.first_numbers import FirstNumber, first_numbers
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.job_comparison import JobMeans
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.metric_overview import MetricOverview, metric_overview
from rl_pipeline.analysis.numbers import finite, mean, whole
from rl_pipeline.analysis.populations import training_trials
from rl_pipeline.analysis.published import pass_at_k_of
from rl_pipeline.analysis.series import REWARD, WARM_UP_STEPS, all_rows, canonical_of, first_logged
from rl_pipeline.analysis.step_curves import Curve, curve_of, stability_curves
from rl_pipeline.analysis.step_parts import StepPart, step_parts
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.analysis.task_changes import TaskChanges, task_changes
from rl_pipeline.analysis.timeline import Timeline, find_timeline
from rl_pipeline.analysis.trial_analysis import TaskSplit, split_tasks
from rl_pipeline.analysis.trial_course import TrialCourse, trial_course
from rl_pipeline.analysis.trial_spread import (
    ContextBin,
    Spread,
    agent_seconds,
    output_tokens,
    solve_rate_by_context,
)
from rl_pipeline.analysis.waterfall import Waterfall
from rl_pipeline.schema import OUTCOMES

# The weight of the newest step in the smoothed line: a trailing mean of about five steps.
SMOOTHING = 1 / 3
END_WINDOW = 10
TURN_BINS = 60
USUAL_TURNS = 0.995  # share of the trials that bins of equal width hold


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
        samples: samples behind the reward; None when not logged.
    """

    job: str
    step: int
    reward: float | None
    pass_at_k: float | None
    smoothed: float | None
    is_canonical: bool
    is_warm_up: bool
    samples: int | None = None


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
        high: largest one (the last bin ends at the longest trial, and may be wider).
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
        pass_at_k: its curve.
        stability: curves of what shows a broken policy.
        timeline: the run on one axis.
        trial_course: trials over time.
        tokens: generated tokens of trials.
        seconds: seconds of the agent in trials.
        context: solve rate by context used.
        tasks: tasks by what became of their trials.
        task_changes: first third against the last, task by task.
        engine_courses: engines one by one.
        waterfall: from the first to the last second.
        jobs: the jobs quantity by quantity.
        checkpoints: the choice and its candidates.
        metrics: every metric in one line.
        numbers: the five that stand first; none without results.
    """

    reward: RewardSeries
    errors: tuple[ErrorCount, ...]
    step_parts: tuple[StepPart, ...]
    engine_bins: tuple[EngineBin, ...]
    turns: tuple[TurnBin, ...]
    chosen_step: int | None = None
    fired: Mapping[str, str] = field(default_factory=dict)
    pass_at_k: Curve | None = None
    stability: tuple[Curve, ...] = ()
    timeline: Timeline | None = None
    trial_course: TrialCourse | None = None
    tokens: Spread | None = None
    seconds: Spread | None = None
    context: tuple[ContextBin, ...] = ()
    tasks: TaskSplit | None = None
    task_changes: TaskChanges | None = None
    engine_courses: EngineCourses | None = None
    waterfall: Waterfall | None = None
    jobs: tuple[JobMeans, ...] = ()
    checkpoints: CheckpointChoice | None = None
    metrics: tuple[MetricOverview, ...] = ()
    numbers: tuple[FirstNumber, ...] = ()


def chart_data(frames: ExperimentFrames, result: ExperimentResult | None = None) -> ChartData:
    """Aggregate one experiment for its charts; with its results the titles can say what they mean."""
    findings = result.findings if result else ()
    rows = all_rows(frames)
    canonical = canonical_of(rows)
    k = result.published.pass_k if result else _pass_k(frames)
    return ChartData(
        reward=reward_series(rows, k),
        errors=error_counts(frames, rows),
        step_parts=step_parts(rows),
        engine_bins=engine_bins(frames.vllm_stats),
        turns=turn_bins(frames.trials),
        chosen_step=result.checkpoints.step if result else None,
        fired={finding.id: finding.title for finding in findings if finding.status == FIRED},
        pass_at_k=curve_of(canonical, f"pass@{k}", (f"reward/avg_pass_at_{k}",)) if k else None,
        stability=stability_curves(canonical),
        timeline=_timeline(frames, rows, result) if result else None,
        trial_course=trial_course(frames.trials),
        tokens=output_tokens(frames.trials),
        seconds=agent_seconds(frames.trials),
        context=solve_rate_by_context(frames.trials),
        tasks=result.trials.tasks if result else split_tasks(training_trials(frames.trials)),
        task_changes=result.tasks if result else task_changes(frames.trials),
        engine_courses=engine_courses(frames.vllm_stats),
        waterfall=result.time.waterfall if result else None,
        jobs=result.comparison if result else (),
        checkpoints=result.checkpoints if result else None,
        metrics=metric_overview(canonical),
        numbers=first_numbers(result, canonical, result.trials.tasks) if result else (),
    )


def _pass_k(frames: ExperimentFrames) -> int | None:
    return pass_at_k_of(training_rows(frames.step_metrics, [str(job) for job in frames.jobs["job"]]))


def _timeline(frames: ExperimentFrames, rows: pd.DataFrame, result: ExperimentResult) -> Timeline | None:
    endings = {end.link: end.state for end in result.lineage.endings}
    return find_timeline(frames, rows, result.lineage.links, endings)


def reward_series(rows: pd.DataFrame, k: int | None) -> RewardSeries:
    """Rewards of all rows with the smoothed line over the canonical ones; `k` of the pass@k that is logged."""
    samples = first_logged(rows, SAMPLES)
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
                samples=whole(finite(row[samples])) if samples else None,
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
    """Histogram of turns by outcome: at most `TURN_BINS` bins of equal whole width, and one for the longest trials."""
    own = training_trials(trials)[["n_turns", "outcome"]]
    known = own[own["n_turns"].notna()]
    if known.empty:
        return ()
    turns = known["n_turns"].astype("int64")
    longest, usual = int(turns.max()), int(turns.quantile(USUAL_TURNS, interpolation="higher"))
    width = -(-(usual + 1) // TURN_BINS)
    last = min(usual // width + 1, longest // width)  # holds everything beyond as well
    counts = known.groupby([(turns // width).clip(upper=last), known["outcome"]]).size().to_dict()
    return tuple(
        TurnBin(
            outcome=outcome,
            low=place * width,
            high=longest if place == last else (place + 1) * width - 1,
            trials=int(number),
        )
        for place in range(last + 1)
        for outcome in OUTCOMES
        if (number := counts.get((place, outcome), 0))
    )
