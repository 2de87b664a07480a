"""The published tables of trials: turns, exceptions, outcomes, rewards.

Trials of evaluations are left out (they did not train anything) and counted apart. Beside each
published number stands what it leaves out: trials without a turn count, trials without a reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from rl_pipeline.analysis.numbers import maximum, mean, minimum, sample_std, whole
from rl_pipeline.analysis.populations import training_trials
from rl_pipeline.analysis.trial_outcomes import has_outcome
from rl_pipeline.schema import SOLVED, UNSCORED, UNSOLVED

NO_EXCEPTION = "No exception"
# Published names of the outcomes; the third is not in the published table.
OUTCOME_NAMES = {SOLVED: "Success", UNSOLVED: "Failure", UNSCORED: "Unscored"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCount:
    """Model turns over the trials that have a count.

    Attributes:
        mean: turns.
        median: turns.
        std: sample standard deviation, turns.
        min: turns.
        max: turns.
        count: trials with a turn count.
        without: trials without one.
    """

    mean: float | None
    median: float | None
    std: float | None
    min: int | None
    max: int | None
    count: int
    without: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTurns:
    """Turns of one group of trials.

    Attributes:
        name: exception type or outcome.
        turns: statistics of the group.
    """

    name: str
    turns: TurnCount


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionCount:
    """Trials that ended with one type of exception.

    Attributes:
        name: exception type, or "No exception".
        exception_class: class of the type; None without exception.
        count: trials.
        share: of all trials, fraction.
    """

    name: str
    exception_class: str | None
    count: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSummary:
    """Rewards of scored trials, and the bounds that unscored ones leave open.

    Attributes:
        trials_with_reward: scored trials.
        unscored: trials without a reward.
        mean_reward: over scored trials.
        success_rate: solved of scored trials, fraction.
        solved: trials with a reward above 0.
        solved_of_all: solved of all trials (every unscored trial a failure), fraction.
        at_most_solved_of_all: the same with every unscored trial a success, fraction.
    """

    trials_with_reward: int
    unscored: int
    mean_reward: float | None
    success_rate: float | None
    solved: int
    solved_of_all: float
    at_most_solved_of_all: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTables:
    """The trial part of the published report.

    Attributes:
        total: trials read, evaluations apart.
        evaluation_trials: trials of evaluation sessions, in no table here.
        turn_count: over all trials.
        exception_distribution: most frequent first.
        turns_by_exception: most turns first; types without any count last.
        turns_by_outcome: success, failure, unscored.
        reward_summary: rewards.
    """

    total: int
    evaluation_trials: int
    turn_count: TurnCount
    exception_distribution: tuple[ExceptionCount, ...]
    turns_by_exception: tuple[NamedTurns, ...]
    turns_by_outcome: tuple[NamedTurns, ...]
    reward_summary: RewardSummary


def trial_tables(all_trials: pd.DataFrame) -> TrialTables | None:
    """Tables over the `trials` frame; None without a training trial."""
    trials = training_trials(all_trials)
    if trials.empty:
        return None
    return TrialTables(
        total=len(trials),
        evaluation_trials=len(all_trials) - len(trials),
        turn_count=_turn_count(trials["n_turns"]),
        exception_distribution=_exception_distribution(trials),
        turns_by_exception=_turns_by_exception(trials),
        turns_by_outcome=tuple(
            NamedTurns(name=name, turns=_turn_count(trials["n_turns"][has_outcome(trials, outcome)]))
            for outcome, name in OUTCOME_NAMES.items()
            if has_outcome(trials, outcome).any()
        ),
        reward_summary=_reward_summary(trials),
    )


def _turn_count(of_trials: pd.Series[Any]) -> TurnCount:
    turns = of_trials.dropna().astype("float64")
    return TurnCount(
        mean=mean(turns),
        median=float(turns.median()) if len(turns) else None,
        std=sample_std(turns),
        min=whole(minimum(turns)),
        max=whole(maximum(turns)),
        count=len(turns),
        without=len(of_trials) - len(turns),
    )


def _exception_distribution(trials: pd.DataFrame) -> tuple[ExceptionCount, ...]:
    names = trials["exception_type"].where(trials["exception_type"].notna(), NO_EXCEPTION)
    classes = dict(zip(trials["exception_type"], trials["exception_class"], strict=True))
    counts = [
        ExceptionCount(
            name=str(name), exception_class=classes.get(name) or None, count=int(count), share=int(count) / len(trials)
        )
        for name, count in names.value_counts().items()
    ]
    return tuple(sorted(counts, key=lambda row: (-row.count, row.name)))


def _turns_by_exception(trials: pd.DataFrame) -> tuple[NamedTurns, ...]:
    names = trials["exception_type"].where(trials["exception_type"].notna(), NO_EXCEPTION)
    rows = [NamedTurns(name=str(name), turns=_turn_count(group)) for name, group in trials["n_turns"].groupby(names)]
    return tuple(sorted(rows, key=lambda row: (row.turns.mean is None, -(row.turns.mean or 0.0), row.name)))


def _reward_summary(trials: pd.DataFrame) -> RewardSummary:
    rewards = trials["reward"].dropna().astype("float64")
    scored = len(trials) - int(has_outcome(trials, UNSCORED).sum())
    solved = int(has_outcome(trials, SOLVED).sum())
    return RewardSummary(
        trials_with_reward=scored,
        unscored=len(trials) - scored,
        mean_reward=mean(rewards),
        success_rate=solved / scored if scored else None,
        solved=solved,
        solved_of_all=solved / len(trials),
        at_most_solved_of_all=(solved + len(trials) - scored) / len(trials),
    )
