"""From the first to the last second: disjoint parts, one after the other, what was lost told apart."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.waterfall import LOST, NEEDED, OUTSIDE, USEFUL, Part, Waterfall
from rl_pipeline.report.charts.chart import WIDTH, Cell, Chart, records, rounded, specification
from rl_pipeline.report.charts.hours_axis import hours_axis
from rl_pipeline.report.formatting import duration, percent
from rl_pipeline.report.palette import Theme
from rl_pipeline.units import SECONDS_PER_HOUR

COLUMNS = ("part", "kind", "hours", "share", "from_hours", "to_hours")
ROW_HEIGHT = 24
LABEL_SHARE = 0.34  # of the axis that a label takes on a phone
BEHIND, BEFORE = "behind", "before"
KINDS = (USEFUL, NEEDED, LOST, OUTSIDE)


def waterfall_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when nothing is timed."""
    fall = data.waterfall
    if fall is None or not fall.total_seconds:
        return None
    rows = _rows(fall)
    title = _title(fall)
    subtitle = f"{fall.covers}; each part begins where the one above it ends"
    return Chart(
        name="waterfall",
        title=title,
        subtitle=subtitle,
        alt=f"Bars one after the other, {len(rows)} parts that add up to {duration(fall.total_seconds)}. {title}.",
        spec=specification(title, subtitle, theme, _body(fall, rows, theme)),
        columns=COLUMNS,
        rows=rows,
    )


def _body(fall: Waterfall, rows: tuple[tuple[Cell, ...], ...], theme: Theme) -> dict[str, Any]:
    kinds = [kind for kind in KINDS if any(row[1] == kind for row in rows)]
    colours = {USEFUL: theme.accent, NEEDED: theme.unscored, LOST: theme.unsolved, OUTSIDE: theme.rule}
    order = [str(row[0]) for row in rows]
    labels = [f"{duration(part.seconds)} · {percent(part.share)}" for part in _shown(fall)]
    y = {"field": "part", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 220, "ticks": False}}
    end = (fall.total_seconds or 0.0) / SECONDS_PER_HOUR
    values = [
        {**record, "label": label, "side": side}
        for record, label, side in zip(records(COLUMNS, rows), labels, _sides(fall), strict=True)
    ]
    scale = {"domain": [0, end], "nice": False}
    x = {"field": "from_hours", "type": "quantitative", "scale": scale, **hours_axis(end)}
    return {
        "width": WIDTH,
        "height": len(rows) * ROW_HEIGHT,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "bar", "height": 15, "tooltip": True, "minBandSize": 1},
                "encoding": {
                    "x": x,
                    "x2": {"field": "to_hours"},
                    "y": y,
                    "color": {
                        "field": "kind",
                        "type": "nominal",
                        "scale": {"domain": kinds, "range": [colours[kind] for kind in kinds]},
                        "legend": {"title": None, "orient": "bottom"},
                    },
                },
            },
            *_labels(x, y, theme),
        ],
    }


def _labels(x: dict[str, Any], y: dict[str, Any], theme: Theme) -> list[dict[str, Any]]:
    """How long each part lasts, beside its bar."""
    return [
        {
            "transform": [{"filter": f"datum.side === '{side}'"}],
            "mark": {"type": "text", "align": align, "dx": shift, "fontSize": 11, "color": theme.ink},
            "encoding": {"x": {**x, "field": field}, "y": y, "text": {"field": "label", "type": "nominal"}},
        }
        for side, align, shift, field in ((BEHIND, "left", 6, "to_hours"), (BEFORE, "right", -6, "from_hours"))
    ]


def _sides(fall: Waterfall) -> list[str]:
    whole, begin, sides = fall.total_seconds or 1.0, 0.0, []
    for part in _shown(fall):
        sides.append(label_side(begin / whole, (begin + part.seconds) / whole))
        begin += part.seconds
    return sides


def label_side(begin: float, end: float) -> str:
    """Where the label of a bar has room; begin and end as shares of the axis.

    Where no side has, it stands behind the bar and the picture grows: before it, it would cover the part's name.
    """
    return BEFORE if 1 - end < LABEL_SHARE <= begin else BEHIND


def _shown(fall: Waterfall) -> list[Part]:
    """Parts that last; an empty one (a timer without time) has nothing to show."""
    return [part for part in fall.parts if part.seconds > 0.5]


def _rows(fall: Waterfall) -> tuple[tuple[Cell, ...], ...]:
    rows, begin = [], 0.0
    for part in _shown(fall):
        end = begin + part.seconds / SECONDS_PER_HOUR
        hours = rounded(part.seconds / SECONDS_PER_HOUR)
        rows.append((part.name, part.kind, hours, rounded(part.share), rounded(begin), rounded(end)))
        begin = end
    return tuple(rows)


def _title(fall: Waterfall) -> str:
    lost = sum(part.seconds for part in fall.parts if part.kind == LOST)
    largest = max(fall.parts, key=lambda part: part.seconds)
    return (
        f"{largest.name[:1].upper()}{largest.name[1:]} is the largest part of {duration(fall.total_seconds)}: "
        f"{percent(largest.share)}; {percent(lost / (fall.total_seconds or 1))} was lost"
    )
