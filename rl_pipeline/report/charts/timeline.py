"""The run on one axis: one row per job, with what it spent its time on and what it saved."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.timeline import CLOCK, IN_VAIN, MARKS, PARTS, QUEUE, START_UP, TAIL, TRAINING, Timeline
from rl_pipeline.report.charts.chart import WIDTH, Cell, Chart, records, rounded, specification
from rl_pipeline.report.formatting import duration, moment, significant
from rl_pipeline.report.palette import Theme
from rl_pipeline.units import SECONDS_PER_HOUR
from rl_pipeline.wording import plural

COLUMNS = ("job", "what", "begin_hours", "end_hours", "first_step", "last_step")
ROW_HEIGHT, MOST_ROWS = 50, 40
FIRST_MARKS, MARKS_APART = 13, 8  # pixels below the middle of a job's bar
# Hours and minutes; at midnight the day.
CLOCK_LABEL = "utcFormat(datum.value, utchours(datum.value) + utcminutes(datum.value) === 0 ? '%d %b' : '%H:%M')"
SHAPES = ("triangle-up", "diamond", "circle")


def timeline_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when the run has no step with a time."""
    line = data.timeline
    if line is None:
        return None
    rows: tuple[tuple[Cell, ...], ...] = (
        *((s.job, s.part, rounded(s.begin), rounded(s.end), s.first_step, s.last_step) for s in line.stretches),
        *((m.job, m.what, rounded(m.at), None, m.step, None) for m in line.marks),
    )
    jobs = list(dict.fromkeys(stretch.job for stretch in line.stretches if stretch.part != QUEUE))
    values = [_placed(record, line) for record in records(COLUMNS, rows)]
    title, subtitle = _title(line), _subtitle(line)
    body = {
        "width": WIDTH,
        "height": max(80, min(len(jobs), MOST_ROWS) * ROW_HEIGHT),
        "data": {"values": values},
        "layer": [*_bars(line, jobs, theme), *_marks(line, theme)],
    }
    return Chart(
        name="timeline",
        title=title,
        subtitle=subtitle,
        alt=f"Bars of {plural(len(jobs), 'job')} along the time of the run, with saves and evaluations. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _placed(record: dict[str, Cell], line: Timeline) -> dict[str, Cell]:
    """Begin and end as Vega takes them: milliseconds since 1970 on a clock, hours without one."""
    steps = f"{record['first_step']}–{record['last_step']}"
    label = steps if record["what"] in {TRAINING, IN_VAIN} else ""
    return {**record, "from": _at(record["begin_hours"], line), "to": _at(record["end_hours"], line), "label": label}


def _at(hours: Cell, line: Timeline) -> float | None:
    if hours is None or line.origin is None:
        return None if hours is None else float(hours)
    # The times are shown as they stand in the log, so they are told to the axis as if they were UTC.
    time = line.origin.replace(tzinfo=timezone.utc) + timedelta(hours=float(hours))
    return round(time.timestamp() * 1000)


def _x(line: Timeline, field: str) -> dict[str, Any]:
    if line.axis != CLOCK:
        return {"field": field, "type": "quantitative", "title": "hours inside steps"}
    zone = "UTC" if line.zone == "UTC" else "local time of the node"
    return {
        "field": field,
        "type": "temporal",
        "title": f"time in the logs ({zone})",
        "scale": {"type": "utc"},
        "axis": {"tickCount": 8, "labelExpr": CLOCK_LABEL},
    }


def _bars(line: Timeline, jobs: list[str], theme: Theme) -> list[dict[str, Any]]:
    colours = {
        START_UP: theme.wait,
        TRAINING: theme.accent,
        IN_VAIN: theme.unsolved,
        TAIL: theme.unscored,
        QUEUE: theme.rule,
    }
    present = [part for part in PARTS if any(stretch.part == part for stretch in line.stretches)]
    y = {"field": "job", "type": "nominal", "sort": jobs, "title": None, "axis": {"domain": False, "ticks": False}}
    bars = {
        "transform": [{"filter": {"field": "what", "oneOf": present}}],
        "mark": {"type": "bar", "height": 16, "tooltip": True},
        "encoding": {
            "x": _x(line, "from"),
            "x2": {"field": "to"},
            "y": y,
            "color": {
                "field": "what",
                "type": "nominal",
                "scale": {"domain": present, "range": [colours[part] for part in present]},
                "legend": {"title": None, "orient": "bottom"},
            },
        },
    }
    names = {
        "transform": [{"filter": {"field": "what", "equal": TRAINING}}],
        "mark": {"type": "text", "align": "left", "dy": -15, "fontSize": 10, "color": theme.quiet},
        "encoding": {"x": _x(line, "from"), "y": y, "text": {"field": "label", "type": "nominal"}},
    }
    return [bars, names]


def _marks(line: Timeline, theme: Theme) -> list[dict[str, Any]]:
    """A row of signs below the bar for each kind, since a step often saves both."""
    present = [what for what in MARKS if any(mark.what == what for mark in line.marks)]
    return [
        {
            "transform": [{"filter": {"field": "what", "equal": what}}],
            "mark": {
                "type": "point",
                "filled": True,
                "size": 26,
                "opacity": 0.9,
                "yOffset": FIRST_MARKS + MARKS_APART * place,
                "color": theme.quiet,
            },
            "encoding": {
                "x": _x(line, "from"),
                "y": {"field": "job", "type": "nominal"},
                "shape": {
                    "field": "what",
                    "type": "nominal",
                    "scale": {"domain": present, "range": list(SHAPES[: len(present)])},
                    "legend": {"title": None, "orient": "bottom"},
                },
            },
        }
        for place, what in enumerate(present)
    ]


def _title(line: Timeline) -> str:
    jobs = {stretch.job for stretch in line.stretches if stretch.part != QUEUE}
    hours = max(stretch.end for stretch in line.stretches)
    count = plural(len(jobs), "job")
    if line.axis != CLOCK:
        return f"{count} in {significant(hours, 3)} h of step time; the logs have no common clock"
    waited = sum(stretch.end - stretch.begin for stretch in line.stretches if stretch.part == QUEUE)
    between = f", {duration(waited * SECONDS_PER_HOUR)} of them between jobs" if waited >= 0.005 else ""
    return f"{count} in {duration(hours * SECONDS_PER_HOUR)}{between}"


def _subtitle(line: Timeline) -> str:
    ends = "; ".join(f"{job} {state.replace('_', ' ')}" for job, state in list(line.endings.items())[:MOST_ROWS])
    since = f"from {moment(line.origin, line.zone)} · " if line.origin else ""
    return f"{since}numbers: global steps · how each ended: {ends}"
