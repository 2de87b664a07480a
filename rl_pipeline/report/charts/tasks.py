"""Tasks by what became of their trials, and those that changed between the first and the last third."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.trial_analysis import TaskSplit
from rl_pipeline.report.charts.chart import SMALL_HEIGHT, SMALL_WIDTH, Cell, Chart, records, rounded, specification
from rl_pipeline.report.formatting import percent, thousands
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = ("tasks_that_are", "tasks", "share", "of_tasks")
ROW_HEIGHT = 30
ALWAYS, SOMETIMES, NEVER = "solved every time", "solved sometimes", "never solved"
NEWLY, NO_LONGER = "newly solved", "no longer solved"


def tasks_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no scored trial names a task."""
    split = data.tasks
    if split is None or not split.tasks:
        return None
    rows = _rows(data, split)
    title = (
        f"{thousands(split.always)} of {plural(split.tasks, 'task')} are solved every time, "
        f"{thousands(split.never)} never"
    )
    changed = _compared(data)
    subtitle = f"tasks with a scored trial; {_change_words(data, changed)}"
    return Chart(
        name="tasks",
        title=title,
        subtitle=subtitle,
        alt=f"Bars of the shares of tasks by what became of their trials. {title}.",
        spec=specification(title, subtitle, theme, _body(rows, theme)),
        columns=COLUMNS,
        rows=rows,
        is_small=True,
    )


def _body(rows: tuple[tuple[Cell, ...], ...], theme: Theme) -> dict[str, Any]:
    values = [
        {**record, "label": f"{thousands(int(str(row[1])))} · {percent(float(str(row[2])))}"}
        for record, row in zip(records(COLUMNS, rows), rows, strict=True)
    ]
    names = [str(row[0]) for row in rows]
    colours = {ALWAYS: theme.solved, SOMETIMES: theme.accent, NEVER: theme.unsolved}
    y = {
        "field": COLUMNS[0],
        "type": "nominal",
        "sort": names,
        "title": None,
        "axis": {"ticks": False, "domain": False},
    }
    x = {"field": "share", "type": "quantitative", "title": "share of tasks", "axis": {"format": ".0%", "tickCount": 4}}
    return {
        "width": SMALL_WIDTH - 80,
        "height": max(SMALL_HEIGHT, len(rows) * ROW_HEIGHT),
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "bar", "height": 16, "tooltip": True},
                "encoding": {
                    "x": {**x, "scale": {"domain": [0, 1]}},
                    "y": y,
                    "color": {
                        "field": COLUMNS[0],
                        "type": "nominal",
                        "scale": {
                            "domain": names,
                            "range": [
                                colours.get(name, theme.solved if name == NEWLY else theme.unsolved) for name in names
                            ],
                        },
                        "legend": None,
                    },
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 11, "color": theme.ink},
                "encoding": {
                    "x": {"field": "share", "type": "quantitative"},
                    "y": y,
                    "text": {"field": "label", "type": "nominal"},
                },
            },
        ],
    }


def _compared(data: ChartData) -> int:
    return len(data.task_changes.changes) if data.task_changes else 0


def _rows(data: ChartData, split: TaskSplit) -> tuple[tuple[Cell, ...], ...]:
    counts = [(ALWAYS, split.always), (SOMETIMES, split.mixed), (NEVER, split.never)]
    rows: list[tuple[Cell, ...]] = [(name, n, rounded(n / split.tasks), split.tasks) for name, n in counts]
    changes, compared = data.task_changes, _compared(data)
    if changes is not None and compared:
        for name, tasks in ((NEWLY, changes.newly_solved), (NO_LONGER, changes.no_longer_solved)):
            rows.append((name, len(tasks), rounded(len(tasks) / compared), compared))
    return tuple(rows)


def _change_words(data: ChartData, compared: int) -> str:
    if compared:
        return f"newly and no longer: of {plural(compared, 'task')} with enough trials in the first and the last third"
    reason = data.task_changes.reason if data.task_changes else None
    return f"change over the run not measurable: {reason or 'no trials'}"
