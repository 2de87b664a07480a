"""Whose reward is it? The same run has several means, each right for its own population.

Training counts samples without a score as 0; the trial files tell scored from unscored. The two agree
once the share of masked samples is taken out, and bounds over all trials enclose both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from rl_pipeline.analysis.batch_booking import book_batches
from rl_pipeline.analysis.estimates import Estimate, FloatArray, plain, ratio
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.intervals import mean_interval, wilson_interval
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.remembering import remembered
from rl_pipeline.analysis.series import REWARD, first_logged, values_of
from rl_pipeline.analysis.trial_outcomes import has_outcome
from rl_pipeline.schema import SOLVED, UNSCORED


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedShare:
    """Masked samples as the generator's batch lines count them.

    Attributes:
        masked: Σ masked trials in training batches that belong to a step with a block (all of them where no
            line does).
        instances: Σ trials of these batches.
        share: masked ÷ instances; None when no line prints masked trials.
        step_min: fewest masked trials booked to one step.
        step_max: most.
        step_share_min: fewest ÷ samples of that step.
        step_share_max: most ÷ samples of that step.
        chi_square_p: p that all steps have one masked share (χ² over steps); None for fewer than two.
        steps: steps with a block and batch lines. Lines are booked to the last step marker before them, and
            generation runs ahead, so a step's number is approximate.
        reason: why it is missing.
    """

    masked: int | None
    instances: int
    share: float | None
    step_min: int | None = None
    step_max: int | None = None
    step_share_min: float | None = None
    step_share_max: float | None = None
    chi_square_p: float | None = None
    steps: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of what ran the logs show.

    Attributes:
        logged: trials in training batch lines that belong to a step with a block; a folded line counts once.
        unbooked: trials in the other training batch lines: those of a resumed job before its first step.
        hidden: trials in lines that Ray folded away, if they were like the line shown.
        completed: of the logged, without a counted failure.
        failed: logged − completed.
        exceptions: Σ exceptions printed beside the batches.
        failed_groups: Σ groups with at least one failure.
        batches: lines.
        trained: samples trained, over all rows; None when not logged.
        trials: training trial files.
        logged_of_trained: fraction.
        logged_of_trials: fraction.
        all_lines_of_trials: the same with the unbooked lines.
        beyond_trained: trials − trained.
        beyond_trained_share: ÷ trials.
        beyond_canonical: trials − samples of the steps that count.
        beyond_canonical_share: ÷ trials.
    """

    logged: int
    unbooked: int
    hidden: int
    completed: int
    failed: int
    exceptions: int
    failed_groups: int
    batches: int
    trained: int | None
    trials: int
    logged_of_trained: float | None
    logged_of_trials: float | None
    all_lines_of_trials: float | None
    beyond_trained: int | None
    beyond_trained_share: float | None
    beyond_canonical: int | None
    beyond_canonical_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Populations:
    """The reward of each population.

    Attributes:
        trained: mean over all trained samples, unscored as 0, every row in the logs (n: steps).
        canonical: the same over the steps that count.
        scored: solved ÷ scored trials (Wilson, as if independent).
        scored_from_log: trained ÷ (1 − masked share): the same quantity from the log alone.
        solved_of_all: solved ÷ all trials: the lower bound if no unscored one had been solved.
        upper_bound: (solved + unscored) ÷ all trials.
        unscored: unscored ÷ all trials.
        masked: masked samples in batch lines.
        coverage: how much the logs show.
        partial_credit: whether any trial has a reward besides 0 and 1; None without scored trials.
    """

    trained: Estimate
    canonical: Estimate
    scored: Estimate
    scored_from_log: float | None
    solved_of_all: Estimate
    upper_bound: float | None
    unscored: Estimate
    masked: MaskedShare
    coverage: Coverage
    partial_credit: bool | None


def find_populations(frames: ExperimentFrames, rows: pd.DataFrame) -> Populations:
    """All populations; `rows` of `all_rows`."""
    trials = training_trials(frames.trials)
    solved = int(has_outcome(trials, SOLVED).sum())
    unscored = int(has_outcome(trials, UNSCORED).sum())
    trained = mean_interval(
        values_of(rows, REWARD), population="all trained samples, unscored as 0 (steps in the logs)"
    )
    counts = rows["canonical"].astype(bool)
    canonical = mean_interval(values_of(rows[counts], REWARD), population="trained samples of the steps that count")
    masked = masked_share(frames.rollout_batches, rows)
    return Populations(
        trained=trained,
        canonical=canonical,
        scored=wilson_interval(solved, len(trials) - unscored, population="scored trials"),
        scored_from_log=_unmasked(trained.value, masked.share),
        solved_of_all=wilson_interval(solved, len(trials), population="all trials, unscored as not solved"),
        upper_bound=ratio(solved + unscored, len(trials)),
        unscored=wilson_interval(unscored, len(trials), population="all trials"),
        masked=masked,
        coverage=find_coverage(frames, rows),
        partial_credit=_partial_credit(trials),
    )


@remembered
def training_trials(trials: pd.DataFrame) -> pd.DataFrame:
    """Trials of training; those of evaluations left out. Where there is none, these are all, and no copy."""
    is_eval = trials["is_eval"].astype(bool)
    return trials[~is_eval] if is_eval.any() else trials


@remembered
def training_batches(batches: pd.DataFrame) -> pd.DataFrame:
    """Batch lines of training; a line that does not tell its mode counts as training."""
    modes = [mode for mode in batches["mode"].unique() if isinstance(mode, str) and mode.startswith("eval")]
    return batches[~batches["mode"].isin(modes)] if modes else batches


@remembered
def masked_share(batches: pd.DataFrame, rows: pd.DataFrame) -> MaskedShare:
    """Masked trials over the training batches and by step."""
    printed = training_batches(batches)
    printed = printed[printed["masked"].notna()]
    booked = book_batches(printed, rows).booked
    own = booked if len(booked) else printed
    if own.empty:
        reason = "no batch line prints masked trials" if len(batches) else "no batch lines"
        return MaskedShare(masked=None, instances=0, share=None, reason=reason)
    masked, instances = int(own["masked"].sum()), int(own["total"].sum())
    by_step = _masked_by_step(booked, rows)
    shares = by_step["masked"] / by_step["samples"]
    return MaskedShare(
        masked=masked,
        instances=instances,
        share=ratio(masked, instances),
        step_min=int(by_step["masked"].min()) if len(by_step) else None,
        step_max=int(by_step["masked"].max()) if len(by_step) else None,
        step_share_min=plain(shares.min()) if len(by_step) else None,
        step_share_max=plain(shares.max()) if len(by_step) else None,
        chi_square_p=share_variation_p(by_step["masked"].to_numpy(float), by_step["total"].to_numpy(float)),
        steps=len(by_step),
    )


def share_variation_p(hits: FloatArray, totals: FloatArray) -> float | None:
    """χ² p that all groups have one share; hits and totals of shape (groups,). None when it says nothing."""
    hits, totals = hits[totals > 0], totals[totals > 0]
    if hits.size < 2 or not 0 < hits.sum() < totals.sum():
        return None
    expected = totals * hits.sum() / totals.sum()
    rest = totals - expected
    statistic = float(((hits - expected) ** 2 / expected + (hits - expected) ** 2 / rest).sum())
    return plain(float(special.chdtrc(hits.size - 1, statistic)))


def find_coverage(frames: ExperimentFrames, rows: pd.DataFrame) -> Coverage:
    """Logged batches against trained samples and trial files."""
    batches = book_batches(training_batches(frames.rollout_batches), rows)
    own, unbooked = batches.booked, int(batches.unbooked["total"].sum())
    logged, completed = int(own["total"].sum()), int(own["successful"].sum())
    trials = len(training_trials(frames.trials))
    trained, canonical = _samples(rows), _samples(rows[rows["canonical"].astype(bool)])
    return Coverage(
        logged=logged,
        unbooked=unbooked,
        hidden=int((own["total"] * (own["repeat_count"] - 1)).sum()),
        completed=completed,
        failed=logged - completed,
        exceptions=sum(sum(counts.values()) for counts in own["exceptions"] if counts),
        failed_groups=int(own["failed_groups"].sum()),
        batches=len(own),
        trained=trained,
        trials=trials,
        logged_of_trained=ratio(logged, trained),
        logged_of_trials=ratio(logged, trials),
        all_lines_of_trials=ratio(logged + unbooked, trials),
        beyond_trained=None if trained is None or not trials else trials - trained,
        beyond_trained_share=None if trained is None else ratio(trials - trained, trials),
        beyond_canonical=None if canonical is None or not trials else trials - canonical,
        beyond_canonical_share=None if canonical is None else ratio(trials - canonical, trials),
    )


def _samples(rows: pd.DataFrame) -> int | None:
    name = first_logged(rows, SAMPLES)
    if name is None:
        return None
    values = values_of(rows, name)
    return round(float(values[np.isfinite(values)].sum()))


def _masked_by_step(booked: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Columns masked, total, samples; one row per (job, step) that has a block and the samples of its batch."""
    keys = ["job", "global_step"]
    sums = booked.groupby(keys)[["masked", "total"]].sum().reset_index()
    name = first_logged(rows, SAMPLES)
    samples = values_of(rows, name) if name else np.full(len(rows), np.nan)
    steps = rows[keys].assign(samples=samples).drop_duplicates(keys, keep="last").dropna()
    return steps.merge(sums, on=keys, how="inner").astype({"masked": float, "total": float})


def _unmasked(mean: float | None, masked: float | None) -> float | None:
    return None if mean is None or masked is None or masked >= 1 else mean / (1 - masked)


def _partial_credit(trials: pd.DataFrame) -> bool | None:
    rewards = trials["reward"].dropna()
    return None if rewards.empty else bool((~rewards.isin([0.0, 1.0])).any())
