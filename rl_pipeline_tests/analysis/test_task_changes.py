"""Tasks learned and forgotten."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rl_pipeline.analysis.task_changes import task_changes
from rl_pipeline.schema import Trial
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.small_runs import frames_of, trial_rows

NOON = datetime(2026, 3, 1, 12, 0)


def _trials(thirds):
    """Trials of three thirds, each {task: (attempts, solved)}."""
    rows: list[Trial] = []
    for number, tasks in enumerate(thirds):
        for task, (attempts, solved) in tasks.items():
            for i in range(attempts):
                end = NOON + timedelta(hours=number, seconds=len(rows))
                outcome = "solved" if i < solved else "unsolved"
                rows.append(Trial(trial=f"{len(rows)}", task=task, path="", finished_at=end, outcome=outcome))
    return frame_of(Trial, rows)


def test_learned_and_forgotten_tasks_are_named():
    first, last = {"a": (4, 0), "b": (4, 4), "c": (4, 2)}, {"a": (4, 3), "b": (4, 0), "c": (4, 3)}

    changes = task_changes(_trials([first, first, last]))

    assert (changes.newly_solved, changes.no_longer_solved) == (("a",), ("b",))
    assert changes.net_gain == pytest.approx((0.75 - 1 + 0.25) / 3)
    assert [(c.task, c.first_rate, c.last_rate) for c in changes.changes] == [
        ("a", 0, 0.75),
        ("b", 1, 0),
        ("c", 0.5, 0.75),
    ]


def test_a_gain_held_by_few_tasks_is_concentrated():
    first = {f"t{i:02d}": (4, 2) for i in range(20)}
    last = first | {f"t{i:02d}": (4, 4) for i in range(5)} | {"t05": (4, 3)}

    changes = task_changes(_trials([first, first, last]))

    assert changes.concentration == pytest.approx(2.5 / 2.75)
    assert present(changes.paired_p) < 0.05
    assert present(changes.difference).a == "last third"


def test_tasks_with_few_attempts_in_a_third_do_not_count():
    first, last = {"a": (4, 0), "b": (2, 0)}, {"a": (4, 4), "b": (2, 2)}

    assert [c.task for c in task_changes(_trials([first, first, last])).changes] == ["a"]


@pytest.mark.parametrize(
    ("thirds", "reason"),
    [
        ([{}, {}, {}], "fewer than three scored trials with a task and an end time"),
        ([{"a": (1, 1)}] * 3, "no task has 4 scored attempts in the first and in the last third"),
    ],
)
def test_too_few_trials_are_not_measurable(thirds, reason):
    changes = task_changes(_trials(thirds))

    assert (changes.net_gain, changes.concentration, changes.reason) == (None, None, reason)


def test_trials_that_end_at_one_time_belong_to_a_third_by_their_names():
    rows = trial_rows([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], tasks=["a"] * 6, seconds_apart=0.0)
    for row, name in zip(rows, "cafbed", strict=True):
        row["trial"] = name

    change = task_changes(frames_of(trials=rows).trials, minimum_attempts=2).changes[0]

    assert (change.first_rate, change.last_rate) == (1.0, 0.0)
