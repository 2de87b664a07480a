"""Each engine over time: its own line in bins of equal length, the busiest engines of each job first.

Lines that Ray folded carry the numbers of one engine only and count once, so an engine's bin rests on the
lines that show it. More than `MOST_ENGINES` engines are not drawn one by one; `left_out` says how many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rl_pipeline.analysis.engine_load import timed_engine_lines
from rl_pipeline.analysis.estimates import FloatArray
from rl_pipeline.analysis.numbers import mean_of
from rl_pipeline.analysis.row_groups import row_groups
from rl_pipeline.units import SECONDS_PER_HOUR

MOST_ENGINES = 32
BINS = 48
LOADS = ["running", "generation_throughput", "kv_cache_usage"]


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
    timed = timed_engine_lines(vllm_stats)
    if timed.empty or timed["pid"].isna().all():
        return None
    times = pd.to_datetime(timed["logged_at"])
    seconds = (times - times.min()).dt.total_seconds()
    width = max(60.0, float(seconds.max()) / BINS)
    table = timed[["job", *LOADS]].assign(place=(seconds // width).astype("int64"), engine=_names(timed))
    order = table.groupby(["job", "engine"], sort=False).size().reset_index()
    kept = list(zip(order["job"], order["engine"], strict=True))
    kept.sort(key=lambda key: (list(order["job"]).index(key[0]), key[1].partition("@")[2], key[1]))
    shown = kept[:MOST_ENGINES]
    keys = list(zip(table["job"], table["engine"], table["place"], strict=True))
    loads = {name: table[name].to_numpy() for name in LOADS}
    cells = []
    for lines in row_groups(table, ["job", "engine", "place"], sort=True):
        job, engine, place = keys[lines[0]]
        if (job, engine) in shown:
            inside = {name: values[lines] for name, values in loads.items()}
            cells.append(_cell(str(job), engine, place, width / SECONDS_PER_HOUR, inside))
    cells.sort(key=lambda cell: (shown.index((cell.job, cell.engine)), cell.hours))
    return EngineCourses(cells=tuple(cells), engines=len(kept), left_out=len(kept) - len(shown))


def _names(lines: pd.DataFrame) -> pd.Series[Any]:
    """The engine of each line; named once for all lines of one."""
    names = pd.Series(None, index=range(len(lines)), dtype=object)
    pids, ips = lines["pid"], lines["ip"]
    for places in row_groups(lines, ["pid", "ip"], sort=False, dropna=False):
        names.iloc[places] = _name(pids.iloc[places[0]], ips.iloc[places[0]])
    return names.set_axis(lines.index)


def _name(pid: object, ip: object) -> str:
    where = ip if isinstance(ip, str) else "driver node"
    return f"{'?' if pd.isna(pid) else int(str(pid))}@{where}"  # type: ignore[call-overload]


def _cell(job: str, engine: str, place: int, length: float, lines: Mapping[str, FloatArray]) -> EngineCell:
    return EngineCell(
        job=job,
        engine=engine,
        hours=place * length,
        length=length,
        lines=lines["running"].size,
        running=mean_of(lines["running"]),
        generation_throughput=mean_of(lines["generation_throughput"]),
        kv_cache_usage=mean_of(lines["kv_cache_usage"]),
    )
