"""Outcomes and tasks of trials, counted."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rl_pipeline.analysis.trial_outcomes import counts_by_task, has_outcome, tasks_of
from rl_pipeline.schema import SOLVED, UNSCORED, UNSOLVED

TRIALS = pd.DataFrame(
    {
        "task": pd.Series(["b", "a", None, "b", "c", "b"], dtype=object),
        "outcome": pd.Series([SOLVED, UNSOLVED, SOLVED, UNSCORED, UNSCORED, SOLVED], dtype=object),
    }
)


def as_rows(counts) -> list[tuple[str, int, int]]:
    return list(zip(counts.names.tolist(), counts.trials.tolist(), counts.hits.tolist(), strict=True))


def test_tasks_stand_in_order_and_a_trial_without_one_has_no_place():
    names, places = tasks_of(TRIALS)

    assert names == ("a", "b", "c")
    assert places.tolist() == [1, 0, -1, 1, 2, 1]


def test_solved_ones_are_counted_among_the_trials_of_each_task():
    assert as_rows(counts_by_task(TRIALS)) == [("a", 1, 0), ("b", 3, 2), ("c", 1, 0)]


def test_a_task_none_of_whose_trials_counts_is_left_out():
    scored = ~has_outcome(TRIALS, UNSCORED)

    assert as_rows(counts_by_task(TRIALS, scored)) == [("a", 1, 0), ("b", 2, 2)]


def test_other_things_than_a_solution_can_be_counted():
    assert as_rows(counts_by_task(TRIALS, hits=has_outcome(TRIALS, UNSCORED)))[1:] == [("b", 3, 1), ("c", 1, 1)]


def test_no_trials_give_no_tasks():
    nothing = counts_by_task(TRIALS.iloc[:0])

    assert as_rows(nothing) == []
    assert nothing.trials.dtype == np.int64
