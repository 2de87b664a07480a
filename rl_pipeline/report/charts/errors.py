"""Failed trials by step and exception type, as the batch lines of the log count them."""

from __future__ import annotations

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.error_counts import OTHER_TYPES
from rl_pipeline.report.charts.chart import Cell, Chart, records, rounded, specification
from rl_pipeline.report.charts.stacked import stacked_steps, thrown_away
from rl_pipeline.report.charts.steps_axis import steps_of_run
from rl_pipeline.report.formatting import thousands
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = ("job", "global_step", "steps", "exception_type", "failed_trials", "share_of_trials", "is_canonical")


def error_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no batch line of a training step names an exception."""
    sums: dict[str, int] = {}
    for row in data.errors:
        sums[row.exception_type] = sums.get(row.exception_type, 0) + row.count
    drawn = [row for row in data.errors if row.is_canonical and row.count]
    if not drawn:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (row.job, row.step, row.steps, row.exception_type, row.count, rounded(row.share), row.is_canonical)
        for row in data.errors
        if row.count
    )
    names = dict(zip(sums, theme.series, strict=False))
    hidden = len({(row.job, row.step) for row in data.errors if not row.is_canonical})
    title = f"{_first(sums)} is the most frequent of {thousands(sum(sums.values()))} failures in batch lines"
    subtitle = f"share of the trials in the batch lines since a step's text · dashed: a job begins{thrown_away(hidden)}"
    body = stacked_steps(
        [record for record in records(COLUMNS, rows) if record["is_canonical"]],
        field="exception_type",
        names=names,
        y={"field": "share_of_trials", "title": "failed trials", "axis": {"format": ".0%"}},
        starts=data.reward.starts,
        theme=theme,
        all_steps=steps_of_run(data),
    )
    steps = len({row.step for row in drawn})
    return Chart(
        name="errors_by_step",
        title=title,
        subtitle=subtitle,
        alt=f"Stacked bars of failed trials over {plural(steps, 'step')}, by exception type. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _first(sums: dict[str, int]) -> str:
    """The most frequent type; the rest taken together is not a type."""
    named = {name: number for name, number in sums.items() if name != OTHER_TYPES}
    return max(named, key=lambda name: named[name]) if named else OTHER_TYPES
