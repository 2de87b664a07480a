"""Which tasks the run learned, and which it forgot: the first third of the trials against the last.

Trials are ordered by their end; a third is a third of the scored training trials that have one. A task
counts when it has enough scored attempts in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.comparison import Difference, compare
from rl_pipeline.analysis.estimates import plain
from rl_pipeline.analysis.populations import training_trials
from rl_pipeline.analysis.rank_statistics import signed_rank
from rl_pipeline.analysis.trial_outcomes import Flags, counts_by_task, has_outcome, tasks_of
from rl_pipeline.schema import UNSCORED

LARGEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """One task: attempts and solve rate in the first and the last third."""

    task: str
    first_attempts: int
    last_attempts: int
    first_rate: float
    last_rate: float

    @property
    def gain(self) -> float:
        """Last rate − first rate."""
        return self.last_rate - self.first_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChanges:
    """Change over the run, task by task.

    Attributes:
        changes: by task name.
        newly_solved: never solved in the first third, solved at least once in the last.
        no_longer_solved: the reverse.
        net_gain: mean gain over tasks; None without tasks.
        paired_p: Wilcoxon signed-rank over tasks; None for fewer than six changed ones.
        concentration: share of the five largest gains in all positive gains; None without a positive one.
        difference: mean rates of the thirds (tasks as units).
        reason: why it is missing.
    """

    changes: tuple[TaskChange, ...]
    newly_solved: tuple[str, ...]
    no_longer_solved: tuple[str, ...]
    net_gain: float | None
    paired_p: float | None
    concentration: float | None
    difference: Difference | None
    reason: str | None = None


def task_changes(trials: pd.DataFrame, *, minimum_attempts: int = 4) -> TaskChanges:
    """First against last third of the scored training trials with an end time and a task."""
    own = training_trials(trials)
    known = ~has_outcome(own, UNSCORED) & (tasks_of(own).places >= 0) & own["finished_at"].notna().to_numpy()
    third = int(known.sum()) // 3
    if third == 0:
        return _nothing("fewer than three scored trials with a task and an end time")
    first, last = (_rates(own, part, minimum_attempts) for part in _thirds(own, known, third))
    both = first.add_suffix("_first").join(last.add_suffix("_last"), how="inner")
    if both.empty:
        return _nothing(f"no task has {minimum_attempts} scored attempts in the first and in the last third")
    changes = tuple(
        TaskChange(
            task=str(task),
            first_attempts=int(n_first),
            last_attempts=int(n_last),
            first_rate=float(won_first / n_first),
            last_rate=float(won_last / n_last),
        )
        for task, n_first, won_first, n_last, won_last in both.itertuples(name=None)
    )
    return _summary(changes)


def _summary(changes: tuple[TaskChange, ...]) -> TaskChanges:
    gains = np.array([change.gain for change in changes])
    positive = np.sort(gains[gains > 0])[::-1]
    moved = gains[gains != 0]
    return TaskChanges(
        changes=changes,
        newly_solved=tuple(c.task for c in changes if c.first_rate == 0 < c.last_rate),
        no_longer_solved=tuple(c.task for c in changes if c.last_rate == 0 < c.first_rate),
        net_gain=float(gains.mean()),
        paired_p=plain(signed_rank(moved)) if moved.size >= 6 else None,
        concentration=float(positive[:LARGEST].sum() / positive.sum()) if positive.size else None,
        difference=compare(
            [c.last_rate for c in changes],
            [c.first_rate for c in changes],
            names=("last third", "first third"),
            population="tasks with enough attempts in both thirds",
        ),
    )


def _thirds(trials: pd.DataFrame, known: Flags, third: int) -> tuple[Flags, Flags]:
    """Which trials ended first, and which last, among the known ones; at one time they go by name."""
    places = np.flatnonzero(known)
    times = trials["finished_at"].to_numpy()[places]
    order = np.argsort(times, kind="stable")
    for edge in (times[order[third - 1]], times[order[-third]]):
        same = np.flatnonzero(times[order] == edge)
        names = trials["trial"].to_numpy()[places[order[same]]]
        order[same] = order[same][np.argsort(names, kind="stable")]
    first, last = np.zeros(len(trials), dtype=bool), np.zeros(len(trials), dtype=bool)
    first[places[order[:third]]] = True
    last[places[order[-third:]]] = True
    return first, last


def _rates(trials: pd.DataFrame, part: Flags, minimum_attempts: int) -> pd.DataFrame:
    """Attempts and solved ones of the tasks with enough attempts in one part."""
    counts = counts_by_task(trials, part)
    rates = pd.DataFrame({"size": counts.trials, "sum": counts.hits}, index=pd.Index(counts.names, dtype=object))
    return rates[counts.trials >= minimum_attempts]


def _nothing(reason: str) -> TaskChanges:
    return TaskChanges(
        changes=(),
        newly_solved=(),
        no_longer_solved=(),
        net_gain=None,
        paired_p=None,
        concentration=None,
        difference=None,
        reason=reason,
    )
