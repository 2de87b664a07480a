"""What starting and restarting cost: slow first steps, steps trained twice, a biased first reward.

The cost of a start is the excess of the link's first steps over the median of its settled ones. A fresh
start pays it too, so it is told apart from restarts: only these are avoidable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rl_pipeline.analysis.comparison import Difference, compare
from rl_pipeline.analysis.estimates import ratio
from rl_pipeline.analysis.links import FRESH, Chain
from rl_pipeline.analysis.series import REWARD, STEP_SECONDS, settled, sum_of, values_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCost:
    """First steps of one link.

    Attributes:
        link: place in the chain.
        job: its name.
        is_restart: whether it went on from a checkpoint.
        steps: its warm-up steps.
        excess_seconds: Σ (step − median of the settled steps); None when either is missing.
        median_seconds: of the settled steps.
        mean_reward: of the warm-up steps.
        reason: why the excess is missing.
    """

    link: int
    job: str
    is_restart: bool
    steps: int
    excess_seconds: float | None
    median_seconds: float | None
    mean_reward: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartCosts:
    """All starts of the chain.

    Attributes:
        starts: each link with steps.
        all_starts_seconds: excess over all of them; None when none is measurable.
        restarts_seconds: excess of restarts only; 0 without a restart.
        redone_seconds: step time of thrown-away steps; 0 without any.
        step_seconds: Σ step time of all rows.
        all_starts_share: all_starts ÷ step time.
        restarts_share: restarts ÷ step time.
        redone_share: redone ÷ step time.
        reward_bias: mean reward of warm-up steps against all others, every row.
        biased_links: links whose warm-up reward lies above the mean of all settled steps by more than one
            settled SD, of how many.
    """

    starts: tuple[StartCost, ...]
    all_starts_seconds: float | None
    restarts_seconds: float | None
    redone_seconds: float | None
    step_seconds: float | None
    all_starts_share: float | None
    restarts_share: float | None
    redone_share: float | None
    reward_bias: Difference
    biased_links: tuple[str, ...]


def restart_costs(rows: pd.DataFrame, chain: Chain) -> RestartCosts:
    """Costs over the rows of `all_rows`."""
    restarts = {link.index: link.start != FRESH for link in chain.links}
    starts = tuple(_start_cost(part, restarts) for _, part in rows.groupby("link", sort=True))
    everything = [s.excess_seconds for s in starts if s.excess_seconds is not None]
    avoidable = [s.excess_seconds for s in starts if s.excess_seconds is not None and s.is_restart]
    unknown = any(s.excess_seconds is None for s in starts if s.is_restart)
    total = sum_of(rows, STEP_SECONDS)
    redone = sum_of(rows[~rows["canonical"].astype(bool)], STEP_SECONDS)
    redone = redone if redone is not None or total is None else 0.0
    all_seconds = sum(everything) if everything else None
    restart_seconds = None if total is None or (unknown and not avoidable) else float(sum(avoidable))
    return RestartCosts(
        starts=starts,
        all_starts_seconds=all_seconds,
        restarts_seconds=restart_seconds,
        redone_seconds=redone,
        step_seconds=total,
        all_starts_share=ratio(all_seconds, total),
        restarts_share=ratio(restart_seconds, total),
        redone_share=ratio(redone, total),
        reward_bias=_reward_bias(rows),
        biased_links=_biased_links(rows, starts),
    )


def _start_cost(part: pd.DataFrame, restarts: dict[int, bool]) -> StartCost:
    link, warm = int(part["link"].iloc[0]), part["is_warm_up"].astype(bool)
    seconds, rewards = values_of(part, STEP_SECONDS), values_of(part, REWARD)
    first, rest = seconds[warm.to_numpy()], seconds[~warm.to_numpy()]
    first, rest = first[np.isfinite(first)], rest[np.isfinite(rest)]
    reward = rewards[warm.to_numpy() & np.isfinite(rewards)]
    measurable = first.size > 0 and rest.size > 0
    return StartCost(
        link=link,
        job=str(part["job"].iloc[0]),
        is_restart=restarts[link],
        steps=int(warm.sum()),
        excess_seconds=float((first - np.median(rest)).sum()) if measurable else None,
        median_seconds=float(np.median(rest)) if rest.size else None,
        mean_reward=float(reward.mean()) if reward.size else None,
        reason=None if measurable else "no step time in the first steps, or none after them",
    )


def _reward_bias(rows: pd.DataFrame) -> Difference:
    warm = rows[rows["is_warm_up"].astype(bool)]
    return compare(
        values_of(warm, REWARD),
        values_of(settled(rows), REWARD),
        names=("first steps of each link", "all others"),
        population="all steps in the logs",
    )


def _biased_links(rows: pd.DataFrame, starts: tuple[StartCost, ...]) -> tuple[str, ...]:
    others = values_of(settled(rows), REWARD)
    others = others[np.isfinite(others)]
    if others.size < 3:
        return ()
    limit = float(others.mean() + others.std(ddof=1))
    return tuple(s.job for s in starts if s.mean_reward is not None and s.mean_reward > limit)
