"""Inference engines: who printed which line, how loaded they were, and what that says.

Input is `vllm_stats`: one row per printed statistics line. An engine is (job, ip, pid, index); engines that
run as separate actors all call themselves 000. Ray folds alike lines of different engines into one, whose
numbers are those of the last speaker: every row counts once here, `repeat_count` only tells how many lines
were lost. Gauges (running, waiting, KV) are values at print time; an idle engine prints nothing, so means
are over printed lines, not over time.

The verdict reads five quantities together, since no single one decides: running requests against
`max_num_seqs` (else against the own 99th percentile), the queue, the KV cache, throughput against the own
peak, and how long the trainer waits. It is one of five classes, or *not enough evidence*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rl_pipeline.analysis.engine_load import engine_lines_of_job
from rl_pipeline.analysis.imbalance import Imbalance, imbalance_of
from rl_pipeline.analysis.rank_statistics import sen_slope
from rl_pipeline.analysis.row_groups import row_groups
from rl_pipeline.analysis.thresholds import SHARED, Thresholds

UNDER_FED, OFF_THE_PATH, WELL_USED = "under-fed", "off the critical path", "well used"
OVER_SUBSCRIBED, KV_BOUND = "over-subscribed", "KV-bound"
NOT_ENOUGH_EVIDENCE = "not enough evidence"
ENGINE_CLASSES = (UNDER_FED, OFF_THE_PATH, WELL_USED, OVER_SUBSCRIBED, KV_BOUND)

MAX_NUM_SEQS, OWN_P99 = "max_num_seqs", "own 99th percentile"
SLOPE_SAMPLE = 1000
IDENTITY = ["job", "ip", "pid", "engine_index"]
ENGINE_LOADS = ("running", "waiting", "kv_cache_usage", "generation_throughput")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One engine of one job: means over its printed lines; throughput in tokens/s, KV as fraction."""

    job: str
    ip: str | None
    pid: int | None
    engine_index: int | None
    lines: int
    running_mean: float | None
    waiting_mean: float | None
    kv_cache_mean: float | None
    throughput_mean: float | None
    throughput_peak: float | None

    @property
    def label(self) -> str:
        """`pid@ip`, as the lines' prefix tells the engine apart."""
        where = self.ip or "driver node"
        return f"{self.pid if self.pid is not None else '?'}@{where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReading:
    """The five quantities over the lines of one job, or of all (`job` null), and the class they make."""

    job: str | None
    lines: int
    printed_lines: int
    engines: int
    first_line: int | None
    last_line: int | None
    folded_share: float | None
    capacity: float | None
    capacity_source: str | None
    running_mean: float | None
    running_median: float | None
    running_max: float | None
    running_share: float | None
    waiting_mean: float | None
    waiting_median: float | None
    waiting_max: float | None
    empty_queue_share: float | None
    kv_cache_mean: float | None
    kv_cache_max: float | None
    kv_full_share: float | None
    preemption_lines: int | None
    preemption_share: float | None
    throughput_mean: float | None
    throughput_median: float | None
    throughput_peak: float | None
    throughput_share: float | None
    throughput_gain: float | None
    prefix_cache_hit_rate: float | None
    wait_share: float | None
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAnalysis:
    """Engines one by one, loads per job and over all, and whether the load was spread evenly."""

    engines: tuple[Engine, ...]
    jobs: tuple[LoadReading, ...]
    overall: LoadReading
    imbalance: Imbalance


def analyse_engines(
    vllm_stats: pd.DataFrame,
    *,
    thresholds: Thresholds,
    wait_shares: dict[str | None, float | None] | None = None,
    max_num_seqs: float | None = None,
) -> EngineAnalysis:
    """Loads, classes and imbalance.

    Args:
        vllm_stats: the table, all jobs.
        thresholds: shared line minimum and those of R1–R4 and R40.
        wait_shares: trainer wait ÷ step time by job, and over all under the key None; fractions.
        max_num_seqs: configured requests per engine, when the inputs show it.
    """
    waits = wait_shares or {}
    rows = _lines_by_job(vllm_stats)
    jobs = tuple(
        _load(part, job=str(job), thresholds=thresholds, wait_share=waits.get(str(job)), max_num_seqs=max_num_seqs)
        for job, part in rows.groupby("job", sort=False)
    )
    overall = _load(rows, job=None, thresholds=thresholds, wait_share=waits.get(None), max_num_seqs=max_num_seqs)
    return EngineAnalysis(
        engines=_engines(rows),
        jobs=jobs,
        overall=overall,
        imbalance=imbalance_of(rows, overall.folded_share, thresholds),
    )


def _lines_by_job(vllm_stats: pd.DataFrame) -> pd.DataFrame:
    """Lines of single engines of every job; where a job prints only servers, those divided by their engines."""
    parts = [engine_lines_of_job(vllm_stats, job) for job in vllm_stats["job"].unique()]
    return pd.concat(parts) if parts else vllm_stats


def _engines(rows: pd.DataFrame) -> tuple[Engine, ...]:
    loads = {name: numbers_or_nan(rows[name]) for name in ENGINE_LOADS}
    found = []
    for places in row_groups(rows, IDENTITY, sort=True, dropna=False):
        first = rows.iloc[places[0]]
        running, waiting, kv_cache, throughput = (known(loads[name][places]) for name in ENGINE_LOADS)
        found.append(
            Engine(
                job=str(first["job"]),
                ip=None if pd.isna(first["ip"]) else str(first["ip"]),
                pid=None if pd.isna(first["pid"]) else int(first["pid"]),
                engine_index=None if pd.isna(first["engine_index"]) else int(first["engine_index"]),
                lines=len(places),
                running_mean=_mean(running),
                waiting_mean=_mean(waiting),
                kv_cache_mean=_mean(kv_cache),
                throughput_mean=_mean(throughput),
                throughput_peak=_largest(throughput),
            )
        )
    return tuple(found)


def _load(
    rows: pd.DataFrame, *, job: str | None, thresholds: Thresholds, wait_share: float | None, max_num_seqs: float | None
) -> LoadReading:
    running, waiting = numbers(rows["running"]), numbers(rows["waiting"])
    kv, throughput = numbers(rows["kv_cache_usage"]), numbers(rows["generation_throughput"])
    preempted = numbers(rows["preemptions"])
    capacity = max_num_seqs or (float(np.percentile(running, 99)) if running.size else None)
    printed = int(rows["repeat_count"].fillna(1).sum())
    identity = rows[IDENTITY].drop_duplicates()
    peak, middle = _largest(throughput), _median(throughput)
    load = {
        "lines": len(rows),
        "printed_lines": printed,
        "engines": len(identity),
        "first_line": int(rows["line"].min()) if job is not None and len(rows) else None,
        "last_line": int(rows["line"].max()) if job is not None and len(rows) else None,
        "folded_share": 1 - len(rows) / printed if printed else None,
        "capacity": capacity,
        "capacity_source": None if capacity is None else MAX_NUM_SEQS if max_num_seqs else OWN_P99,
        "running_mean": _mean(running),
        "running_median": _median(running),
        "running_max": _largest(running),
        "running_share": ratio(_mean(running), capacity),
        "waiting_mean": _mean(waiting),
        "waiting_median": _median(waiting),
        "waiting_max": _largest(waiting),
        "empty_queue_share": float(np.mean(waiting == 0)) if waiting.size else None,
        "kv_cache_mean": _mean(kv),
        "kv_cache_max": _largest(kv),
        "kv_full_share": _kv_full_share(rows, thresholds.value("R4", "kv_full")),
        "preemption_lines": int((preempted > 0).sum()) if preempted.size else None,
        "preemption_share": float(np.mean(preempted > 0)) if preempted.size else None,
        "throughput_mean": _mean(throughput),
        "throughput_median": middle,
        "throughput_peak": peak,
        "throughput_share": ratio(_mean(throughput), peak),
        "throughput_gain": throughput_gain(rows),
        "prefix_cache_hit_rate": _mean(numbers(rows["prefix_cache_hit_rate"])),
        "wait_share": wait_share,
    }
    verdict, reason = classify(load, thresholds)
    return LoadReading(job=job, verdict=verdict, reason=reason, **load)  # type: ignore[arg-type]


def classify(load: dict[str, float | int | str | None], thresholds: Thresholds) -> tuple[str, str]:
    """The class of a load and why; pressures first, since a full cache also lowers running."""
    lines = int(load["lines"] or 0)
    needed = thresholds.count(SHARED, "minimum_engine_lines")
    running_share, empty = _number(load["running_share"]), _number(load["empty_queue_share"])
    if lines < needed or running_share is None or empty is None:
        return NOT_ENOUGH_EVIDENCE, f"{lines} engine lines with running and waiting requests, {needed} needed"
    pressure = _pressure(load, thresholds)
    if pressure:
        return pressure
    fed = running_share > thresholds.value("R2", "running_share") or empty < thresholds.value("R2", "idle_queue_share")
    load_text = f"running {100 * running_share:.0f} % of capacity, queue empty in {100 * empty:.1f} % of lines"
    if fed:
        return WELL_USED, load_text
    wait = _number(load["wait_share"])
    if wait is None:
        return NOT_ENOUGH_EVIDENCE, f"{load_text}; the trainer's wait is not logged"
    if wait >= thresholds.value("R1", "wait_share_warn"):
        return UNDER_FED, f"{load_text}, and the trainer waits {100 * wait:.1f} % of step time"
    return OFF_THE_PATH, f"{load_text}, but the trainer waits only {100 * wait:.1f} % of step time"


def _pressure(load: dict[str, float | int | str | None], thresholds: Thresholds) -> tuple[str, str] | None:
    full, preempted = _number(load["kv_full_share"]), _number(load["preemption_share"])
    if full is not None and full > thresholds.value("R4", "kv_full_lines"):
        return KV_BOUND, f"KV cache full with requests waiting in {100 * full:.1f} % of lines"
    if preempted is not None and preempted > thresholds.value("R4", "preemption_lines"):
        return KV_BOUND, f"preemptions in {100 * preempted:.1f} % of lines"
    if is_over_subscribed(load, thresholds):
        return OVER_SUBSCRIBED, "at least as many requests wait as run, and throughput is flat in running"
    return None


def is_over_subscribed(load: dict[str, float | int | str | None], thresholds: Thresholds) -> bool | None:
    """Median waiting ≥ median running (some waiting) with flat throughput; null when a part is missing."""
    waiting, running = _number(load["waiting_median"]), _number(load["running_median"])
    if waiting is None or running is None:
        return None
    if waiting <= 0 or waiting < running:
        return False
    gain = _number(load["throughput_gain"])
    return None if gain is None else gain < thresholds.value("R3", "flat_gain")


def throughput_gain(rows: pd.DataFrame) -> float | None:
    """Throughput gained from the 10th to the 90th percentile of running, ÷ median throughput.

    The slope is Theil–Sen's over at most `SLOPE_SAMPLE` lines, evenly spaced; no spread of running means
    no gain. Null without throughput.
    """
    running, throughput = _both(rows, "running", "generation_throughput")
    if running.size < 3:
        return None
    chosen = np.unique(np.linspace(0, running.size - 1, min(running.size, SLOPE_SAMPLE)).astype(int))
    middle = float(np.median(throughput))
    if middle <= 0:
        return None
    low, high = np.percentile(running, [10, 90])
    spread = float(high - low)
    if spread == 0 or np.unique(running[chosen]).size < 2:
        return 0.0
    slope = float(sen_slope(throughput[chosen], running[chosen]).slope)
    return slope * spread / middle


def _kv_full_share(rows: pd.DataFrame, full: float) -> float | None:
    usage, waiting = _both(rows, "kv_cache_usage", "waiting")
    return float(((usage >= full) & (waiting > 0)).mean()) if usage.size else None


def _both(rows: pd.DataFrame, first: str, second: str) -> tuple[Floats, Floats]:
    """Two columns over the rows that have both."""
    a, b = numbers_or_nan(rows[first]), numbers_or_nan(rows[second])
    both = ~np.isnan(a) & ~np.isnan(b)
    return a[both], b[both]


def numbers(column: pd.Series[float]) -> Floats:
    """A nullable column as floats without its nulls."""
    return known(numbers_or_nan(column))


def numbers_or_nan(column: pd.Series[float]) -> Floats:
    """A nullable column as floats, its nulls as NaN."""
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def known(values: Floats) -> Floats:
    """Those that are there."""
    return values[~np.isnan(values)]


def ratio(part: float | None, whole: float | None) -> float | None:
    """Their ratio; null when one is missing or the whole is 0."""
    return None if part is None or not whole else part / whole


def _number(value: float | int | str | None) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _median(values: Floats) -> float | None:
    return float(np.median(values)) if values.size else None


def _largest(values: Floats) -> float | None:
    return float(values.max()) if values.size else None
