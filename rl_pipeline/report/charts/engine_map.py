"""Every engine over time: the stronger the colour, the more requests it computes."""

from __future__ import annotations

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.engine_courses import EngineCell, EngineCourses
from rl_pipeline.report.charts.chart import WIDTH, Cell, Chart, records, rounded, specification
from rl_pipeline.report.charts.hours_axis import hours_axis
from rl_pipeline.report.formatting import fixed
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = (
    "job", "engine", "hours", "lines", "running_requests", "generation_tokens_per_s", "kv_cache_usage",
)  # fmt: skip
ROW_HEIGHT = 15
FAINTEST = 0.2  # opacity of an engine that computes nothing: seen on light and dark paper, unlike one without a line


def engine_map_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no line names an engine."""
    courses = data.engine_courses
    if courses is None or not courses.cells:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(_row(cell) for cell in courses.cells)
    length = courses.cells[0].length
    order = list(dict.fromkeys(f"{cell.engine} {cell.job}" for cell in courses.cells))
    values = [
        {**record, "name": f"{cell.engine} {cell.job}", "to": cell.hours + length}
        for record, cell in zip(records(COLUMNS, rows), courses.cells, strict=True)
    ]
    title = _title(courses)
    left_out = f" · {plural(courses.left_out, 'further engine')} left out" if courses.left_out else ""
    subtitle = (
        f"pid@address, one row per engine and job; colour: mean running requests in {length * 60:.0f} min, "
        f"from 0 (faint) to {fixed(_largest(courses), 1)} (strong); empty: no line{left_out}"
    )
    end = max(cell.hours for cell in courses.cells) + length
    body = {
        "width": WIDTH,
        "height": len(order) * ROW_HEIGHT,
        "data": {"values": values},
        "mark": {"type": "rect", "tooltip": True, "color": theme.accent},
        "encoding": {
            "x": {
                "field": "hours",
                "type": "quantitative",
                "scale": {"domain": [0, end], "nice": False},
                **hours_axis(end, "since the first statistics line"),
            },
            "x2": {"field": "to"},
            "y": {
                "field": "name",
                "type": "nominal",
                "sort": order,
                "title": None,
                "axis": {"labelFontSize": 9, "ticks": False, "labelExpr": "split(datum.label, ' job')[0]"},
            },
            "opacity": {
                "field": "running_requests",
                "type": "quantitative",
                "scale": {"range": [FAINTEST, 1], "zero": True},
                "legend": None,
            },
        },
    }
    return Chart(
        name="engine_map",
        title=title,
        subtitle=subtitle,
        alt=f"A grid by time of {plural(len(order), 'row')}, each an engine of one job, coloured by running requests. "
        f"{title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _largest(courses: EngineCourses) -> float:
    return max((cell.running for cell in courses.cells if cell.running is not None), default=0.0)


def _row(cell: EngineCell) -> tuple[Cell, ...]:
    return (
        cell.job,
        cell.engine,
        rounded(cell.hours),
        cell.lines,
        rounded(cell.running),
        rounded(cell.generation_throughput),
        rounded(cell.kv_cache_usage),
    )


def _title(courses: EngineCourses) -> str:
    means: dict[str, list[float]] = {}
    for cell in courses.cells:
        if cell.running is not None:
            means.setdefault(f"{cell.engine} {cell.job}", []).append(cell.running)
    averages = [sum(values) / len(values) for values in means.values()]
    if not averages:
        return f"{plural(courses.engines, 'engine')} over time"
    low, high = fixed(min(averages), 1), fixed(max(averages), 1)
    return f"Engines compute between {low} and {high} requests at a time on average, each in each job"
