"""Checkpoints that could be kept: the moving average of each with its error, the choice ringed."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.checkpoints import Candidate, CheckpointChoice
from rl_pipeline.report.charts.chart import (
    ABOVE_NAMES,
    WIDTH,
    Cell,
    Chart,
    records,
    restarts_layer,
    rounded,
    specification,
)
from rl_pipeline.report.charts.steps_axis import step_axis
from rl_pipeline.report.formatting import fixed
from rl_pipeline.report.palette import Theme

COLUMNS = ("global_step", "moving_average", "low", "high", "reward", "standing")
CHOSEN, TIED, WORSE, EXCLUDED = "chosen", "not told apart from it", "below", "left out"
CHECKPOINT_HEIGHT = 180


def checkpoint_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when there is nothing to choose."""
    choice = data.checkpoints
    if choice is None or choice.step is None:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        _row(entry, choice) for entry in choice.candidates if entry.ema is not None
    )
    title = _title(choice)
    subtitle = (
        "exponential mean of the reward at each checkpoint ± one standard error; the mean counts unscored samples as 0"
    )
    x = step_axis([int(str(row[0])) for row in rows])
    y: dict[str, Any] = {
        "type": "quantitative",
        "title": "moving average",
        "axis": ABOVE_NAMES,
        "scale": {"zero": False, "padding": 8},
    }
    names = {CHOSEN: theme.ink, TIED: theme.accent, WORSE: theme.unscored, EXCLUDED: theme.rule}
    present = [name for name in names if any(row[5] == name for row in rows)]
    colour = {
        "field": "standing",
        "type": "nominal",
        "scale": {"domain": present, "range": [names[name] for name in present]},
        "legend": {"title": None, "orient": "bottom"},
    }
    body = {
        "width": WIDTH,
        "height": CHECKPOINT_HEIGHT,
        "data": {"values": records(COLUMNS, rows)},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "tooltip": True},
                "encoding": {"x": x, "y": {**y, "field": "moving_average"}, "color": colour},
            },
            {
                "transform": [{"filter": {"field": "standing", "equal": CHOSEN}}],
                "mark": {"type": "point", "filled": False, "size": 220, "strokeWidth": 2, "color": theme.ink},
                "encoding": {"x": x, "y": {**y, "field": "moving_average"}},
            },
            *restarts_layer(_starts(data, rows), theme, at=0.5),
        ],
    }
    return Chart(
        name="checkpoints",
        title=title,
        subtitle=subtitle,
        alt=f"Points with error bars of {len(rows)} checkpoints. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _starts(data: ChartData, rows: tuple[tuple[Cell, ...], ...]) -> list[tuple[str, int]]:
    first = min(int(str(row[0])) for row in rows)
    return [(job, step) for job, step in data.reward.starts if step >= first]


def _row(entry: Candidate, choice: CheckpointChoice) -> tuple[Cell, ...]:
    error, average = choice.standard_error, entry.ema or 0.0
    low, high = (None, None) if error is None else (rounded(average - error), rounded(average + error))
    return (entry.global_step, rounded(entry.ema), low, high, rounded(entry.reward), _standing(entry, choice))


def _standing(entry: Candidate, choice: CheckpointChoice) -> str:
    if entry.global_step == choice.step:
        return CHOSEN
    if entry.excluded:
        return EXCLUDED
    return TIED if entry.tied else WORSE


def _title(choice: CheckpointChoice) -> str:
    best = f"Step {choice.step} has the best moving average, {fixed(choice.ema, 3)}"
    if not choice.tied_steps:
        return best
    return f"{best}, and cannot be told apart from {', '.join(str(step) for step in choice.tied_steps)}"
