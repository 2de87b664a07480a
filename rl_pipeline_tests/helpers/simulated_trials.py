"""Trial files and batch lines of a simulated run, consistent with the groups its steps were drawn from."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd

from rl_pipeline.schema import (
    AGENT_LIMIT,
    CONTEXT,
    INFRASTRUCTURE,
    OTHER,
    SOLVED,
    UNSCORED,
    UNSOLVED,
    VERIFIER,
)
from rl_pipeline_tests.helpers.simulated_plan import BURST, Plan, Rng
from rl_pipeline_tests.helpers.simulated_steps import StepTruth

KINDS = (AGENT_LIMIT, CONTEXT, VERIFIER, INFRASTRUCTURE, OTHER)
NAMES = {
    AGENT_LIMIT: ("AgentTimeoutError",),
    CONTEXT: ("ContextLengthExceededError",),
    VERIFIER: ("RewardFileNotFoundError", "VerifierTimeoutError"),
    INFRASTRUCTURE: ("DaytonaError", "EnvironmentStartTimeoutError", "AgentSetupTimeoutError"),
    OTHER: ("RuntimeError",),
}
UNSCORED_KINDS = (VERIFIER, INFRASTRUCTURE)


def trials(plan: Plan, truths: list[StepTruth]) -> pd.DataFrame:
    """One row per sample of every trained step, and a few that trained nothing."""
    parts = [_trials_of_step(plan, truth) for truth in truths]
    table = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    table["trial"] = [f"{task}__{number:06d}" for number, task in enumerate(table["task"])]
    table["path"] = table["trial"]
    if not plan.has_clocks:
        table[["started_at", "finished_at"]] = pd.NaT
        table["job"], table["job_confidence"] = None, "none"
    return table


def _trials_of_step(plan: Plan, truth: StepTruth) -> dict[str, np.ndarray]:
    rng, count = plan.rng, plan.samples
    solved = (np.arange(plan.group_size) < truth.solved[:, None]).ravel()
    kinds = _kinds(plan, truth, count)
    unscored = np.isin(kinds, UNSCORED_KINDS) | ((kinds == CONTEXT) & (rng.random(count) < 0.5))
    # Failures fall on samples without reward, so that the mean of the step stays what was drawn.
    order = np.lexsort((rng.random(count), solved))
    kinds, unscored = _sorted_failures_first(kinds, unscored)
    exception, lost = np.full(count, None, dtype=object), np.zeros(count, dtype=bool)
    exception[order], lost[order] = kinds, unscored
    solved = solved & ~lost
    ends = _end_times(plan, truth, count)
    outcome = np.where(lost, UNSCORED, np.where(solved, SOLVED, UNSOLVED))
    tasks = np.repeat(truth.tasks, plan.group_size)
    return {
        "task": np.array([f"task-{number:05d}" for number in tasks], dtype=object),
        "started_at": ends - (rng.uniform(60, 900, count) * 1e6).astype("timedelta64[us]"),
        "finished_at": ends,
        "zone": np.full(count, "UTC", dtype=object),
        "n_turns": rng.integers(2, 30, count),
        "reward": np.where(lost, np.nan, solved.astype(float)),
        "outcome": outcome.astype(object),
        "exception_type": _names(rng, exception),
        "exception_class": exception,
        "job": np.full(count, truth.link.job, dtype=object),
        "job_confidence": np.full(count, "exact", dtype=object),
    }


def _names(rng: Rng, classes: np.ndarray) -> np.ndarray:
    picks = rng.integers(0, 6, classes.size)
    names = [
        None if kind is None else NAMES[kind][pick % len(NAMES[kind])]
        for kind, pick in zip(classes, picks, strict=True)
    ]
    return np.array(names, dtype=object)


def _kinds(plan: Plan, truth: StepTruth, count: int) -> np.ndarray:
    shares = plan.shares
    chances = np.array([shares.agent_timeout, shares.context, shares.verifier, shares.infrastructure, shares.other])
    if plan.scenario == BURST and truth.step == plan.trouble_at:
        chances[3] = 0.7
    picks = plan.rng.random(count)
    places = np.searchsorted(np.cumsum(chances), picks)
    return np.array([*KINDS, None], dtype=object)[places]


def _sorted_failures_first(kinds: np.ndarray, unscored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rank = np.where(unscored, 0, np.where([kind is not None for kind in kinds], 1, 2))
    order = np.argsort(rank, kind="stable")
    return kinds[order], unscored[order]


def _end_times(plan: Plan, truth: StepTruth, count: int) -> np.ndarray:
    """Rollouts end before the step they are trained in ends; in a burst, sandboxes fail within minutes."""
    span = (truth.ended_at - truth.started_at).total_seconds()
    if plan.scenario == BURST and truth.step == plan.trouble_at:
        span = min(span, 400.0)
    return moments(truth.started_at, plan.rng.uniform(0, span, count))


def moments(start: datetime, seconds: np.ndarray) -> np.ndarray:
    """Times so many seconds after a start, in microseconds."""
    return np.datetime64(start, "us") + (seconds * 1e6).astype("timedelta64[us]")


def rollout_batches(plan: Plan, truths: list[StepTruth], table: pd.DataFrame) -> pd.DataFrame:
    """One line per group, as the generator prints them."""
    size, groups = plan.group_size, len(table) // plan.group_size
    failed = table["exception_class"].notna().to_numpy().reshape(groups, size)
    lost = (table["outcome"] == UNSCORED).to_numpy().reshape(groups, size)
    names = table["exception_type"].to_numpy().reshape(groups, size)
    steps = np.repeat([truth.step for truth in truths], plan.groups)
    places = np.repeat([truth.place for truth in truths], plan.groups)
    return pd.DataFrame(
        {
            "job": np.repeat([truth.link.job for truth in truths], plan.groups),
            "line": 1000 + 400 * places + 1 + np.tile(np.arange(plan.groups), len(truths)),
            "logged_at": table["finished_at"].to_numpy().reshape(groups, size)[:, -1],
            "mode": "training",
            "successful": size - failed.sum(axis=1),
            "total": size,
            "failed_groups": failed.any(axis=1).astype(int),
            "masked": lost.sum(axis=1),
            "exceptions": [_breakdown(row) for row in names],
            "since_step_marker": steps,
            "repeat_count": 1,
        }
    )


def _breakdown(names: np.ndarray) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        if name is not None:
            found[str(name)] = found.get(str(name), 0) + 1
    return found


def shuffled(rng: Rng, table: pd.DataFrame) -> pd.DataFrame:
    """Trial folders come in no order."""
    return table.iloc[rng.permutation(len(table))].reset_index(drop=True)
