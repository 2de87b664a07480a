"""How many samples nobody scored, and whether that share changes over the run.

The share is masked ÷ logged samples where batch lines print it, else unscored ÷ training trials. Its change is
looked at in stretches: ten steps each where batch lines tell the step, else tenths of the trials by end time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.masked_share import masked_by_step
from rl_pipeline.analysis.populations import share_variation_p
from rl_pipeline.schema import UNSCORED

STRETCH_STEPS = 10
STRETCHES = 10
LOGGED, FILES = "logged samples", "training trials"


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """Unscored samples: share (fraction) and counts, range of the share over stretches, p of one share for all."""

    share: float | None
    masked: int
    n: int
    population: str
    range_of_means: float | None
    dispersion_p: float | None


def masking_of(context: RunContext) -> Masking:
    """The share of samples without a score and its change."""
    counts, totals = masked_by_step(context.frames.rollout_batches, context.all_steps.rows)
    found = context.masked
    if context.populations.masked.share is not None and found.masked is not None:
        return Masking(
            share=found.share,
            masked=found.masked,
            n=found.instances,
            population=LOGGED,
            range_of_means=_range_of_stretches(counts, totals),
            dispersion_p=share_variation_p(counts, totals),
        )
    counts, totals = _by_time(context)
    return Masking(
        share=found.share,
        masked=found.masked or 0,
        n=found.instances,
        population=FILES,
        range_of_means=float(np.ptp(counts / totals)) if counts.size > 1 else None,
        dispersion_p=share_variation_p(counts, totals),
    )


def _by_time(context: RunContext) -> tuple[FloatArray, FloatArray]:
    trials = context.trials[["finished_at", "outcome"]]
    known = trials[trials["finished_at"].notna()].sort_values("finished_at", kind="stable")
    if len(known) < context.minimum_trials:
        return np.zeros(0), np.zeros(0)
    parts = np.array_split((known["outcome"] == UNSCORED).to_numpy(dtype=np.float64), STRETCHES)
    return np.array([part.sum() for part in parts]), np.array([float(part.size) for part in parts])


def _range_of_stretches(counts: FloatArray, totals: FloatArray) -> float | None:
    """Range of the shares of successive ten steps; a shorter rest is left out."""
    whole = counts.size // STRETCH_STEPS * STRETCH_STEPS
    if whole < 2 * STRETCH_STEPS:
        return None
    shares = counts[:whole].reshape(-1, STRETCH_STEPS).sum(axis=1) / totals[:whole].reshape(-1, STRETCH_STEPS).sum(
        axis=1
    )
    return float(np.ptp(shares))
