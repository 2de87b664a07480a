"""What all charts over the global step share: the axis, the shaded warm-up, the smoothed curve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.report.palette import Theme

# 97.5 % point of the normal distribution: bands cover 95 % if the noise of the steps is what it was.
TWO_SIDED_95 = 1.959964
FEW_STEPS = 16  # of so few, ticks would stand between steps, too


class WarmUp(NamedTuple):
    """First steps of a link, to be shaded."""

    job: str
    first: int
    last: int


def step_axis(steps: Sequence[int], *, title: str | None = "global step") -> dict[str, Any]:
    """The step axis without empty ends, for steps in any order."""
    domain = [min(steps) - 1, max(steps) + 1]
    return {
        "field": "global_step",
        "type": "quantitative",
        "title": title,
        "axis": whole_steps(min(steps), max(steps)),
        "scale": {"domain": domain, "nice": False, "zero": False},
    }


def steps_of_run(data: ChartData) -> list[int]:
    """All steps that count: an axis that ends before the last one would read as if the rest were not measured."""
    rewards = {point.step for point in data.reward.points if point.is_canonical}
    return sorted(rewards | {part.step for part in data.step_parts if part.is_canonical})


def whole_steps(first: int, last: int) -> dict[str, Any]:
    """Ticks at whole steps; of long runs they are anyway."""
    return {"values": list(range(first, last + 1)), "format": "d"} if last - first < FEW_STEPS else {"tickMinStep": 1}


def warm_up_stretches(points: Iterable[Any]) -> list[WarmUp]:
    """Stretches of successive points with `is_warm_up`, job by job."""
    found: list[WarmUp] = []
    for point in points:
        if not point.is_warm_up:
            continue
        if found and found[-1].job == point.job and point.step == found[-1].last + 1:
            found[-1] = found[-1]._replace(last=point.step)
        else:
            found.append(WarmUp(point.job, point.step, point.step))
    return found


def warm_up_layer(stretches: Sequence[WarmUp], theme: Theme) -> list[dict[str, Any]]:
    """Shaded stretches, half a step wider on both sides."""
    if not stretches:
        return []
    return [
        {
            "data": {"values": [{"from": s.first - 0.5, "to": s.last + 0.5} for s in stretches]},
            "mark": {"type": "rect", "color": theme.wait, "opacity": 0.14},
            "encoding": {"x": {"field": "from", "type": "quantitative"}, "x2": {"field": "to"}},
        }
    ]


def band_layer(low: str, high: str, x: Mapping[str, Any], y: Mapping[str, Any], theme: Theme) -> dict[str, Any]:
    """The interval around a line, between two fields."""
    return {
        "transform": [{"filter": f"isValid(datum.{low})"}],
        "mark": {"type": "area", "color": theme.accent, "opacity": 0.13},
        "encoding": {"x": x, "y": {**y, "field": low}, "y2": {"field": high}},
    }


def line_layer(field: str, x: Mapping[str, Any], y: Mapping[str, Any], theme: Theme) -> dict[str, Any]:
    """A line through the rows that have the field, in step order."""
    return {
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "mark": {"type": "line", "strokeWidth": 2.2, "color": theme.accent},
        "encoding": {"x": x, "y": {**y, "field": field}, "order": {"field": "global_step"}},
    }
