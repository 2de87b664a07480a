"""Engine statistics in the published layout; no verdict, since the published one is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from rl_pipeline.analysis.engine_load import EngineLoad
from rl_pipeline.report.formatting import ABSENT, count, fixed, percent, published_percent, thousands
from rl_pipeline.report.views.table import TableView, table


@dataclass(frozen=True, slots=True, kw_only=True)
class Indicator:
    """One line under a job: what it is called, its published numbers, and what they are."""

    label: str
    numbers: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilizationView:
    """The indicators of one job."""

    job: str
    indicators: tuple[Indicator, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLoadView:
    """The engine part of the published layout."""

    summary: TableView
    utilization: tuple[UtilizationView, ...]
    hidden_lines: str
    preemptions_measured: bool


def engine_load_view(engines: tuple[EngineLoad, ...]) -> EngineLoadView | None:
    """None when no log has a statistics line."""
    if not engines:
        return None
    printed, seen = sum(load.printed_lines for load in engines), sum(load.lines for load in engines)
    return EngineLoadView(
        summary=table(
            "Log | Avg Running/Engine | Avg Waiting/Engine | Avg Gen Throughput/Engine | Avg KV Cache % "
            "| Avg Prefix Hit % | Engines Seen | Lines Read | Lines Printed",
            (_summary_row(load) for load in engines),
        ),
        utilization=tuple(UtilizationView(job=load.job, indicators=_indicators(load)) for load in engines),
        hidden_lines=f"{thousands(seen)} of {thousands(printed)} printed lines ({percent(seen / printed)})",
        preemptions_measured=any(load.preemption_lines for load in engines),
    )


def _summary_row(load: EngineLoad) -> tuple[str, ...]:
    return (
        load.job,
        fixed(load.avg_running, 1),
        fixed(load.avg_waiting, 1),
        _throughput(load.avg_gen_throughput),
        published_percent(load.avg_kv_cache),
        published_percent(load.avg_prefix_hit),
        count(load.engines),
        count(load.lines),
        count(load.printed_lines),
    )


def _throughput(value: float | None) -> str:
    return ABSENT if value is None else f"{fixed(value, 1)} tok/s"


def _indicators(load: EngineLoad) -> tuple[Indicator, ...]:
    """The published five lines; maxima are over the sum of the engines of one second."""
    return (
        Indicator(
            label="Running requests/engine",
            numbers=f"avg={fixed(load.avg_running, 1)}, max={count(load.max_running)}",
            note=f"max is over sums of a second; largest in one line: {count(load.max_running_one)}",
        ),
        Indicator(
            label="Waiting requests",
            numbers=f"avg={fixed(load.avg_waiting, 1)}, max={count(load.max_waiting)}",
            note=f"largest in one line: {count(load.max_waiting_one)}; "
            f"lines with a waiting request: {percent(load.waiting_share)}",
        ),
        Indicator(
            label="Generation throughput/engine",
            numbers=f"avg={_throughput(load.avg_gen_throughput)}, max={_throughput(load.max_gen_throughput)}",
            note=f"largest in one line: {_throughput(load.max_gen_throughput_one)}",
        ),
        Indicator(
            label="KV cache usage",
            numbers=f"avg={published_percent(load.avg_kv_cache)}",
            note="share of the cache in use",
        ),
        Indicator(
            label="Prefix cache hit rate",
            numbers=f"avg={published_percent(load.avg_prefix_hit)}",
            note="high by construction where agents send their history again every turn",
        ),
    )
