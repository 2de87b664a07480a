"""What the trials did: outcomes, exceptions, turns, tokens, durations, and which tasks changed.

Training trials only. Every number says over which trials: outcomes know three values, and statistics of
solved and unsolved trials leave the unscored ones out, which are often the long and hard ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import Estimate, FloatArray, ratio
from rl_pipeline.analysis.intervals import cluster_rate_interval, mean_interval, wilson_interval
from rl_pipeline.analysis.pass_at_k import SCORED, attempts_by_task
from rl_pipeline.analysis.populations import training_trials
from rl_pipeline.analysis.trial_outcomes import has_outcome
from rl_pipeline.schema import OUTCOMES, UNSCORED

OUTCOME_COLUMNS = ["n_turns", "n_output_tokens", "agent_execution_s"]
PHASES = ("environment_setup_s", "agent_setup_s", "agent_execution_s", "verifier_s")
BOOTSTRAPS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A quantity over trials: quantiles, mean, and how many trials have no value."""

    n: int
    without: int
    mean: float | None
    p10: float | None
    median: float | None
    p90: float | None
    maximum: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeGroup:
    """Trials of one outcome: turns, output tokens and seconds of the agent."""

    outcome: str
    trials: int
    turns: Distribution
    output_tokens: Distribution
    agent_seconds: Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionGroup:
    """Trials that ended with one exception type.

    Attributes:
        exception_type: class name.
        exception_class: its class.
        trials: how many.
        share: of all training trials (Wilson).
        unscored: of these, without a reward.
        solved: of these, with a reward above 0.
        masked: of these, probably left out of the baseline.
        turns: over those with a count.
    """

    exception_type: str
    exception_class: str | None
    trials: int
    share: Estimate
    unscored: int
    solved: int
    masked: int
    turns: Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionClass:
    """Trials that ended with an exception of one class, as a share of all (Wilson)."""

    exception_class: str
    trials: int
    share: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSplit:
    """Tasks by what became of their scored trials.

    Attributes:
        tasks: with at least one scored trial.
        always: solved every time.
        never: never solved.
        mixed: the rest.
        solve_rate: over scored trials, resampling tasks.
        trials_per_task: mean.
        reason: why it is missing.
    """

    tasks: int
    always: int
    never: int
    mixed: int
    solve_rate: Estimate
    trials_per_task: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAnalysis:
    """Everything about the training trials.

    Attributes:
        trials: how many.
        eval_trials: of evaluations, left out.
        outcomes: solved, unsolved, unscored.
        classes: exception classes, most first.
        exceptions: exception types, most first.
        without_exception: trials.
        phases: seconds by phase column of `trials`.
        tasks: split of the tasks.
        unscored_longer: mean turns of unscored ÷ of scored trials; above 1 the scored statistics flatter.
        reason: why there is nothing.
    """

    trials: int
    eval_trials: int
    outcomes: tuple[OutcomeGroup, ...]
    classes: tuple[ExceptionClass, ...]
    exceptions: tuple[ExceptionGroup, ...]
    without_exception: int
    phases: dict[str, Distribution]
    tasks: TaskSplit
    unscored_longer: float | None
    reason: str | None = None


def analyse_trials(trials: pd.DataFrame) -> TrialAnalysis:
    """All of it, from the table `trials`."""
    own = training_trials(trials)
    is_unscored = has_outcome(own, UNSCORED)
    return TrialAnalysis(
        trials=len(own),
        eval_trials=len(trials) - len(own),
        outcomes=tuple(_outcome(own[OUTCOME_COLUMNS][has_outcome(own, outcome)], outcome) for outcome in OUTCOMES),
        classes=_classes(own),
        exceptions=_exceptions(own),
        without_exception=int(own["exception_type"].isna().sum()),
        phases={phase: distribution(own[phase]) for phase in PHASES},
        tasks=split_tasks(own),
        unscored_longer=ratio(
            mean_interval(_numbers(own.loc[is_unscored, "n_turns"])).value,
            mean_interval(_numbers(own.loc[~is_unscored, "n_turns"])).value,
        ),
        reason=None if len(own) else "no training trials",
    )


def distribution(values: pd.Series[Any]) -> Distribution:
    """Quantiles and mean of a column of numbers; null ones are counted apart."""
    known = _numbers(values)
    known = known[np.isfinite(known)]
    if not known.size:
        return Distribution(n=0, without=len(values), mean=None, p10=None, median=None, p90=None, maximum=None)
    p10, median, p90 = (float(q) for q in np.quantile(known, [0.1, 0.5, 0.9]))
    return Distribution(
        n=int(known.size),
        without=len(values) - int(known.size),
        mean=float(known.mean()),
        p10=p10,
        median=median,
        p90=p90,
        maximum=float(known.max()),
    )


def split_tasks(trials: pd.DataFrame) -> TaskSplit:
    """Always, never and sometimes solved tasks, over scored trials that name a task."""
    attempts, successes = attempts_by_task(trials, population=SCORED)
    always, never = int((successes == attempts).sum()), int((successes == 0).sum())
    rate = cluster_rate_interval(successes, attempts, resamples=BOOTSTRAPS, population="scored trials, tasks resampled")
    return TaskSplit(
        tasks=int(attempts.size),
        always=always,
        never=never,
        mixed=int(attempts.size) - always - never,
        solve_rate=rate,
        trials_per_task=float(attempts.mean()) if attempts.size else None,
        reason=None if attempts.size else "no scored trial names a task",
    )


def _numbers(values: pd.Series[Any]) -> FloatArray:
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def _outcome(trials: pd.DataFrame, outcome: str) -> OutcomeGroup:
    return OutcomeGroup(
        outcome=outcome,
        trials=len(trials),
        turns=distribution(trials["n_turns"]),
        output_tokens=distribution(trials["n_output_tokens"]),
        agent_seconds=distribution(trials["agent_execution_s"]),
    )


def _exceptions(trials: pd.DataFrame) -> tuple[ExceptionGroup, ...]:
    columns = ["exception_type", "exception_class", "outcome", "is_masked", "n_turns"]
    failed = trials[columns][trials["exception_type"].notna()]
    groups = [_exception(part, str(name), len(trials)) for name, part in failed.groupby("exception_type", sort=True)]
    return tuple(sorted(groups, key=lambda group: -group.trials))


def _exception(part: pd.DataFrame, name: str, total: int) -> ExceptionGroup:
    kind = part["exception_class"].iloc[0]
    return ExceptionGroup(
        exception_type=name,
        exception_class=None if pd.isna(kind) else str(kind),
        trials=len(part),
        share=wilson_interval(len(part), total, population="all training trials"),
        unscored=int((part["outcome"] == UNSCORED).sum()),
        solved=int((part["outcome"] == "solved").sum()),
        masked=int(part["is_masked"].astype(bool).sum()),
        turns=distribution(part["n_turns"]),
    )


def _classes(trials: pd.DataFrame) -> tuple[ExceptionClass, ...]:
    counts = trials["exception_class"].value_counts()
    ordered = sorted(((str(name), int(n)) for name, n in counts.items()), key=lambda item: (-item[1], item[0]))
    return tuple(
        ExceptionClass(
            exception_class=name, trials=n, share=wilson_interval(n, len(trials), population="all training trials")
        )
        for name, n in ordered
    )
