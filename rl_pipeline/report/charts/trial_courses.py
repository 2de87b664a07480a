"""Trials over time: how they ended, and which failures came when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.trial_course import CourseCell, TrialCourse
from rl_pipeline.report.charts.chart import WIDTH, Cell, Chart, records, rounded, specification
from rl_pipeline.report.charts.hours_axis import hours_axis
from rl_pipeline.report.formatting import moment, percent, thousands
from rl_pipeline.report.palette import Theme
from rl_pipeline.schema import OUTCOMES, SOLVED
from rl_pipeline.wording import plural

OUTCOME_COLUMNS = ("begins_at", "hours", "outcome", "trials", "share", "trials_in_bin")
FAILURE_COLUMNS = ("begins_at", "hours", "exception_class", "trials", "share", "trials_in_bin")
COURSE_HEIGHT, FEW = 200, 30


def outcome_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no trial has an end time."""
    course = data.trial_course
    if course is None:
        return None
    rows = _rows(course.outcomes)
    names = dict(zip(OUTCOMES, (theme.solved, theme.unsolved, theme.unscored), strict=True))
    title = _outcome_title(course)
    subtitle = f"share of the trials that ended in each {course.minutes:g} min, by outcome{_remarks(course)}"
    return Chart(
        name="outcomes_over_time",
        title=title,
        subtitle=subtitle,
        alt=f"Stacked bars of trial outcomes over time. {title}.",
        spec=specification(title, subtitle, theme, _body(course, rows, OUTCOME_COLUMNS, names, top=1.0)),
        columns=OUTCOME_COLUMNS,
        rows=rows,
    )


def failure_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no trial with an end time has an exception."""
    course = data.trial_course
    if course is None or not course.failures:
        return None
    rows = _rows(course.failures)
    sums: dict[str, int] = {}
    for cell in course.failures:
        kind = cell.kind.replace("_", " ")
        sums[kind] = sums.get(kind, 0) + cell.trials
    order = sorted(sums, key=lambda kind: (-sums[kind], kind))
    names = {kind: theme.series[place % len(theme.series)] for place, kind in enumerate(order)}
    first = order[0]
    title = (
        f"{_words(first)} is the most frequent class of exception: {thousands(sums[first])} of "
        f"{thousands(sum(sums.values()))} trials that ended with one"
    )
    subtitle = f"share of all trials that ended in each {course.minutes:g} min, by class{_remarks(course)}"
    return Chart(
        name="failures_over_time",
        title=title,
        subtitle=subtitle,
        alt=f"Stacked bars of trials with an exception over time, by class. {title}.",
        spec=specification(title, subtitle, theme, _body(course, rows, FAILURE_COLUMNS, names)),
        columns=FAILURE_COLUMNS,
        rows=rows,
    )


def _words(name: str) -> str:
    return name[:1].upper() + name[1:]


def _remarks(course: TrialCourse) -> str:
    left_out = f" · {thousands(course.without_time)} without an end time left out" if course.without_time else ""
    few = len({cell.hours for cell in course.outcomes if cell.of_trials < _fewest(course)})
    in_table = f" · {plural(few, 'bin')} of fewer than {_fewest(course)} trials in the table only" if few else ""
    return in_table + left_out


def _fewest(course: TrialCourse) -> int:
    """Trials that a bin must hold to be drawn: a quarter of the middle bin, at most `FEW`."""
    sizes = sorted({cell.hours: cell.of_trials for cell in course.outcomes}.values())
    return max(1, min(FEW, sizes[len(sizes) // 2] // 4))


def _rows(cells: Sequence[CourseCell]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (moment(c.started_at), rounded(c.hours), c.kind.replace("_", " "), c.trials, rounded(c.share), c.of_trials)
        for c in cells
    )


def _body(
    course: TrialCourse,
    rows: tuple[tuple[Cell, ...], ...],
    columns: tuple[str, ...],
    names: dict[str, str],
    *,
    top: float | None = None,
) -> dict[str, Any]:
    # A bin at the end of the run may hold a handful of trials: its shares say nothing.
    fewest = _fewest(course)
    width, rank = course.minutes / 60, {name: place for place, name in enumerate(names)}
    values = [
        {**record, "to": float(str(record["hours"])) + width * 0.94, "rank": rank[str(record[columns[2]])]}
        for record in records(columns, rows)
        if int(str(record["trials_in_bin"])) >= fewest
    ]
    end = max(cell.hours for cell in course.outcomes) + width
    told = hours_axis(end, f"since {moment(course.outcomes[0].started_at, course.zone)}")
    return {
        "width": WIDTH,
        "height": COURSE_HEIGHT,
        "data": {"values": values},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {
                "field": "hours",
                "type": "quantitative",
                "bin": "binned",
                "title": told["title"],
                "scale": {"nice": False, "zero": True},
                "axis": {**told.get("axis", {}), "grid": False},
            },
            "x2": {"field": "to"},
            "y": {
                "field": "share",
                "type": "quantitative",
                "stack": "zero",
                "title": "trials",
                "axis": {"format": ".0%"},
                **({"scale": {"domain": [0, top]}} if top else {}),
            },
            "color": {
                "field": columns[2],
                "type": "nominal",
                "scale": {"domain": list(names), "range": list(names.values())},
                "legend": {"title": None, "orient": "bottom", "columns": 3},
            },
            "order": {"field": "rank", "type": "quantitative"},
        },
    }


def _outcome_title(course: TrialCourse) -> str:
    """Solved shares of the first and the last third of the bins, by trials."""
    bins = sorted({cell.hours for cell in course.outcomes})
    third = max(1, len(bins) // 3)
    early, late = _solved(course, set(bins[:third])), _solved(course, set(bins[-third:]))
    if len(bins) < 3:
        return f"{percent(_solved(course, set(bins)))} of the trials are solved"
    return f"{percent(early)} of the trials are solved in the first third of the time, {percent(late)} in the last"


def _solved(course: TrialCourse, bins: set[float]) -> float:
    cells = [cell for cell in course.outcomes if cell.hours in bins]
    solved = sum(cell.trials for cell in cells if cell.kind == SOLVED)
    return solved / sum(cell.trials for cell in cells)
