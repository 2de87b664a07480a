"""Reward over the chain: raw points, the smoothed line, where each job begins, steps thrown away."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData, RewardSeries
from rl_pipeline.report.charts.chart import (
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
from rl_pipeline.report.formatting import fixed, plural
from rl_pipeline.report.palette import Theme

COLUMNS = ("job", "global_step", "reward", "smoothed_reward", "pass_at_k", "is_canonical", "is_warm_up")


def reward_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no step has a reward."""
    series = data.reward
    scored = [point for point in series.points if point.reward is not None]
    if not scored:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (p.job, p.step, rounded(p.reward), rounded(p.smoothed), rounded(p.pass_at_k), p.is_canonical, p.is_warm_up)
        for p in series.points
    )
    title, subtitle = stated(data.fired, "R26", _title(series)), _subtitle(data)
    x = {
        "field": "global_step",
        "type": "quantitative",
        "title": "global step",
        "axis": {"tickMinStep": 1},
        **_domain(series),
    }
    y: dict[str, Any] = {"type": "quantitative", "title": "mean reward", "scale": {"zero": False, "padding": 12}}
    points = {
        "transform": [{"filter": "isValid(datum.reward)"}],
        "mark": {"type": "point", "size": 26, "strokeWidth": 1.2, "tooltip": True},
        "encoding": {
            "x": x,
            "y": {**y, "field": "reward"},
            "color": {"value": theme.accent},
            "opacity": {"condition": {"test": "datum.is_warm_up", "value": 0.3}, "value": 0.6},
            "shape": {"condition": {"test": "datum.is_canonical", "value": "circle"}, "value": "cross"},
        },
    }
    line = {
        "transform": [{"filter": "isValid(datum.smoothed_reward)"}],
        "mark": {"type": "line", "strokeWidth": 2.2, "color": theme.accent},
        "encoding": {"x": x, "y": {**y, "field": "smoothed_reward"}, "order": {"field": "global_step"}},
    }
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": records(COLUMNS, rows)},
        "layer": [points, line, *_ring(data, x, y, theme), *restarts_layer(series.starts, theme, at=0.5)],
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


def _title(series: RewardSeries) -> str:
    if not series.window:
        return f"Mean reward of {plural(len(series.points), 'step')}"
    early, late = fixed(series.early_mean, 3), fixed(series.late_mean, 3)
    return f"Mean reward {early} in the first {series.window} settled steps, {late} in the last {series.window}"


def _subtitle(data: ChartData) -> str:
    series = data.reward
    crosses = ", crosses: thrown away" if any(not point.is_canonical for point in series.points) else ""
    parts = [f"points: steps (faint: just after a start{crosses})", "line: exponential mean, newest step weighs 1/3"]
    if len(series.starts) > 1:
        parts.append("dashed: a job begins")
    if _is_drawn(data):
        parts.append("ring: checkpoint to keep")
    return " · ".join(parts)


def _domain(series: RewardSeries) -> dict[str, Any]:
    """The step axis without empty ends."""
    steps = [point.step for point in series.points]
    return {"scale": {"domain": [min(steps) - 1, max(steps) + 1], "nice": False, "zero": False}}


def _is_drawn(data: ChartData) -> bool:
    """Whether the chosen step is on the line."""
    return any(point.step == data.chosen_step and point.smoothed is not None for point in data.reward.points)


def _ring(data: ChartData, x: dict[str, Any], y: dict[str, Any], theme: Theme) -> list[dict[str, Any]]:
    """A ring around the checkpoint to keep, where it has a value."""
    if not _is_drawn(data):
        return []
    chosen = f"datum.global_step === {data.chosen_step} && isValid(datum.smoothed_reward)"
    return [
        {
            "transform": [{"filter": chosen}],
            "mark": {"type": "point", "size": 160, "strokeWidth": 2, "filled": False, "color": theme.ink},
            "encoding": {"x": x, "y": {**y, "field": "smoothed_reward"}},
        }
    ]
