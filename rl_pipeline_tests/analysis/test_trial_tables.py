"""Trial tables say what they leave out."""

from __future__ import annotations

from rl_pipeline.analysis.trial_tables import TrialTables, trial_tables
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import frame_of


def trial(outcome: str, turns: int | None, exception: str | None = None, **columns: object) -> dict[str, object]:
    reward = {"solved": 1.0, "unsolved": 0.0}.get(outcome)
    kind = "infrastructure" if exception else None
    head = {"trial": "t", "path": "t", "outcome": outcome, "reward": reward, "n_turns": turns}
    return {**head, "exception_type": exception, "exception_class": kind, **columns}


def tables(*trials: dict[str, object]) -> TrialTables:
    made = trial_tables(frame_of(Trial, trials))
    assert made is not None
    return made


def test_a_type_without_any_turn_count_is_still_listed():
    made = tables(trial("solved", 4), trial("unscored", None, "AgentSetupTimeoutError"))

    assert [(row.name, row.turns.count, row.turns.without) for row in made.turns_by_exception] == [
        ("No exception", 1, 0),
        ("AgentSetupTimeoutError", 0, 1),
    ]
    assert made.turn_count.without == 1


def test_unscored_trials_are_an_outcome_of_their_own():
    made = tables(trial("solved", 2), trial("unsolved", 4), trial("unscored", 9))

    assert [(row.name, row.turns.mean) for row in made.turns_by_outcome] == [
        ("Success", 2.0),
        ("Failure", 4.0),
        ("Unscored", 9.0),
    ]


def test_the_success_rate_is_of_scored_trials_and_the_bounds_are_of_all():
    rewards = tables(
        trial("solved", 2), trial("unsolved", 2), trial("unscored", 2), trial("unscored", 2)
    ).reward_summary

    assert (rewards.success_rate, rewards.solved_of_all, rewards.at_most_solved_of_all) == (0.5, 0.25, 0.75)
    assert (rewards.trials_with_reward, rewards.unscored, rewards.mean_reward) == (2, 2, 0.5)


def test_exceptions_are_listed_by_frequency_with_class_and_share():
    made = tables(
        trial("solved", 2), trial("unscored", 1, "DaytonaError"), trial("solved", 3), trial("unscored", 2, "A")
    )

    assert [(row.name, row.exception_class, row.count, row.share) for row in made.exception_distribution] == [
        ("No exception", None, 2, 0.5),
        ("A", "infrastructure", 1, 0.25),
        ("DaytonaError", "infrastructure", 1, 0.25),
    ]


def test_trials_of_evaluations_are_counted_apart():
    made = tables(trial("solved", 2), trial("solved", 2, is_eval=True))

    assert (made.total, made.evaluation_trials) == (1, 1)


def test_without_a_training_trial_there_are_no_tables():
    assert trial_tables(frame_of(Trial, [])) is None
    assert trial_tables(frame_of(Trial, [trial("solved", 2, is_eval=True)])) is None


def test_trials_without_any_reward_have_no_rate():
    rewards = tables(trial("unscored", None)).reward_summary

    assert (rewards.success_rate, rewards.mean_reward, rewards.at_most_solved_of_all) == (None, None, 1.0)
