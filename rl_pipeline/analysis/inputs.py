"""The frames that analysis reads: all tables of one experiment, by the names of `schema`."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

# Columns of `trials` that nothing here reads: frames made for an analysis alone may lack them. There are maps and names
# among them, one for each of tens of thousands of trials: they are a half of what the frame takes.
UNREAD_OF_TRIALS = (
    "trial_id", "agent", "rewards", "exception_message", "n_cached_tokens", "cost_usd", "job_confidence",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentFrames:
    """Tables of every job of one experiment, concatenated, and its trials.

    Each frame has the columns of its row class in `schema` (also when it has no row), `trials` perhaps without
    `UNREAD_OF_TRIALS`.
    `jobs` is in chain order: by first time in the log, then by job id as a number. Map columns
    hold dicts. Integer columns that may be null are pandas `Int64`; text columns hold str or None.
    """

    experiment: str
    jobs: pd.DataFrame
    step_metrics: pd.DataFrame
    rollout_batches: pd.DataFrame
    vllm_stats: pd.DataFrame
    phase_timings: pd.DataFrame
    job_events: pd.DataFrame
    unparsed: pd.DataFrame
    trials: pd.DataFrame
    skipped_trials: pd.DataFrame
