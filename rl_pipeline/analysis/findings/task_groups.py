"""Groups of one prompt in trial files, where they can be told apart.

Trial files name the task, not the group. A task with exactly k trials is one group of k; a task with more is
several that cannot be separated. The groups found this way must agree with the logged pass@k, else the files
do not hold the groups that were trained (retries, copies, another population).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.trial_outcomes import counts_by_task
from rl_pipeline.wording import plural

ENOUGH_GROUPS = 50
ENOUGH_SHARE = 0.5  # of the trials must lie in such groups
AGREEMENT = 4.0  # standard errors of a share of groups


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroups:
    """Shares of groups by outcome, unscored as failed; `reason` says why they are not usable."""

    usable: bool
    groups: int
    group_size: int | None
    mixed: float
    all_fail: float
    all_solved: float
    reason: str


def task_groups(trials: pd.DataFrame, *, group_size: int | None, logged_pass: float | None) -> TaskGroups:
    """Groups among the training trials; `logged_pass` is the mean logged pass@k, when there is one."""
    by_task = counts_by_task(trials)
    if group_size is None or not by_task.trials.size:
        return _unusable("")
    groups = by_task.hits[by_task.trials == group_size]
    if len(groups) < ENOUGH_GROUPS or group_size * len(groups) < ENOUGH_SHARE * by_task.trials.sum():
        return _unusable(
            f"Trial files do not tell groups apart: {plural(len(groups), 'task')} of exactly {group_size} trials."
        )
    all_fail = float((groups == 0).mean())
    all_solved = float((groups == group_size).mean())
    if logged_pass is not None and not _agrees(1 - all_fail, logged_pass, len(groups)):
        return _unusable(
            f"Trial files by task give pass@{group_size} {1 - all_fail:.3f}, the log {logged_pass:.3f}: not the "
            "groups that were trained."
        )
    return TaskGroups(
        usable=True,
        groups=len(groups),
        group_size=group_size,
        mixed=1 - all_fail - all_solved,
        all_fail=all_fail,
        all_solved=all_solved,
        reason="",
    )


def _agrees(found: float, logged: float, groups: int) -> bool:
    """Within the sampling error of so many groups, and half a percent for resumed or dropped ones."""
    return abs(found - logged) <= AGREEMENT * math.sqrt(max(logged * (1 - logged), 1e-4) / groups) + 0.005


def _unusable(reason: str) -> TaskGroups:
    return TaskGroups(usable=False, groups=0, group_size=None, mixed=0.0, all_fail=0.0, all_solved=0.0, reason=reason)
