"""The jobs of the chain side by side: means with their intervals, quantity by quantity."""

from __future__ import annotations

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.job_comparison import JobMeans
from rl_pipeline.report.charts.bounds import (
    ANYWHERE,
    FRACTION,
    NOT_NEGATIVE,
    Bounds,
    cut_words,
    interval_within,
    value_scale,
)
from rl_pipeline.report.charts.chart import SMALL_WIDTH, Cell, Chart, records, rounded, specification
from rl_pipeline.report.charts.curves import file_name
from rl_pipeline.report.formatting import p_value, significant
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = ("job", "mean", "low", "high", "steps")
ROW_HEIGHT = 26
SIGNIFICANT = 0.05
MOST_JOBS = 30


def job_charts(data: ChartData, theme: Theme) -> tuple[Chart, ...]:
    """One chart per quantity that two jobs have; of reward and pass@k the ones without warm-up."""
    names = {entry.quantity for entry in data.jobs}
    chosen = [entry for entry in data.jobs if f"{entry.quantity}, without warm-up" not in names]
    made = (job_chart(entry, theme) for entry in chosen)
    return tuple(chart for chart in made if chart is not None)


def job_chart(entry: JobMeans, theme: Theme) -> Chart | None:
    """None with fewer than two jobs to compare."""
    known = {job: mean for job, mean in entry.means.items() if mean.value is not None}
    if len(known) < 2:
        return None
    bounds, shown = _bounds(entry), list(known.items())[:MOST_JOBS]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (job, rounded(mean.value), *interval_within(mean.lower, mean.upper, bounds), mean.n) for job, mean in shown
    )
    cut = cut_words(((mean.lower, mean.upper) for _, mean in shown), bounds)
    title = _title(entry)
    unit = "" if entry.unit in {"1", "reward"} else f" ({entry.unit})"
    subtitle = f"mean{unit} with 95 % t interval{cut}, {entry.population}; one job's training goes on from another's"
    scale = value_scale((cell for row in rows for cell in row[1:4] if isinstance(cell, float)), bounds, padding=12)
    x = {"type": "quantitative", "title": None, "scale": scale, "axis": {"tickCount": 5}}
    y = {"field": "job", "type": "nominal", "sort": None, "title": None, "axis": {"ticks": False, "domain": False}}
    body = {
        "width": SMALL_WIDTH - 40,
        "height": len(rows) * ROW_HEIGHT,
        "data": {"values": records(COLUMNS, rows)},
        "layer": [
            {
                "mark": {"type": "rule", "color": theme.accent, "strokeWidth": 2},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
            },
            {
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 60,
                    "opacity": 1,
                    "color": theme.accent,
                    "tooltip": True,
                },
                "encoding": {"x": {**x, "field": "mean"}, "y": y},
            },
        ],
    }
    return Chart(
        name=f"jobs_{file_name(entry.quantity.partition(',')[0])}",
        title=title,
        subtitle=subtitle,
        alt=f"Means with intervals of {plural(len(rows), 'job')}. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
        is_small=True,
    )


def _bounds(entry: JobMeans) -> Bounds:
    if entry.unit.startswith("fraction"):
        return FRACTION
    return NOT_NEGATIVE if entry.unit == "s" else ANYWHERE


def _title(entry: JobMeans) -> str:
    """The pairs that differ after Holm's correction, or that none does."""
    name = entry.quantity.partition(",")[0]
    name = name[:1].upper() + name[1:]
    apart = [d for d in entry.differences if d.holm_p is not None and d.holm_p < SIGNIFICANT]
    if not apart:
        return f"{name} does not differ between the jobs"
    first = min(apart, key=lambda d: d.holm_p or 0.0)
    gain = first.mean_difference.value or 0.0
    more = f" and {plural(len(apart) - 1, 'other pair')}" if len(apart) > 1 else ""
    high, low = (first.a, first.b) if gain > 0 else (first.b, first.a)
    unit = " s" if entry.unit == "s" else ""
    return f"{name} of {high} above {low} by {significant(abs(gain), 2)}{unit} (p {_p(first.holm_p)}){more}"


def _p(value: float | None) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"
