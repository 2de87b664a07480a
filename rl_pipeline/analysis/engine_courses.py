"""Each engine over time: its own line in bins of equal length, the busiest engines of each job first.

Lines that Ray folded carry the numbers of one engine only and count once, so an engine's bin rests on the
lines that show it. More than `MOST_ENGINES` engines are not drawn one by one; `left_out` says how many.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.engine_load import engine_lines
from rl_pipeline.analysis.numbers import mean
from rl_pipeline.units import SECONDS_PER_HOUR

MOST_ENGINES = 32
BINS = 48
KEYS = ["ip", "pid", "engine_index"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCell:
    """One engine in one bin: means over its lines.

    Attributes:
        job: short name.
        engine: `pid@ip`.
        hours: begin of the bin, from the first line of all.
        length: of the bin, hours.
        lines: statistics lines.
        running: requests being computed.
        generation_throughput: tokens/s.
        kv_cache_usage: fraction.
    """

    job: str
    engine: str
    hours: float
    length: float
    lines: int
    running: float | None
    generation_throughput: float | None
    kv_cache_usage: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCourses:
    """All cells, engines in order of job and address."""

    cells: tuple[EngineCell, ...]
    engines: int
    left_out: int


def engine_courses(vllm_stats: pd.DataFrame) -> EngineCourses | None:
    """None when no line with a time names an engine."""
    timed = engine_lines(vllm_stats[vllm_stats["logged_at"].notna()])
    if timed.empty or timed["pid"].isna().all():
        return None
    times = pd.to_datetime(timed["logged_at"])
    seconds = (times - times.min()).dt.total_seconds()
    width = max(60.0, float(seconds.max()) / BINS)
    table = timed.assign(
        place=(seconds // width).astype("int64"),
        engine=[_name(pid, ip) for pid, ip in zip(timed["pid"], timed["ip"], strict=True)],
    )
    order = table.groupby(["job", "engine"], sort=False).size().reset_index()
    kept = list(zip(order["job"], order["engine"], strict=True))
    kept.sort(key=lambda key: (list(order["job"]).index(key[0]), key[1].partition("@")[2], key[1]))
    shown = kept[:MOST_ENGINES]
    cells = []
    for (job, engine, place), part in table.groupby(["job", "engine", "place"], sort=True):
        if (job, engine) in shown:
            cells.append(_cell(str(job), str(engine), int(str(place)), width / SECONDS_PER_HOUR, part))
    cells.sort(key=lambda cell: (shown.index((cell.job, cell.engine)), cell.hours))
    return EngineCourses(cells=tuple(cells), engines=len(kept), left_out=len(kept) - len(shown))


def _name(pid: object, ip: object) -> str:
    where = ip if isinstance(ip, str) else "driver node"
    return f"{'?' if pd.isna(pid) else int(str(pid))}@{where}"  # type: ignore[call-overload]


def _cell(job: str, engine: str, place: int, length: float, part: pd.DataFrame) -> EngineCell:
    return EngineCell(
        job=job,
        engine=engine,
        hours=place * length,
        length=length,
        lines=len(part),
        running=mean(part["running"]),
        generation_throughput=mean(part["generation_throughput"]),
        kv_cache_usage=mean(part["kv_cache_usage"]),
    )
