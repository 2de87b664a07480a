"""Every pair of experiments: whether they can be compared, and the difference where it means something.

The gate is asked for all pairs. Differences are resampled, which takes time, so they are made for the
pairs of the `MOST_COMPARED` experiments with the latest logs; the page says where one is missing for that reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from rl_pipeline.analysis.experiment_card import profile_of
from rl_pipeline.analysis.experiment_comparison import (
    COMMON_TASKS,
    Comparability,
    comparability,
    compare_experiments,
)
from rl_pipeline.report.formatting import ABSENT, p_equals, signed, typographic
from rl_pipeline.report.page.experiments import Listed
from rl_pipeline.wording import plural

MOST_COMPARED = 10
MOST_GATED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PairView:
    """Two experiments.

    Attributes:
        a: key of the first.
        b: key of the second.
        comparable: the gate.
        reasons: against it.
        remarks: what is not known.
        reward: difference of the rewards a − b with its interval, as text; — when refused or not made.
        solve_rate: the same of the solve rates over common tasks.
        over: what it was computed over, or why it was not.
    """

    a: str
    b: str
    comparable: bool
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]
    reward: str
    solve_rate: str
    over: str


def pairs_of(entries: Sequence[Listed]) -> tuple[PairView, ...]:
    """All pairs, in the order of the entries; of the latest experiments only when there are very many."""
    latest = sorted(entries, key=_last_seen, reverse=True)
    compared = {entry.key for entry in latest[:MOST_COMPARED]}
    gated = {entry.key for entry in latest[:MOST_GATED]}
    return tuple(
        _pair(a, b, with_difference={a.key, b.key} <= compared)
        for a, b in combinations([entry for entry in entries if entry.key in gated], 2)
    )


def _last_seen(entry: Listed) -> tuple[str, str]:
    last = entry.card.last_logged_at
    return (last.isoformat() if last else "", entry.key)


def _pair(a: Listed, b: Listed, *, with_difference: bool) -> PairView:
    first = profile_of(a.experiment, a.card, a.populations)
    second = profile_of(b.experiment, b.card, b.populations)
    if not with_difference:
        return _refused(a, b, comparability(first, second), f"made for the {MOST_COMPARED} latest experiments only")
    found = compare_experiments(first, second)
    if not found.comparability.comparable or found.reward is None:
        return _refused(a, b, found.comparability, "refused")
    mean = found.reward.mean_difference
    reward = f"{signed(mean.value, 3)} [{signed(mean.lower, 3)}, {signed(mean.upper, 3)}]"
    steps = f"steps {found.common_steps[0]}–{found.common_steps[1]}" if found.common_steps else ""
    rate, tasks = found.solve_rate, plural(found.common_tasks, "common task")
    points = ABSENT
    if rate is None and found.common_tasks < COMMON_TASKS:
        tasks += f", solve rates from {COMMON_TASKS} on"
    if rate is not None and rate.value is not None:
        bounds = f"[{_points(rate.lower)}, {_points(rate.upper)}]"
        p = "" if found.solve_rate_p is None else f", {p_equals(found.solve_rate_p)} (paired t)"
        points = f"{_points(rate.value)} {bounds} points{p}"
    return PairView(
        a=a.key,
        b=b.key,
        comparable=True,
        reasons=(),
        remarks=found.comparability.remarks,
        reward=typographic(reward),
        solve_rate=typographic(points),
        over=f"{steps}; {tasks}",
    )


def _refused(a: Listed, b: Listed, gate: Comparability, why: str) -> PairView:
    return PairView(
        a=a.key,
        b=b.key,
        comparable=gate.comparable,
        reasons=gate.reasons,
        remarks=gate.remarks,
        reward=ABSENT,
        solve_rate=ABSENT,
        over=why if gate.comparable else "refused",
    )


def _points(fraction: float | None) -> str:
    return signed(None if fraction is None else fraction * 100, 1)
