"""Outcomes of trials and their tasks as arrays: looked up once in columns of text, counted many times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from rl_pipeline.analysis.remembering import remembered
from rl_pipeline.schema import SOLVED

Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]


class Tasks(NamedTuple):
    """Names of all tasks in order, and of each trial the place of its own among them; −1 where it names none."""

    names: tuple[str, ...]
    places: npt.NDArray[np.intp]


class TaskCounts(NamedTuple):
    """Tasks in order of their names with some trials each, all of shape (tasks,)."""

    names: npt.NDArray[np.object_]
    trials: Counts
    hits: Counts


@remembered
def has_outcome(trials: pd.DataFrame, outcome: str) -> Flags:
    """Which of the trials have it, shape (trials,)."""
    return (trials["outcome"] == outcome).to_numpy(dtype=bool)


@remembered
def tasks_of(trials: pd.DataFrame) -> Tasks:
    """The tasks of trials of the table `trials`."""
    places, names = pd.factorize(trials["task"].to_numpy(dtype=object), sort=True)
    return Tasks(tuple(str(name) for name in names), places)


def counts_by_task(trials: pd.DataFrame, chosen: Flags | None = None, hits: Flags | None = None) -> TaskCounts:
    """Trials of each task, and those among them that hit.

    Args:
        trials: of the table `trials`; those without a task are left out.
        chosen: which of them count, shape (trials,); all when left out.
        hits: which of them hit; the solved ones when left out.
    """
    names, places = tasks_of(trials)
    counted = places >= 0 if chosen is None else chosen & (places >= 0)
    hits = has_outcome(trials, SOLVED) if hits is None else hits
    number = np.bincount(places[counted], minlength=len(names))
    hit = np.bincount(places[counted & hits], minlength=len(names))
    seen = number > 0
    return TaskCounts(np.array(names, dtype=object)[seen], number[seen], hit[seen])
