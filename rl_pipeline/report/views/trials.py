"""Trial tables in the published layout, with what each number leaves out beside it."""

from __future__ import annotations

from dataclasses import dataclass

from rl_pipeline.analysis.trial_tables import NamedTurns, RewardSummary, TrialTables, TurnCount
from rl_pipeline.report.formatting import ABSENT, count, fixed, percent, published_percent, thousands
from rl_pipeline.report.views.table import TableView, table


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsView:
    """The trial part of the published layout."""

    total: int
    evaluation_trials: int
    turns: TableView
    exceptions: TableView
    turns_by_exception: TableView
    turns_by_outcome: TableView
    mean_reward: str
    success_rate: str
    trials_with_reward: str
    solved: str
    unscored: str
    all_trials: str
    solved_of_all: str
    at_most: str


def trials_view(trials: TrialTables | None) -> TrialsView | None:
    """None when no trial was read."""
    if trials is None:
        return None
    rewards: RewardSummary = trials.reward_summary
    return TrialsView(
        total=trials.total,
        evaluation_trials=trials.evaluation_trials,
        turns=_turns(trials.turn_count),
        exceptions=table(
            "Exception Type | Class | Count | %",
            (
                (
                    row.name,
                    (row.exception_class or ABSENT).replace("_", " "),
                    count(row.count),
                    published_percent(row.share),
                )
                for row in trials.exception_distribution
            ),
            words=2,
        ),
        turns_by_exception=_named_turns("Exception Type", trials.turns_by_exception),
        turns_by_outcome=_named_turns("Outcome", trials.turns_by_outcome),
        mean_reward=fixed(rewards.mean_reward, 4),
        success_rate=published_percent(rewards.success_rate),
        trials_with_reward=count(rewards.trials_with_reward),
        solved=thousands(rewards.solved),
        unscored=thousands(rewards.unscored),
        all_trials=thousands(trials.total),
        solved_of_all=percent(rewards.solved_of_all),
        at_most=percent(rewards.at_most_solved_of_all),
    )


def _turns(turns: TurnCount) -> TableView:
    return table(
        "Metric | Value",
        (
            ("Mean", fixed(turns.mean, 1)),
            ("Median", fixed(turns.median, 1)),
            ("Std", fixed(turns.std, 1)),
            ("Min", count(turns.min)),
            ("Max", count(turns.max)),
            ("Count", count(turns.count)),
            ("Trials without a count", count(turns.without)),
        ),
    )


def _named_turns(title: str, rows: tuple[NamedTurns, ...]) -> TableView:
    return table(
        f"{title} | Mean Turns | Median Turns | Count | Without a Count",
        (
            (
                row.name,
                fixed(row.turns.mean, 1),
                fixed(row.turns.median, 1),
                count(row.turns.count),
                count(row.turns.without),
            )
            for row in rows
        ),
    )
