"""Reward over the chain: raw points, the smoothed line with its band, where each job begins, steps thrown away."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData, RewardPoint, RewardSeries
from rl_pipeline.report.charts.bounds import ANYWHERE, NOT_NEGATIVE, Bounds, cut_words, interval_within, value_scale
from rl_pipeline.report.charts.chart import (
    ABOVE_NAMES,
    HEIGHT,
    WIDTH,
    Cell,
    Chart,
    records,
    restarts_layer,
    rounded,
    specification,
    stated,
)
from rl_pipeline.report.charts.steps_axis import (
    TWO_SIDED_95,
    band_layer,
    line_layer,
    step_axis,
    warm_up_layer,
    warm_up_stretches,
)
from rl_pipeline.report.formatting import fixed
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = (
    "job",
    "global_step",
    "reward",
    "smoothed_reward",
    "smoothed_low",
    "smoothed_high",
    "pass_at_k",
    "samples",
    "is_canonical",
    "is_warm_up",
)


def reward_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no step has a reward."""
    series = data.reward
    scored = [point for point in series.points if point.reward is not None]
    if not scored:
        return None
    half = _half_band(data)
    bounds = _bounds(series)
    rows = tuple(_row(point, half, bounds) for point in series.points)
    title, subtitle = stated(data.fired, "R26", _title(series)), _subtitle(data)
    x = step_axis([point.step for point in series.points])
    y: dict[str, Any] = {
        "type": "quantitative",
        "title": "mean reward",
        "axis": ABOVE_NAMES,
        "scale": value_scale(_drawn(rows), bounds, padding=12),
    }
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": records(COLUMNS, rows)},
        "layer": [
            *warm_up_layer(warm_up_stretches(series.points), theme),
            band_layer("smoothed_low", "smoothed_high", x, y, theme),
            _points(x, y, theme),
            line_layer("smoothed_reward", x, y, theme),
            *_ring(data, x, y, theme),
            *restarts_layer(series.starts, theme, at=0.5),
        ],
    }
    return Chart(
        name="reward",
        title=title,
        subtitle=subtitle,
        alt=f"Scatter and smoothed line of the mean reward over {plural(len(scored), 'step')}. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _half_band(data: ChartData) -> float | None:
    """Half the width of the band: two-sided 95 % of one moving average."""
    error = data.checkpoints.standard_error if data.checkpoints else None
    return None if error is None else error * TWO_SIDED_95


def _bounds(series: RewardSeries) -> Bounds:
    """Rewards of a run that never gave a negative one are taken to have no negative mean."""
    return ANYWHERE if any(point.reward < 0 for point in series.points if point.reward is not None) else NOT_NEGATIVE


def _drawn(rows: tuple[tuple[Cell, ...], ...]) -> list[float | None]:
    columns = [COLUMNS.index(name) for name in ("reward", "smoothed_low", "smoothed_high")]
    return [cell if isinstance(cell := row[place], int | float) else None for row in rows for place in columns]


def _band(p: RewardPoint, half: float | None) -> tuple[float | None, float | None]:
    return (None, None) if p.smoothed is None or half is None else (p.smoothed - half, p.smoothed + half)


def _row(p: RewardPoint, half: float | None, bounds: Bounds) -> tuple[Cell, ...]:
    low, high = interval_within(*_band(p, half), bounds)
    return (
        p.job,
        p.step,
        rounded(p.reward),
        rounded(p.smoothed),
        low,
        high,
        rounded(p.pass_at_k),
        p.samples,
        p.is_canonical,
        p.is_warm_up,
    )


def _points(x: dict[str, Any], y: dict[str, Any], theme: Theme) -> dict[str, Any]:
    return {
        "transform": [{"filter": "isValid(datum.reward)"}],
        "mark": {"type": "point", "size": 26, "strokeWidth": 1.2, "tooltip": True},
        "encoding": {
            "x": x,
            "y": {**y, "field": "reward"},
            "color": {"value": theme.accent},
            "strokeOpacity": {"value": 0.6},
            "shape": {"condition": {"test": "datum.is_canonical", "value": "circle"}, "value": "cross"},
        },
    }


def _title(series: RewardSeries) -> str:
    if not series.window:
        return f"Mean reward of {plural(len(series.points), 'step')}"
    early, late = fixed(series.early_mean, 3), fixed(series.late_mean, 3)
    return f"Mean reward {early} in the first {series.window} settled steps, {late} in the last {series.window}"


def _subtitle(data: ChartData) -> str:
    series = data.reward
    crosses = ", crosses: thrown away" if any(not point.is_canonical for point in series.points) else ""
    parts = [f"points: steps{crosses}", "line: exponential mean, newest step weighs 1/3"]
    half = _half_band(data)
    if half is not None:
        cut = cut_words((_band(point, half) for point in series.points), _bounds(series))
        parts.append(f"band: 95 % of that mean{cut}")
    if any(point.is_warm_up for point in series.points):
        parts.append("shaded: just after a start")
    if len(series.starts) > 1:
        parts.append("dashed: a job begins")
    if _is_drawn(data):
        parts.append("ring: checkpoint to keep")
    return " · ".join(parts)


def _is_drawn(data: ChartData) -> bool:
    """Whether the chosen step is on the line."""
    return any(point.step == data.chosen_step and point.smoothed is not None for point in data.reward.points)


def _ring(data: ChartData, x: dict[str, Any], y: dict[str, Any], theme: Theme) -> list[dict[str, Any]]:
    """A ring around the checkpoint to keep, named, where it has a value."""
    if not _is_drawn(data):
        return []
    chosen = f"datum.global_step === {data.chosen_step} && isValid(datum.smoothed_reward)"
    here = {"x": x, "y": {**y, "field": "smoothed_reward"}}
    return [
        {
            "transform": [{"filter": chosen}],
            "mark": {"type": "point", "size": 160, "strokeWidth": 2, "filled": False, "color": theme.ink},
            "encoding": here,
        },
        {
            "transform": [{"filter": chosen}],
            "mark": {
                "type": "text",
                "dy": 26,
                "fontSize": 11,
                "fontWeight": 600,
                "color": theme.ink,
                "stroke": theme.paper,
                "strokeWidth": 4,
                "strokeJoin": "round",
            },
            "encoding": {**here, "text": {"value": f"keep {data.chosen_step}"}},
        },
        {
            "transform": [{"filter": chosen}],
            "mark": {"type": "text", "dy": 26, "fontSize": 11, "fontWeight": 600, "color": theme.ink},
            "encoding": {**here, "text": {"value": f"keep {data.chosen_step}"}},
        },
    ]
