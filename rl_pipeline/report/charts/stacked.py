"""Bars over the global step, stacked by a name: the shared form of the error and the time chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rl_pipeline.report.charts.chart import ABOVE_NAMES, HEIGHT, WIDTH, Cell, restarts_layer
from rl_pipeline.report.charts.steps_axis import whole_steps
from rl_pipeline.report.palette import Theme


def stacked_steps(
    values: Sequence[Mapping[str, Cell]],
    *,
    field: str,
    names: Mapping[str, str],
    y: Mapping[str, Any],
    starts: Sequence[tuple[str, int]],
    theme: Theme,
    all_steps: Sequence[int] = (),
) -> dict[str, Any]:
    """The body of a specification.

    Args:
        values: one record per step and name, with `global_step`, `steps` (rows in the bar) and `field`.
        field: what the colour shows.
        names: its values in the order of stacking, with their colours.
        y: field and axis of the height.
        starts: (job, first global step) of each link.
        theme: colours.
        all_steps: of the run, if some have no bar.
    """
    order = {name: place for place, name in enumerate(names)}
    drawn = [{**value, "rank": order[str(value[field])]} for value in values]
    firsts = [int(str(value["global_step"])) for value in values]
    widest = max(int(str(value["steps"])) for value in values)
    first, last = min([*firsts, *all_steps]), max([*(step + widest - 1 for step in firsts), *all_steps])
    domain = [first - 0.5, last + 0.5]
    x = {
        "field": "global_step",
        "type": "quantitative",
        "title": "global step",
        "scale": {"domain": domain, "nice": False, "zero": False},
        "axis": whole_steps(first, last),
    }
    pixels = WIDTH / (domain[1] - domain[0]) * widest
    bars = {
        "mark": {"type": "bar", "tooltip": True, "width": round(max(1.0, 0.88 * pixels), 2)},
        "encoding": {
            "x": x,
            "y": {"type": "quantitative", "stack": "zero", **y, "axis": {**y.get("axis", {}), **ABOVE_NAMES}},
            "color": {
                "field": field,
                "type": "nominal",
                "scale": {"domain": list(names), "range": list(names.values())},
                "legend": {"title": None, "orient": "bottom", "columns": 3},
            },
            "order": {"field": "rank", "type": "ordinal"},
        },
    }
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": drawn},
        "layer": [bars, *restarts_layer(starts, theme, at=0.5)],
    }


def thrown_away(number: int) -> str:
    """The words for rows that are in the table and not in the picture."""
    return f" · {number} thrown away at a restart, in the table only" if number else ""
