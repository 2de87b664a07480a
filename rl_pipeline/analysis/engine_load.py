"""Inference-engine statistics of one job, averaged the published way and beside it per engine.

Published: lines of engines that report in the same second are averaged first, then the seconds are
averaged; the maxima of running, waiting and throughput are taken over the *sums* of a second, so
they are maxima of "the engines seen together", not of one engine. Both kinds are given here.

Lines of one server that stands for several engines (`scope` server) are divided by the number of
engines where it is printed, and used only where a job has no line of a single engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rl_pipeline.analysis.numbers import finite, maximum, mean, whole
from rl_pipeline.analysis.remembering import remembered

LOADS = ["running", "waiting", "generation_throughput"]
CACHES = ["kv_cache_usage", "prefix_cache_hit_rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLoad:
    """Statistics lines of one job. Requests, tokens/s, fractions 0–1; None where nothing was printed.

    Attributes:
        job: short name of the job.
        lines: statistics lines in the log.
        printed_lines: lines the engines printed, those that Ray folded away included.
        engines: distinct engines (address, process, index) seen.
        seconds: distinct seconds with a line; the averages are over these.
        shared_seconds: seconds in which more than one engine reports.
        avg_running: requests being computed, mean per engine, then over seconds.
        avg_waiting: requests queued, mean per engine, then over seconds.
        avg_gen_throughput: generated tokens/s, mean per engine, then over seconds.
        avg_kv_cache: share of the KV cache in use, mean per engine, then over seconds.
        avg_prefix_hit: prefix cache hit rate, mean per engine, then over seconds.
        max_running: largest sum of running requests in one second.
        max_waiting: largest sum of waiting requests in one second.
        max_gen_throughput: largest sum of generated tokens/s in one second.
        max_running_one: largest number of running requests in one line.
        max_waiting_one: largest number of waiting requests in one line.
        max_gen_throughput_one: largest throughput in one line, tokens/s.
        waiting_share: share of lines with a waiting request.
        preemption_lines: lines that print preemptions (0: not measured).
    """

    job: str
    lines: int
    printed_lines: int
    engines: int
    seconds: int
    shared_seconds: int
    avg_running: float | None
    avg_waiting: float | None
    avg_gen_throughput: float | None
    avg_kv_cache: float | None
    avg_prefix_hit: float | None
    max_running: int | None
    max_waiting: int | None
    max_gen_throughput: float | None
    max_running_one: int | None
    max_waiting_one: int | None
    max_gen_throughput_one: float | None
    waiting_share: float | None
    preemption_lines: int


def engine_load(job: str, vllm_stats: pd.DataFrame) -> EngineLoad | None:
    """Statistics of one job's engines; None without a line of the job."""
    lines = engine_lines_of_job(vllm_stats, job)
    if lines.empty:
        return None
    by_second = lines.groupby("second", sort=False)
    averages = by_second[LOADS + CACHES].mean()
    sums = by_second[LOADS].sum(min_count=1)
    return EngineLoad(
        job=job,
        lines=len(lines),
        printed_lines=int(lines["repeat_count"].sum()),
        engines=len(lines.drop_duplicates(["ip", "pid", "engine_index"])),
        seconds=len(averages),
        shared_seconds=int((by_second.size() > 1).sum()),
        avg_running=mean(averages["running"]),
        avg_waiting=mean(averages["waiting"]),
        avg_gen_throughput=mean(averages["generation_throughput"]),
        avg_kv_cache=mean(averages["kv_cache_usage"]),
        avg_prefix_hit=mean(averages["prefix_cache_hit_rate"]),
        max_running=whole(maximum(sums["running"])),
        max_waiting=whole(maximum(sums["waiting"])),
        max_gen_throughput=maximum(sums["generation_throughput"]),
        max_running_one=whole(maximum(lines["running"])),
        max_waiting_one=whole(maximum(lines["waiting"])),
        max_gen_throughput_one=maximum(lines["generation_throughput"]),
        waiting_share=finite((lines["waiting"].dropna() > 0).mean()),
        preemption_lines=int(lines["preemptions"].notna().sum()),
    )


@remembered
def engine_lines_of_job(stats: pd.DataFrame, job: str) -> pd.DataFrame:
    """As `engine_lines`, of one job."""
    return engine_lines(stats[stats["job"] == job])


@remembered
def timed_engine_lines(stats: pd.DataFrame) -> pd.DataFrame:
    """As `engine_lines`, of all lines with a time."""
    return engine_lines(stats[stats["logged_at"].notna()])


def engine_lines(stats: pd.DataFrame) -> pd.DataFrame:
    """Lines per engine as floats, with the column `second`: the whole second, or a number of its own."""
    single = stats[stats["scope"] == "engine"]
    lines = (single if len(single) else stats).copy()
    lines[LOADS + CACHES] = lines[LOADS + CACHES].astype("float64")
    if single.empty and len(lines):
        engines = lines["engines"].astype("float64").fillna(1.0).clip(lower=1.0)
        lines[LOADS] = lines[LOADS].div(engines, axis=0)
    lines["second"] = _seconds(lines["logged_at"])
    return lines


def _seconds(times: pd.Series[Any]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Whole second of each line; a line without a time gets a negative number of its own."""
    seconds = pd.to_datetime(times).to_numpy(dtype="datetime64[s]").astype("int64")
    return np.where(times.isna(), -1 - np.arange(len(times)), seconds)
