"""How long trials were: tokens and seconds by outcome, and the solve rate by context used.

Histograms have edges at 1, 2, 5 × powers of ten and between, the same for every run, so that two reports
can be laid beside each other. Context used is the mean prompt of a trial's turns (prompt tokens ÷ turns):
the files have no larger one per turn. Its bins hold about equally many scored trials each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rl_pipeline.analysis.estimates import Estimate
from rl_pipeline.analysis.intervals import wilson_interval
from rl_pipeline.analysis.populations import training_trials
from rl_pipeline.analysis.trial_outcomes import has_outcome
from rl_pipeline.schema import OUTCOMES, SOLVED, UNSCORED

STEPS_OF_DECADE = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0)
CONTEXT_BINS = 10
FEWEST_PER_BIN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadBin:
    """Trials of one outcome between two edges (low ≤ x < high)."""

    outcome: str
    low: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Histogram of one quantity by outcome, with the medians and the trials that have no value."""

    bins: tuple[SpreadBin, ...]
    medians: dict[str, float]
    without: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBin:
    """Scored trials whose mean prompt lies between two lengths.

    Attributes:
        low: shortest, tokens per turn.
        high: longest.
        rate: solved of scored (Wilson).
        unscored: trials in the same range without a reward.
    """

    low: float
    high: float
    rate: Estimate
    unscored: int


def output_tokens(trials: pd.DataFrame) -> Spread | None:
    """Generated tokens of training trials; None when no trial has a count."""
    return _spread(trials, "n_output_tokens")


def agent_seconds(trials: pd.DataFrame) -> Spread | None:
    """Seconds of the agent in training trials; None when no trial has any."""
    return _spread(trials, "agent_execution_s")


def _spread(trials: pd.DataFrame, column: str) -> Spread | None:
    own = training_trials(trials)
    values = _numbers(own[column])
    known = np.isfinite(values) & (values > 0)
    if not known.any():
        return None
    edges = decade_edges(float(values[known].min()), float(values[known].max()))
    of_outcome = {outcome: values[known & has_outcome(own, outcome)] for outcome in OUTCOMES}
    bins = []
    for outcome in OUTCOMES:
        counts, _ = np.histogram(of_outcome[outcome], bins=edges)
        pairs = zip(edges[:-1], edges[1:], counts, strict=True)
        bins += [SpreadBin(outcome=outcome, low=float(a), high=float(b), trials=int(n)) for a, b, n in pairs if n]
    medians = {outcome: float(np.median(found)) for outcome, found in of_outcome.items() if found.size}
    return Spread(bins=tuple(bins), medians=medians, without=int((~known).sum()))


def decade_edges(low: float, high: float) -> list[float]:
    """Edges of the fixed ladder from at most `low` to above `high`, both positive."""
    exponents = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 2)
    ladder = [round(step * 10.0**exponent, 10) for exponent in exponents for step in STEPS_OF_DECADE]
    first = max(edge for edge in ladder if edge <= low)
    last = min(edge for edge in ladder if edge > high)
    return [edge for edge in ladder if first <= edge <= last]


def solve_rate_by_context(trials: pd.DataFrame) -> tuple[ContextBin, ...]:
    """Bins of about equally many scored training trials; empty when fewer than two bins can be filled."""
    own = training_trials(trials)
    turns, prompts = _numbers(own["n_turns"]), _numbers(own["n_input_tokens"])
    with np.errstate(divide="ignore", invalid="ignore"):
        context = np.where(turns > 0, prompts / turns, np.nan)
    scored, solved = np.isfinite(context) & ~has_outcome(own, UNSCORED), has_outcome(own, SOLVED)
    count = min(CONTEXT_BINS, int(scored.sum()) // FEWEST_PER_BIN)
    if count < 2:
        return ()
    edges = np.unique(np.quantile(context[scored], np.linspace(0, 1, count + 1)))
    place = np.clip(np.searchsorted(edges, context, side="right") - 1, 0, len(edges) - 2)
    return tuple(
        ContextBin(
            low=float(edges[i]),
            high=float(edges[i + 1]),
            rate=wilson_interval(
                int((scored & (place == i) & solved).sum()),
                int((scored & (place == i)).sum()),
                population="scored trials of that context",
            ),
            unscored=int((np.isfinite(context) & ~scored & (place == i)).sum()),
        )
        for i in range(len(edges) - 1)
        if (scored & (place == i)).any()
    )


def _numbers(values: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
