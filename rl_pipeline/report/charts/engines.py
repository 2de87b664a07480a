"""Engine load over time: requests, throughput and cache, one above the other on one clock."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.engine_bins import EngineBin
from rl_pipeline.report.charts.chart import WIDTH, Cell, Chart, records, rounded, specification, stated
from rl_pipeline.report.charts.hours_axis import hours_axis
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = (
    "job",
    "started_at",
    "hours",
    "lines",
    "running",
    "waiting",
    "max_waiting",
    "generation_tokens_per_s",
    "kv_cache_usage",
)
PANEL_HEIGHT = 90


def engine_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no statistics line has a time."""
    bins = data.engine_bins
    if not bins:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(_row(entry) for entry in bins)
    title, subtitle = (
        stated(data.fired, "R2", _title(bins)),
        f"means per engine in bins of {bins[0].minutes:g} min · colour: job",
    )
    jobs = list(dict.fromkeys(entry.job for entry in bins))
    panels = [
        _panel("running", "running requests", jobs, theme),
        _panel("max_waiting", "most waiting requests", jobs, theme, is_zero=not any(e.max_waiting for e in bins)),
        _panel("generation_tokens_per_s", "generated tokens/s", jobs, theme),
        _panel("kv_cache_usage", "KV cache in use", jobs, theme, form=".0%"),
    ]
    told = hours_axis(bins[-1].hours, "since the first statistics line")
    for panel in panels:
        panel["encoding"]["x"] |= {**told, "title": told["title"] if panel is panels[-1] else None}
    body = {
        "data": {"values": records(COLUMNS, rows)},
        "vconcat": panels,
        "spacing": 14,
        "resolve": {"scale": {"x": "shared"}},
    }
    return Chart(
        name="engine_load",
        title=title,
        subtitle=subtitle,
        alt=f"Four lines over {bins[-1].hours:.1f} hours: running requests, waiting requests, tokens per second "
        f"and KV cache use per engine. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _row(entry: EngineBin) -> tuple[Cell, ...]:
    return (
        entry.job,
        entry.started_at.isoformat(),
        rounded(entry.hours),
        entry.lines,
        rounded(entry.running),
        rounded(entry.waiting),
        rounded(entry.max_waiting),
        rounded(entry.generation_throughput),
        rounded(entry.kv_cache_usage),
    )


def _title(bins: tuple[EngineBin, ...]) -> str:
    running = [entry.running for entry in bins if entry.running is not None]
    queued = sum(1 for entry in bins if entry.max_waiting)
    if not running:
        return "Engine load over time"
    low, high = min(running), max(running)
    seen = f"{queued} of {plural(len(bins), 'bin')} see a queue" if queued else "no request waits"
    return f"Between {low:.1f} and {high:.1f} requests run on an engine; {seen}"


def _panel(
    name: str, title: str, jobs: list[str], theme: Theme, *, form: str = "", is_zero: bool = False
) -> dict[str, Any]:
    axis = {"title": title, "tickCount": 1 if is_zero else 4, **({"format": form} if form else {})}
    scale = {"domain": [0, 1]} if is_zero else {"zero": True}
    return {
        "width": WIDTH,
        "height": PANEL_HEIGHT,
        "transform": [{"filter": f"isValid(datum.{name})"}],
        "mark": {"type": "line", "strokeWidth": 1.6, "tooltip": True, "point": {"size": 8}},
        "encoding": {
            "x": {"field": "hours", "type": "quantitative", "scale": {"nice": False}},
            "y": {"field": name, "type": "quantitative", "axis": axis, "scale": scale},
            "color": {
                "field": "job",
                "type": "nominal",
                "sort": None,
                "scale": {"domain": jobs, "range": [theme.series[i % len(theme.series)] for i in range(len(jobs))]},
                "legend": {"title": None, "orient": "bottom"},
            },
        },
    }
