"""What the trials did."""

from __future__ import annotations

import math

import pytest

from rl_pipeline.analysis.trial_analysis import analyse_trials, distribution, split_tasks
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.reference_frames import reference_frames


@pytest.fixture(scope="module")
def published():
    return analyse_trials(reference_frames().trials)


def _trial(name, outcome, task="a", **columns):
    return Trial(trial=name, task=task, path=name, outcome=outcome, **columns)


def test_the_outcomes_of_the_published_run_have_three_values(published):
    found = {group.outcome: (group.trials, group.turns.without) for group in published.outcomes}

    # source: published report, trials by outcome; 62 trials have no turn count
    assert found == {"solved": (16_178, 0), "unsolved": (20_820, 0), "unscored": (7528, 62)}
    means = [group.turns.mean for group in published.outcomes]
    assert means[:2] == pytest.approx([9.8, 11.6], abs=0.05)
    assert published.unscored_longer is not None
    assert published.unscored_longer > 1.3


def test_the_exception_classes_of_the_published_run_come_out(published):
    found = {one.exception_class: (one.trials, round(100 * (one.share.value or 0), 2)) for one in published.classes}

    # source: analysis of the published run: agent limits 5,939 with context, verifier 2,924, infrastructure 476
    assert found == {
        "context": (3811, 8.56),
        "agent_limit": (2128, 4.78),
        "verifier": (2924, 6.57),
        "infrastructure": (476, 1.07),
    }
    assert published.without_exception == 35_187


def test_context_overflows_of_the_published_run_are_long_and_unscored(published):
    (context,) = [one for one in published.exceptions if one.exception_type == "ContextLengthExceededError"]

    # source: published report, turns by exception
    assert (context.trials, context.unscored, context.solved) == (3811, 3811, 0)
    assert context.turns.mean == pytest.approx(16.4, abs=0.05)


def test_exceptions_without_turns_are_shown_without_them(published):
    (setup,) = [one for one in published.exceptions if one.exception_type == "AgentSetupTimeoutError"]

    assert (setup.trials, setup.turns.n, setup.turns.without, setup.turns.mean) == (44, 0, 44, None)


def test_a_distribution_counts_what_is_missing():
    trials = frame_of(Trial, [_trial("a", "solved", n_turns=n) for n in (1, 2, 3, None)])

    found = distribution(trials["n_turns"])

    assert (found.n, found.without, found.mean, found.median, found.maximum) == (3, 1, 2, 2, 3)


def test_tasks_are_always_never_or_sometimes_solved():
    outcomes = {"a": ["solved"] * 4, "b": ["unsolved"] * 3, "c": ["solved", "unsolved", "unscored"], "d": ["unscored"]}
    trials = frame_of(Trial, [_trial(f"{t}{i}", o, t) for t, many in outcomes.items() for i, o in enumerate(many)])

    split = split_tasks(trials)

    assert (split.tasks, split.always, split.never, split.mixed, split.trials_per_task) == (3, 1, 1, 1, 3)
    assert split.solve_rate.value == pytest.approx(5 / 9)


def test_evaluation_trials_are_left_out_and_counted():
    trials = frame_of(Trial, [_trial("a", "solved"), _trial("b", "solved", is_eval=True)])

    assert (analyse_trials(trials).trials, analyse_trials(trials).eval_trials) == (1, 1)


def test_phases_keep_their_missing_ends_apart():
    trials = frame_of(Trial, [_trial("a", "solved", verifier_s=3.0), _trial("b", "solved", verifier_s=math.nan)])

    assert (analyse_trials(trials).phases["verifier_s"].n, analyse_trials(trials).phases["verifier_s"].without) == (
        1,
        1,
    )


def test_without_trials_there_is_a_reason():
    found = analyse_trials(frame_of(Trial, []))

    assert (found.trials, found.reason, found.classes, found.tasks.reason) == (
        0,
        "no training trials",
        (),
        "no scored trial names a task",
    )
    assert found.unscored_longer is None
