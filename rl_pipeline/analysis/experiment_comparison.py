"""Two experiments against each other, or the reasons why not.

Reward curves of two runs can be compared only where they measure the same thing: the same samples per
prompt, the same handling of unscored samples, the same kind of reward, the same tasks where they are
known. `comparability` looks for reasons against it; `compare_experiments` refuses when it finds one.

Where both runs know their tasks, tasks are the units (paired); else blocks of successive steps over the
common range of steps are resampled, since steps of one run depend on each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from rl_pipeline.analysis.comparison import Difference, compare
from rl_pipeline.analysis.estimates import DEFAULT_LEVEL, DEFAULT_SEED, Estimate, FloatArray, not_measurable, plain
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.pass_at_k import SCORED
from rl_pipeline.analysis.populations import Populations, find_populations, training_trials
from rl_pipeline.analysis.replayed_prompts import pass_metric
from rl_pipeline.analysis.series import REWARD, all_rows, canonical_of, settled, steps_of, values_of
from rl_pipeline.analysis.trial_outcomes import counts_by_task, has_outcome
from rl_pipeline.schema import UNSCORED

MASKED_POINTS = 0.05  # difference of masked shares from which rewards mean different things
TASK_OVERLAP = 0.5  # share of the smaller task set that must be common
COMMON_STEPS = 10  # settled steps both runs must have
COMMON_TASKS = 20  # tasks with scored trials in both from which tasks are the units
BLOCK = 5  # steps resampled together
RESAMPLES = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentProfile:
    """What decides whether an experiment can be compared, and its series.

    Attributes:
        experiment: name.
        rows: canonical steps.
        populations: of its rewards.
        group_size: samples per prompt, from the pass@k it logs; None when unknown.
        tasks: (attempts, solved) of scored training trials by task.
    """

    experiment: str
    rows: pd.DataFrame
    populations: Populations
    group_size: int | None
    tasks: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparability:
    """Whether two experiments can be compared: reasons against, and remarks that do not forbid it."""

    comparable: bool
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentComparison:
    """Experiment a against b.

    Attributes:
        a: name.
        b: name.
        comparability: the gate.
        reward: mean training reward over the common settled steps, block bootstrap; None when refused.
        solve_rate: mean task solve rate over common tasks, tasks as pairs; None when refused or unknown.
        solve_rate_p: of a paired t over common tasks, as the interval of `solve_rate`; None when no gain differs.
        common_steps: first and last common settled step.
        common_tasks: tasks with scored trials in both.
    """

    a: str
    b: str
    comparability: Comparability
    reward: Difference | None
    solve_rate: Estimate | None
    solve_rate_p: float | None
    common_steps: tuple[int, int] | None
    common_tasks: int


def profile(frames: ExperimentFrames, rows: pd.DataFrame | None = None) -> ExperimentProfile:
    """Read off what a comparison needs; `rows` (of `all_rows`) only saves computing them again."""
    rows = all_rows(frames) if rows is None else rows
    canonical = canonical_of(rows)
    named = pass_metric(canonical)
    return ExperimentProfile(
        experiment=frames.experiment,
        rows=canonical,
        populations=find_populations(frames, rows),
        group_size=named[1] if named else None,
        tasks=_tasks(frames.trials),
    )


def comparability(a: ExperimentProfile, b: ExperimentProfile) -> Comparability:
    """Reasons against comparing the two."""
    reasons, remarks = [], []
    if a.group_size != b.group_size and a.group_size and b.group_size:
        reasons.append(f"{a.group_size} samples per prompt against {b.group_size}")
    masked = _masked(a), _masked(b)
    if masked[0] is not None and masked[1] is not None and abs(masked[0] - masked[1]) > MASKED_POINTS:
        reasons.append(
            f"unscored samples count as 0, and their share differs: {masked[0] * 100:.1f} % against "
            f"{masked[1] * 100:.1f} %"
        )
    credit = a.populations.partial_credit, b.populations.partial_credit
    if None not in credit and credit[0] != credit[1]:
        reasons.append("one gives partial credit, the other 0 or 1")
    common, smaller = len(set(a.tasks) & set(b.tasks)), min(len(a.tasks), len(b.tasks))
    if smaller and common < TASK_OVERLAP * smaller:
        reasons.append(f"only {common} of {smaller:,} tasks are common" if common else "no task is common")
    steps = _common_steps(a, b)
    if len(steps) < COMMON_STEPS:
        reasons.append(f"{len(steps)} common settled steps, fewer than {COMMON_STEPS}")
    for what, values in (("the share of unscored samples", masked), ("the tasks", (a.tasks or None, b.tasks or None))):
        if None in values:
            remarks.append(f"{what} of one is not known")
    return Comparability(comparable=not reasons, reasons=tuple(reasons), remarks=tuple(remarks))


def compare_experiments(a: ExperimentProfile, b: ExperimentProfile) -> ExperimentComparison:
    """The difference a − b where it means something."""
    gate = comparability(a, b)
    steps = _common_steps(a, b)
    tasks = sorted(set(a.tasks) & set(b.tasks))
    rate = _paired_rate(a, b, tasks) if gate.comparable and len(tasks) >= COMMON_TASKS else None
    return ExperimentComparison(
        a=a.experiment,
        b=b.experiment,
        comparability=gate,
        reward=_reward_difference(a, b, steps) if gate.comparable else None,
        solve_rate=rate[0] if rate else None,
        solve_rate_p=rate[1] if rate else None,
        common_steps=(min(steps), max(steps)) if steps else None,
        common_tasks=len(tasks),
    )


def block_bootstrap_mean(
    values: FloatArray, *, block: int = BLOCK, resamples: int = RESAMPLES, seed: int = DEFAULT_SEED
) -> FloatArray:
    """Means of circular block bootstrap samples of values of shape (n,) in time order, shape (resamples,)."""
    n = values.size
    count = math.ceil(n / block)
    starts = np.random.default_rng(seed).integers(0, n, size=(resamples, count))
    places = (starts[:, :, None] + np.arange(block)) % n
    return np.asarray(values[places.reshape(resamples, -1)[:, :n]].mean(axis=1))


def _tasks(trials: pd.DataFrame) -> dict[str, tuple[int, int]]:
    own = training_trials(trials)
    counts = counts_by_task(own, ~has_outcome(own, UNSCORED))
    pairs = zip(counts.trials.tolist(), counts.hits.tolist(), strict=True)
    return dict(zip(counts.names.tolist(), pairs, strict=True))


def _masked(one: ExperimentProfile) -> float | None:
    share = one.populations.masked.share
    return share if share is not None else one.populations.unscored.value


def _common_steps(a: ExperimentProfile, b: ExperimentProfile) -> list[int]:
    return sorted(_reward_steps(a) & _reward_steps(b))


def _reward_steps(one: ExperimentProfile) -> set[int]:
    steady = settled(one.rows)
    known = np.isfinite(values_of(steady, REWARD))
    return {int(step) for step in steps_of(steady)[known]}


def _reward_difference(a: ExperimentProfile, b: ExperimentProfile, steps: list[int]) -> Difference:
    first, second = _rewards(a, steps), _rewards(b, steps)
    population = f"settled steps {min(steps)}–{max(steps)} that both have"
    plain_test = compare(first, second, names=(a.experiment, b.experiment), population=population)
    drawn = block_bootstrap_mean(first) - block_bootstrap_mean(second, seed=DEFAULT_SEED + 1)
    tail = 0.5 - DEFAULT_LEVEL / 2
    lower, upper = np.quantile(drawn, [tail, 1 - tail])
    interval = replace(
        plain_test.mean_difference,
        lower=float(lower),
        upper=float(upper),
        method=f"bootstrap of blocks of {BLOCK} steps",
        standard_error=float(drawn.std(ddof=1)),
    )
    return replace(plain_test, mean_difference=interval)


def _rewards(one: ExperimentProfile, steps: list[int]) -> FloatArray:
    rows = one.rows[one.rows["global_step"].isin(steps)]
    return values_of(rows, REWARD)


def _paired_rate(a: ExperimentProfile, b: ExperimentProfile, tasks: list[str]) -> tuple[Estimate, float | None]:
    gains = np.array([a.tasks[t][1] / a.tasks[t][0] - b.tasks[t][1] / b.tasks[t][0] for t in tasks])
    population = f"tasks with {SCORED} in both"
    if gains.size < 2:
        return not_measurable("fewer than two common tasks", population=population), None
    error = float(gains.std(ddof=1)) / math.sqrt(gains.size)
    half = float(special.stdtrit(gains.size - 1, 0.5 + DEFAULT_LEVEL / 2)) * error
    mean = float(gains.mean())
    # The same test as the interval: a p of another one may contradict it.
    p = plain(2 * float(special.stdtr(gains.size - 1, -abs(mean) / error))) if error else None
    estimate = Estimate(
        value=mean,
        lower=mean - half,
        upper=mean + half,
        n=int(gains.size),
        population=population,
        method="paired t over tasks",
        standard_error=error,
        spread=float(gains.std(ddof=1)),
    )
    return estimate, p
