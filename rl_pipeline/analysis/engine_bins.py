"""Engine load over time: means of the statistics lines in bins of equal length, job by job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from rl_pipeline.analysis.engine_load import timed_engine_lines
from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.numbers import maximum_of, mean_of
from rl_pipeline.analysis.row_groups import row_groups
from rl_pipeline.units import SECONDS_PER_HOUR

BIN_SECONDS = (60, 600, 1800, 3600, 10_800, 21_600, 86_400)
MAX_BINS = 240
LOADS = ("running", "waiting", "generation_throughput", "kv_cache_usage")


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
    timed = timed_engine_lines(vllm_stats)
    if timed.empty:
        return ()
    times = pd.to_datetime(timed["logged_at"])
    start = times.min().floor("min")
    seconds = (times - start).dt.total_seconds()
    width = _bin_seconds(float(seconds.max()))
    places = (seconds // width).astype("int64")
    jobs, place_of = timed["job"].to_numpy(), places.to_numpy()
    loads = {name: timed[name].to_numpy() for name in LOADS}
    made = []
    for lines in row_groups(timed, ["job", places], sort=False):
        inside = {name: values[lines] for name, values in loads.items()}
        made.append(_bin(str(jobs[lines[0]]), int(place_of[lines[0]]), width, start, inside))
    return tuple(sorted(made, key=lambda row: row.started_at))


def _bin(job: str, place: int, width: int, start: pd.Timestamp, lines: Mapping[str, FloatArray]) -> EngineBin:
    usage = lines["kv_cache_usage"]
    return EngineBin(
        job=job,
        started_at=(start + pd.Timedelta(seconds=place * width)).to_pydatetime(),
        hours=(place + 0.5) * width / SECONDS_PER_HOUR,
        minutes=width / 60,
        lines=usage.size,
        running=mean_of(lines["running"]),
        waiting=mean_of(lines["waiting"]),
        max_waiting=maximum_of(lines["waiting"]),
        generation_throughput=mean_of(lines["generation_throughput"]),
        kv_cache_usage=mean_of(usage),
    )


def _bin_seconds(span: float) -> int:
    """The shortest bin that keeps the number of bins small; whole days for very long runs."""
    fitting = [width for width in BIN_SECONDS if span / width <= MAX_BINS]
    return fitting[0] if fitting else BIN_SECONDS[-1] * int(np.ceil(span / BIN_SECONDS[-1] / MAX_BINS))
