"""Engine load over time: means of the statistics lines in bins of equal length, job by job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from rl_pipeline.analysis.engine_load import engine_lines
from rl_pipeline.analysis.numbers import finite, maximum, mean
from rl_pipeline.units import SECONDS_PER_HOUR

BIN_SECONDS = (60, 600, 1800, 3600, 10_800, 21_600, 86_400)
MAX_BINS = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineBin:
    """Statistics lines of one job in one stretch of time; means per engine.

    Attributes:
        job: short name.
        started_at: begin of the bin.
        hours: from the first line of the first job to the middle of the bin.
        minutes: length of the bin.
        lines: statistics lines in it.
        running: requests being computed.
        waiting: requests queued.
        max_waiting: most requests queued in one line.
        generation_throughput: generated tokens/s.
        kv_cache_usage: share of the KV cache in use, fraction.
    """

    job: str
    started_at: datetime
    hours: float
    minutes: float
    lines: int
    running: float | None
    waiting: float | None
    max_waiting: float | None
    generation_throughput: float | None
    kv_cache_usage: float | None


def engine_bins(vllm_stats: pd.DataFrame) -> tuple[EngineBin, ...]:
    """Bins over all jobs; empty when no line has a time."""
    timed = engine_lines(vllm_stats[vllm_stats["logged_at"].notna()])
    if timed.empty:
        return ()
    times = pd.to_datetime(timed["logged_at"])
    start = times.min().floor("min")
    seconds = (times - start).dt.total_seconds()
    width = _bin_seconds(float(seconds.max()))
    places = (seconds // width).astype("int64")
    made = []
    for (job, place), lines in timed.groupby(["job", places.rename("place")], sort=False):
        made.append(_bin(str(job), int(str(place)), width, start, lines))
    return tuple(sorted(made, key=lambda row: row.started_at))


def _bin(job: str, place: int, width: int, start: pd.Timestamp, lines: pd.DataFrame) -> EngineBin:
    return EngineBin(
        job=job,
        started_at=(start + pd.Timedelta(seconds=place * width)).to_pydatetime(),
        hours=(place + 0.5) * width / SECONDS_PER_HOUR,
        minutes=width / 60,
        lines=len(lines),
        running=mean(lines["running"]),
        waiting=mean(lines["waiting"]),
        max_waiting=maximum(lines["waiting"]),
        generation_throughput=mean(lines["generation_throughput"]),
        kv_cache_usage=finite(np.nanmean(lines["kv_cache_usage"])) if lines["kv_cache_usage"].notna().any() else None,
    )


def _bin_seconds(span: float) -> int:
    """The shortest bin that keeps the number of bins small; whole days for very long runs."""
    fitting = [width for width in BIN_SECONDS if span / width <= MAX_BINS]
    return fitting[0] if fitting else BIN_SECONDS[-1] * int(np.ceil(span / BIN_SECONDS[-1] / MAX_BINS))
