"""The frames that analysis reads: all tables of one experiment, by the names of `schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

# Columns that neither an analysis nor a page looks at; who only makes these need not hold them. Of trials there are
# maps and names among them, one for each of tens of thousands: they are half of what the frame takes.
UNREAD: Mapping[str, tuple[str, ...]] = {
    "trials": (
        "trial_id",
        "agent",
        "n_cached_tokens",
        "cost_usd",
        "rewards",
        "exception_message",
        "job_confidence",
    ),
    "vllm_stats": (
        "prompt_throughput",
        "swapped",
        "deferred",
        "corrupted",
        "kv_fetch_waiting",
        "kv_fetch_in_progress",
        "kv_fetch_done_waiting",
        "cpu_kv_cache_usage",
        "external_prefix_cache_hit_rate",
        "mm_cache_hit_rate",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentFrames:
    """Tables of every job of one experiment, concatenated, and its trials.

    Each frame has exactly the columns of its row class in `schema` (also when it has no row); where only an analysis
    and its pages are made of them, those of `UNREAD` may be missing.
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
