"""Repeated prompts in a batch, seen in the denominator of pass@k.

pass@k is the share of *distinct* prompts with a success, so with G groups it is a multiple of 1/G. A value
that is not, but is a multiple of 1/n for a smaller n, shows that only n prompts were distinct: after a
resume the buffer holds prompts that the data loader hands out again. The console prints four decimals,
so several n may fit; the largest gives the fewest repeats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.series import first_logged, metric_names, values_of

PASS_NAME = re.compile(r"^reward/avg_pass_at_(\d{1,4})$")
GROUPS = ("async/effective_batch_groups",)
SAMPLES = ("async/effective_batch_samples", "generate/batch_num_seq")
PRINTED_ERROR = 0.5e-4  # four decimals
EXACT_ERROR = 1e-9
SMALLEST_SHARE = 0.5  # denominators below this share of the groups explain anything and are not tried


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPrompts:
    """One step whose pass@k does not fit its number of groups.

    Attributes:
        global_step: which.
        job: of the row.
        pass_at_k: as logged.
        groups: prompts that the batch should hold.
        fits: (solved, distinct) pairs that give the value, largest denominator first.
        repeats_at_least: groups − the largest fitting denominator.
        first_after_start: whether it is the first step of its link.
    """

    global_step: int
    job: str
    pass_at_k: float
    groups: int
    fits: tuple[tuple[int, int], ...]
    repeats_at_least: int
    first_after_start: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCheck:
    """All rows checked.

    Attributes:
        metric: the pass@k that was read; None when none is logged.
        checked: rows with pass@k and a number of groups.
        fitting: rows that fit their groups.
        replayed: rows that fit a smaller number only.
        unexplained: steps that fit no number tried.
        whole_rewards: rows whose reward × samples is an integer within print precision; None if not checked.
        reason: why nothing was checked.
    """

    metric: str | None
    checked: int
    fitting: int
    replayed: tuple[ReplayedPrompts, ...]
    unexplained: tuple[int, ...]
    whole_rewards: int | None
    reason: str | None = None


def pass_metric(rows: pd.DataFrame) -> tuple[str, int] | None:
    """Name and k of the logged pass@k with the largest k."""
    names = ((name, PASS_NAME.match(name)) for name in metric_names(rows))
    found = [(int(match.group(1)), name) for name, match in names if match]
    return (max(found)[1], max(found)[0]) if found else None


def check_replays(rows: pd.DataFrame) -> ReplayCheck:
    """Check every row of `all_rows`."""
    named = pass_metric(rows)
    groups = _groups(rows, named[1] if named else 1)
    if named is None or not np.isfinite(groups).any():
        reason = "no pass@k is logged" if named is None else "the number of groups is not logged"
        return ReplayCheck(
            metric=None, checked=0, fitting=0, replayed=(), unexplained=(), whole_rewards=None, reason=reason
        )
    values = values_of(rows, named[0])
    usable = np.flatnonzero(np.isfinite(values) & np.isfinite(groups) & (groups >= 2))
    replayed, unexplained, fitting = [], [], 0
    for i in usable:
        value, count = float(values[i]), round(float(groups[i]))
        if _fits(value, count):
            fitting += 1
            continue
        fits = tuple(_fitting(value, count))
        if fits:
            replayed.append(_replay(rows, int(i), value, count, fits))
        else:
            unexplained.append(int(rows["global_step"].iloc[i]))
    return ReplayCheck(
        metric=named[0],
        checked=len(usable),
        fitting=fitting,
        replayed=tuple(replayed),
        unexplained=tuple(unexplained),
        whole_rewards=_whole_rewards(rows),
    )


def _groups(rows: pd.DataFrame, k: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    name = first_logged(rows, GROUPS)
    if name:
        return values_of(rows, name)
    samples = first_logged(rows, SAMPLES)
    return values_of(rows, samples) / k if samples else np.full(len(rows), np.nan)


def _error(value: float) -> float:
    """Rounding of the value: four decimals unless it shows more digits."""
    return PRINTED_ERROR if abs(value * 1e4 - round(value * 1e4)) < 1e-6 else EXACT_ERROR


def _fits(value: float, groups: int) -> bool:
    solved = value * groups
    return abs(solved - round(solved)) <= groups * _error(value) * 1.02


def _fitting(value: float, groups: int) -> list[tuple[int, int]]:
    smallest = max(2, round(groups * SMALLEST_SHARE))
    return [(round(value * n), n) for n in range(groups - 1, smallest - 1, -1) if _fits(value, n)]


def _replay(
    rows: pd.DataFrame, i: int, value: float, groups: int, fits: tuple[tuple[int, int], ...]
) -> ReplayedPrompts:
    return ReplayedPrompts(
        global_step=int(rows["global_step"].iloc[i]),
        job=str(rows["job"].iloc[i]),
        pass_at_k=value,
        groups=groups,
        fits=fits,
        repeats_at_least=groups - fits[0][1],
        first_after_start=int(rows["position"].iloc[i]) == 0,
    )


def _whole_rewards(rows: pd.DataFrame) -> int | None:
    samples = first_logged(rows, SAMPLES)
    if samples is None:
        return None
    rewards, counts = values_of(rows, "reward/avg_raw_reward"), values_of(rows, samples)
    pairs = [
        (float(r), round(float(n))) for r, n in zip(rewards, counts, strict=True) if np.isfinite(r) and np.isfinite(n)
    ]
    return sum(_fits(reward, count) for reward, count in pairs)
