"""What one simulated run is: its size, its habits, and what is wrong with it.

Everything random of a run comes from one seeded generator. The habits of a healthy run are drawn from what
public SkyRL runs look like: noisy, autocorrelated rewards that really rise, entropy that drifts, heavy-tailed
gradient norms, slow first steps after each start, a few stragglers, saves, failed trials of every class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np

HEALTHY_ASYNC, HEALTHY_SYNC, TOO_SHORT = "healthy async", "healthy sync", "too short"
COLLAPSE, ALL_ZERO, SPIKE, PLATEAU = "collapse", "all-zero reward", "gradient spike", "no learning"
STARVATION, THRASH, KV_PRESSURE = "starvation", "thrash", "KV pressure"
LEAK, STALL, GROWING_WAIT = "memory leak", "stall", "growing wait"
BURST, STEADY, FAULTS, OVERFLOW = "infrastructure burst", "infrastructure steady", "verifier faults", "context overflow"
HEALTHY = (HEALTHY_ASYNC, HEALTHY_SYNC)
SCENARIOS = (
    COLLAPSE, ALL_ZERO, SPIKE, PLATEAU, STARVATION, THRASH, KV_PRESSURE, LEAK, STALL, GROWING_WAIT, BURST, STEADY,
    FAULTS, OVERFLOW, TOO_SHORT, *HEALTHY,
)  # fmt: skip

Rng = np.random.Generator


@dataclass(frozen=True)
class Shares:
    """How often a trial ends in each way, fractions of all trials."""

    agent_timeout: float
    context: float
    verifier: float
    infrastructure: float
    other: float


@dataclass(frozen=True)
class Link:
    """One job: the steps it trains, and when."""

    job: str
    first_step: int
    last_step: int

    @property
    def steps(self) -> range:
        return range(self.first_step, self.last_step + 1)


@dataclass(frozen=True)
class Plan:
    """Truth about a run. Rewards are shares of solved samples, times are seconds; `difficulty` ranks the tasks."""

    scenario: str
    rng: Rng
    is_async: bool
    links: tuple[Link, ...]
    groups: int
    group_size: int
    solve_rate: np.ndarray
    prompt_correlation: float
    shares: Shares
    training_seconds: float
    wait_share: float
    started_at: datetime
    has_clocks: bool
    is_mirrored: bool
    has_kl: bool
    updates: int
    gradient_scale: float
    entropy_start: float
    entropy_drift: float
    trouble_at: int
    difficulty: np.ndarray
    notes: dict[str, float] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        return self.groups * self.group_size

    @property
    def last_step(self) -> int:
        return self.links[-1].last_step


def plan(scenario: str, seed: int) -> Plan:
    """Draw the truth of one run."""
    rng = np.random.default_rng([seed, SCENARIOS.index(scenario)])
    needs_async = (STARVATION, GROWING_WAIT, HEALTHY_ASYNC)
    is_async = scenario in needs_async or (scenario != HEALTHY_SYNC and rng.random() < 0.7)
    steps = int(rng.integers(1, 4)) if scenario == TOO_SHORT else int(rng.integers(45, 130))
    links = _links(rng, steps, longest=steps if scenario in (LEAK, GROWING_WAIT) else None)
    return Plan(
        scenario=scenario,
        rng=rng,
        is_async=is_async,
        links=links,
        groups=int(rng.choice([16, 32])),
        group_size=int(rng.choice([4, 8])),
        solve_rate=_solve_rate(rng, scenario, steps),
        prompt_correlation=float(rng.uniform(0.15, 0.45)),
        shares=_shares(rng, scenario),
        training_seconds=float(rng.uniform(60, 600)),
        wait_share=float(rng.uniform(0.5, 0.8) if scenario == STARVATION else rng.uniform(0.01, 0.13)),
        started_at=datetime(2026, 3, 1) + timedelta(hours=float(rng.uniform(0, 4000))),
        has_clocks=scenario in (STALL, BURST, STEADY) or rng.random() < 0.85,
        is_mirrored=rng.random() < 0.5,
        has_kl=rng.random() < 0.5,
        updates=int(rng.choice([1, 1, 4])),
        gradient_scale=float(10 ** rng.choice([-2.0, -1.0, -0.3, 0.0])),
        entropy_start=float(rng.uniform(0.1, 0.8)),
        entropy_drift=float(rng.uniform(0.45, 1.15)),
        trouble_at=int(steps * rng.uniform(0.4, 0.6)),
        difficulty=rng.random(int(rng.choice([200, 1000, 5000]))),
    )


def _links(rng: Rng, steps: int, longest: int | None) -> tuple[Link, ...]:
    count = 1 if longest or steps < 20 else int(rng.integers(1, 4))
    bounds = [0, *sorted(rng.choice(np.arange(12, steps - 11), size=count - 1, replace=False).tolist()), steps]
    bounds = [0, *(bound for before, bound in pairwise(bounds) if bound - before >= 8 or bound == steps)]
    number = int(rng.integers(100_000, 999_000))
    links = []
    for place, (before, last) in enumerate(pairwise(bounds)):
        redone = int(rng.integers(0, 3)) if place else 0
        links.append(Link(job=f"job_{number + place}", first_step=before + 1 - redone, last_step=last))
    return tuple(links)


def _solve_rate(rng: Rng, scenario: str, steps: int) -> np.ndarray:
    """True share solved by step: a rise that flattens, and autocorrelated difficulty of the data (on the logit)."""
    start = rng.uniform(0.2, 0.45)
    gain = 0.0 if scenario == PLATEAU else rng.uniform(0.18, 0.35)
    course = start + gain * (1 - np.exp(-np.arange(steps) / (steps * rng.uniform(0.4, 0.9)))) / (1 - np.exp(-1.0))
    noise, difficulty = rng.normal(0, rng.uniform(0.05, 0.12), steps), np.zeros(steps)
    for step in range(1, steps):
        difficulty[step] = rng.uniform(0.2, 0.5) * difficulty[step - 1] + noise[step]
    course = np.clip(course, 0.02, 0.9)
    rate = 1 / (1 + np.exp(-(np.log(course / (1 - course)) + difficulty)))
    return np.zeros(steps) if scenario == ALL_ZERO else rate


def _shares(rng: Rng, scenario: str) -> Shares:
    return Shares(
        agent_timeout=rng.uniform(0.005, 0.07),
        context=rng.uniform(0.09, 0.25) if scenario == OVERFLOW else rng.uniform(0.0, 0.02),
        verifier=rng.uniform(0.04, 0.2) if scenario == FAULTS else rng.uniform(0.0, 0.010),
        infrastructure=rng.uniform(0.04, 0.12) if scenario == STEADY else rng.uniform(0.0005, 0.008),
        other=rng.uniform(0.0, 0.004),
    )
