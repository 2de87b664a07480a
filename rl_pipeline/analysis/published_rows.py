"""Rows of the published tables: what each printed number is, and the number a reader means to know.

Counts are int, everything else float in base units (seconds, fractions 0–1); None is "not there".
"""

from __future__ import annotations

from dataclasses import dataclass

from rl_pipeline.analysis.engine_load import EngineLoad
from rl_pipeline.analysis.trial_tables import TrialTables


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """One job in numbers.

    Attributes:
        job: short name.
        total_steps: largest global step with a training block; None without one.
        metric_blocks: training steps in the log (blocks of the same step merged).
        final_reward_mean: mean reward over the job's rows.
        final_reward_max: reward of the best row.
        total_time_s: sum of timing/step, seconds; start-up and saves outside the step are not in it.
        first_step: smallest global step.
        steps: distinct global steps.
        last_reward: reward of the last row.
        best_step: global step of the best row.
    """

    job: str
    total_steps: int | None
    metric_blocks: int
    final_reward_mean: float | None
    final_reward_max: float | None
    total_time_s: float | None
    first_step: int | None
    steps: int
    last_reward: float | None
    best_step: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """One metric over all rows of all jobs, in the unit of the metric catalogue.

    Attributes:
        metric: name as logged.
        mean: over the rows that have it.
        std: sample standard deviation; None for fewer than two rows.
        min: smallest value.
        max: largest value.
        count: rows that have it.
        below_resolution: rows in which it was printed as 0.0000, so that its size is unknown.
        mean_over_all: mean with absent rows as 0; only for counts of exception types, else None.
    """

    metric: str
    mean: float
    std: float | None
    min: float
    max: float
    count: int
    below_resolution: int
    mean_over_all: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """Metrics with the same first part of their name.

    Attributes:
        name: the part before the first slash.
        metrics: in order of first appearance.
    """

    name: str
    metrics: tuple[MetricSummary, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressionRow:
    """One training step; None where the key is absent from the block.

    Attributes:
        step: global step.
        reward: mean reward of the step's samples, unscored ones as 0.
        pass_at_k: share of prompts solved at least once in k samples.
        kl: policy/policy_kl.
        loss: policy/final_loss.
        policy_loss: policy/policy_loss.
        step_time_s: timing/step, seconds.
        gen_wait_s: timing/wait_for_generation_buffer, seconds.
    """

    step: int
    reward: float | None
    pass_at_k: float | None
    kl: float | None
    loss: float | None
    policy_loss: float | None
    step_time_s: float | None
    gen_wait_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progression:
    """All steps of one job in printed order.

    Attributes:
        job: short name.
        rows: steps.
    """

    job: str
    rows: tuple[ProgressionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeShare:
    """One timer as a share of the step; timers are nested, so shares do not add up.

    Attributes:
        name: the timer, without timing/.
        mean_of_ratios: mean over steps of timer ÷ step, over the steps that have it, fraction.
        ratio_of_sums: summed timer ÷ summed step time of all steps, fraction.
        seconds: summed timer.
        count: steps that have it.
    """

    name: str
    mean_of_ratios: float
    ratio_of_sums: float
    seconds: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossLogRow:
    """Means over the rows of one job.

    Attributes:
        job: short name.
        avg_reward: mean reward.
        pass_at_k: mean pass@k.
        step_time_s: mean step time, seconds.
        gen_wait_time_s: mean wait, seconds.
        avg_tokens: mean of the mean tokens per sample.
        staleness: mean of the mean staleness, steps.
    """

    job: str
    avg_reward: float | None
    pass_at_k: float | None
    step_time_s: float | None
    gen_wait_time_s: float | None
    avg_tokens: float | None
    staleness: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTables:
    """Every number of the published layout.

    Attributes:
        log_files: job logs read.
        rows: training rows over all jobs (a step trained twice counts twice).
        distinct_steps: distinct global steps over all jobs.
        pass_k: the k of pass@k; None when it is not logged.
        overview: one row per job log.
        categories: statistics over all rows of all jobs.
        progression: steps of each job that has any.
        timing_breakdown: largest share first.
        cross_log: one row per job that has steps.
        engines: one entry per job with engine statistics lines.
        trials: None when no trial was read.
    """

    log_files: int
    rows: int
    distinct_steps: int
    pass_k: int | None
    overview: tuple[OverviewRow, ...]
    categories: tuple[Category, ...]
    progression: tuple[Progression, ...]
    timing_breakdown: tuple[TimeShare, ...]
    cross_log: tuple[CrossLogRow, ...]
    engines: tuple[EngineLoad, ...]
    trials: TrialTables | None
