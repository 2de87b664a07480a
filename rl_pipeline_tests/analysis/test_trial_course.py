"""Trials over time: bins by the end of the trial, shares of all trials of the bin."""

from __future__ import annotations

from datetime import datetime, timedelta

from rl_pipeline.analysis.trial_course import MOST_BINS, NO_CLASS, trial_course
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.present import present

NOON = datetime(2026, 3, 1, 12, 0)


def trial(minutes: float | None, outcome: str = "solved", **columns):
    end = None if minutes is None else NOON + timedelta(minutes=minutes)
    name = f"t{minutes}{outcome}{columns}"
    return {
        "trial": name,
        "path": name,
        "outcome": outcome,
        "finished_at": end,
        "zone": "UTC",
        "rewards": {},
        **columns,
    }


def course_of(*trials):
    return trial_course(frame_of(Trial, trials))


def test_a_bin_tells_outcomes_and_the_trials_it_holds():
    course = present(course_of(trial(0.1), trial(0.2, "unsolved"), trial(0.3), trial(3)))

    assert course.minutes == 1
    assert [(round(60 * c.hours), c.kind, c.trials, c.of_trials) for c in course.outcomes] == [
        (0, "solved", 2, 3),
        (0, "unsolved", 1, 3),
        (3, "solved", 1, 1),
    ]
    assert course.outcomes[0].share == 2 / 3


def test_failures_are_shares_of_all_trials_the_most_frequent_class_first():
    failed = {"exception_type": "AgentTimeoutError", "exception_class": "agent_limit"}
    odd = {"exception_type": "Odd", "exception_class": None}
    course = present(course_of(trial(0), trial(0.1, "unscored", **odd), trial(0.2, **failed), trial(0.3, **failed)))

    assert [(c.kind, c.trials, c.of_trials) for c in course.failures] == [("agent_limit", 2, 4), (NO_CLASS, 1, 4)]


def test_trials_without_an_end_are_counted_and_evaluations_left_out():
    course = present(course_of(trial(0), trial(None), trial(5, is_eval=True)))

    assert course.without_time == 1
    assert len(course.outcomes) == 1


def test_the_number_of_bins_stays_small_whatever_the_span():
    course = present(course_of(*(trial(minutes) for minutes in range(0, 60 * 24 * 40, 97))))

    assert len({cell.hours for cell in course.outcomes}) <= MOST_BINS


def test_no_trial_with_an_end_gives_no_course():
    assert course_of(trial(None)) is None
    assert course_of() is None
