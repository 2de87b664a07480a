"""The tables of the published report, with its definitions, and the right number beside each.

`published_tables` takes the tables of one experiment and gives every number that the published
layout prints. Its definitions are kept where they mislead, so that reports can be compared; the
fields that say what a reader means to know stand next to them:

* total_steps is the largest global step, not a count; `steps` and `first_step` say what was trained.
* final_reward_mean is the mean over the job's rows; `last_reward` is the last row's.
* means of `batch_errors` types are over rows where the type occurs; `mean_over_all` counts the others as 0.
* shares of step time are means of per-step ratios; `ratio_of_sums` weighs long steps as long.
"""

from __future__ import annotations

import pandas as pd

from rl_pipeline.analysis.batch_errors import FIXED, PREFIX, batch_error_values
from rl_pipeline.analysis.blocks import TrainingRows, training_rows
from rl_pipeline.analysis.engine_load import engine_load
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.numbers import finite, maximum, mean, sample_std, total
from rl_pipeline.analysis.published_rows import (
    Category,
    CrossLogRow,
    MetricSummary,
    OverviewRow,
    Progression,
    ProgressionRow,
    PublishedTables,
    TimeShare,
)
from rl_pipeline.analysis.trial_tables import trial_tables

REWARD = "reward/avg_raw_reward"
PASS_PREFIX = "reward/avg_pass_at_"
STEP_TIME = "timing/step"
WAIT = "timing/wait_for_generation_buffer"
KL = "policy/policy_kl"
LOSS = "policy/final_loss"
POLICY_LOSS = "policy/policy_loss"
TOKENS = "generate/avg_num_tokens"
STALENESS = "async/staleness_mean"
TIMING = "timing/"
UNCATEGORISED = "other"


def published_tables(frames: ExperimentFrames) -> PublishedTables:
    """Compute the published tables of one experiment."""
    jobs = list(frames.jobs["job"])
    rows = training_rows(frames.step_metrics, jobs)
    by_job = {job: rows.of_job(job) for job in jobs}
    trained = {job: part for job, part in by_job.items() if len(part.keys)}
    pass_k = pass_at_k_of(rows)
    return PublishedTables(
        log_files=len(jobs),
        rows=len(rows.keys),
        distinct_steps=int(rows.keys["step"].nunique()),
        pass_k=pass_k,
        overview=tuple(_overview_row(job, part) for job, part in by_job.items()),
        categories=_categories(rows, batch_error_values(rows, frames.rollout_batches)),
        progression=tuple(_progression(job, part, pass_k) for job, part in trained.items()),
        timing_breakdown=_timing_breakdown(rows),
        cross_log=tuple(_cross_log_row(job, part, pass_k) for job, part in trained.items()),
        engines=tuple(load for job in jobs if (load := engine_load(job, frames.vllm_stats)) is not None),
        trials=trial_tables(frames.trials),
    )


def pass_at_k_of(rows: TrainingRows) -> int | None:
    """The k of the pass@k metric that most rows have; the larger one of two."""
    found = [name for name in rows.values.columns if name.startswith(PASS_PREFIX)]
    counts = {int(k): int(rows.values[name].count()) for name in found if (k := name[len(PASS_PREFIX) :]).isdigit()}
    return max(counts, key=lambda k: (counts[k], k)) if counts else None


def _pass_at_k(rows: TrainingRows, k: int | None) -> pd.Series[float]:
    return rows.column(f"{PASS_PREFIX}{k}")


def _overview_row(job: str, rows: TrainingRows) -> OverviewRow:
    steps, rewards = rows.keys["step"], rows.column(REWARD)
    return OverviewRow(
        job=job,
        total_steps=int(steps.max()) if len(steps) else None,
        metric_blocks=len(steps),
        final_reward_mean=mean(rewards),
        final_reward_max=maximum(rewards),
        total_time_s=total(rows.column(STEP_TIME)),
        first_step=int(steps.min()) if len(steps) else None,
        steps=int(steps.nunique()),
        last_reward=finite(rewards.iloc[-1]) if len(rewards) else None,
        best_step=int(steps.to_numpy()[rewards.argmax()]) if rewards.notna().any() else None,
    )


def _categories(rows: TrainingRows, errors: pd.DataFrame) -> tuple[Category, ...]:
    """Group metrics by the first part of their name, groups and metrics in order of first appearance."""
    grouped: dict[str, list[MetricSummary]] = {}
    for frame in (rows.values, errors):
        for metric in frame.columns:
            values = frame[metric].dropna()
            if len(values):
                category = metric.split("/", 1)[0] if "/" in metric else UNCATEGORISED
                grouped.setdefault(category, []).append(_summary(metric, values, rows))
    return tuple(Category(name=name, metrics=tuple(metrics)) for name, metrics in grouped.items())


def _summary(metric: str, values: pd.Series[float], rows: TrainingRows) -> MetricSummary:
    is_type_count = metric.startswith(PREFIX) and metric[len(PREFIX) :] not in FIXED
    below = rows.below_resolution[metric].sum() if metric in rows.below_resolution.columns else 0
    return MetricSummary(
        metric=metric,
        mean=float(values.mean()),
        std=sample_std(values),
        min=float(values.min()),
        max=float(values.max()),
        count=len(values),
        below_resolution=int(below),
        mean_over_all=float(values.sum()) / len(rows.keys) if is_type_count else None,
    )


def _progression(job: str, rows: TrainingRows, pass_k: int | None) -> Progression:
    columns = (
        rows.keys["step"],
        rows.column(REWARD),
        _pass_at_k(rows, pass_k),
        rows.column(KL),
        rows.column(LOSS),
        rows.column(POLICY_LOSS),
        rows.column(STEP_TIME),
        rows.column(WAIT),
    )
    made = []
    for step, *values in zip(*columns, strict=True):
        reward, passed, kl, loss, policy_loss, step_time, wait = (finite(value) for value in values)
        made.append(
            ProgressionRow(
                step=int(step),
                reward=reward,
                pass_at_k=passed,
                kl=kl,
                loss=loss,
                policy_loss=policy_loss,
                step_time_s=step_time,
                gen_wait_s=wait,
            )
        )
    return Progression(job=job, rows=tuple(made))


def _timing_breakdown(rows: TrainingRows) -> tuple[TimeShare, ...]:
    step = rows.column(STEP_TIME)
    step = step.where(step > 0)
    whole_time = total(step)
    shares = []
    for metric in rows.values.columns:
        timer = rows.values[metric].where(step.notna())
        if metric.startswith(TIMING) and metric != STEP_TIME and whole_time and timer.count():
            shares.append(
                TimeShare(
                    name=metric[len(TIMING) :],
                    mean_of_ratios=float((timer / step).mean()),
                    ratio_of_sums=float(timer.sum()) / whole_time,
                    seconds=float(timer.sum()),
                    count=int(timer.count()),
                )
            )
    return tuple(sorted(shares, key=lambda share: (-share.mean_of_ratios, share.name)))


def _cross_log_row(job: str, rows: TrainingRows, pass_k: int | None) -> CrossLogRow:
    return CrossLogRow(
        job=job,
        avg_reward=mean(rows.column(REWARD)),
        pass_at_k=mean(_pass_at_k(rows, pass_k)),
        step_time_s=mean(rows.column(STEP_TIME)),
        gen_wait_time_s=mean(rows.column(WAIT)),
        avg_tokens=mean(rows.column(TOKENS)),
        staleness=mean(rows.column(STALENESS)),
    )
