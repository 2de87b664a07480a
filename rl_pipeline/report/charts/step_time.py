"""Where the time of each step went: parts that do not overlap, stacked."""

from __future__ import annotations

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.step_parts import UNATTRIBUTED
from rl_pipeline.report.charts.chart import Cell, Chart, records, rounded, specification, stated
from rl_pipeline.report.charts.stacked import stacked_steps, thrown_away
from rl_pipeline.report.charts.steps_axis import steps_of_run
from rl_pipeline.report.formatting import duration, percent
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = ("job", "global_step", "steps", "part", "seconds_per_step", "is_canonical")
WAIT = "wait_for_generation_buffer"


def step_time_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no step has a time."""
    kept = [part for part in data.step_parts if part.is_canonical]
    sums: dict[str, float] = {}
    for part in kept:
        sums[part.part] = sums.get(part.part, 0.0) + part.seconds * part.steps
    whole = sum(sums.values())
    if not whole:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (part.job, part.step, part.steps, part.part, rounded(part.seconds), part.is_canonical)
        for part in data.step_parts
        if part.part in sums
    )
    names = sorted(sums, key=lambda name: (name == UNATTRIBUTED, -sums[name], name))
    hidden = len({(part.job, part.step) for part in data.step_parts if not part.is_canonical})
    steps = sum({part.step: part.steps for part in kept}.values())
    counted = plural(steps, "step")
    seen = f"{names[0]} takes {percent(sums[names[0]] / whole)} of the {duration(whole)} of {counted} that count"
    title = stated(data.fired, "R1", seen) if names[0] == WAIT else seen
    subtitle = f"seconds of each step by part; parts do not overlap · dashed: a job begins{thrown_away(hidden)}"
    body = stacked_steps(
        [record for record in records(COLUMNS, rows) if record["is_canonical"]],
        field="part",
        names=_colours(names, theme),
        y={"field": "seconds_per_step", "title": "seconds per step"},
        starts=data.reward.starts,
        theme=theme,
        all_steps=steps_of_run(data),
    )
    return Chart(
        name="step_time",
        title=title,
        subtitle=subtitle,
        alt=f"Stacked bars of step time over {plural(steps, 'step')}, by part. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _colours(names: list[str], theme: Theme) -> dict[str, str]:
    """Waiting is always amber, what nobody timed is grey, the others take the series' colours in turn."""
    named = {WAIT: theme.wait, UNATTRIBUTED: theme.unscored}
    free = [colour for place, colour in enumerate(theme.series) if place not in {4, 7}]
    others = [name for name in names if name not in named]
    turn = {name: free[place % len(free)] for place, name in enumerate(others)}
    return {name: named.get(name) or turn[name] for name in names}
