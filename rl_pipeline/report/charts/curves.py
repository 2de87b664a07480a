"""One quantity over the steps that count: pass@k at full width, and small charts of what shows a broken policy."""

from __future__ import annotations

from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.step_curves import Curve, CurvePoint
from rl_pipeline.report.charts.bounds import (
    ANYWHERE,
    FRACTION,
    NOT_NEGATIVE,
    Bounds,
    cut_words,
    interval_within,
    value_scale,
)
from rl_pipeline.report.charts.chart import (
    ABOVE_NAMES,
    HEIGHT,
    SMALL_HEIGHT,
    SMALL_WIDTH,
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
    steps_of_run,
    warm_up_layer,
    warm_up_stretches,
)
from rl_pipeline.report.formatting import significant
from rl_pipeline.report.palette import Theme
from rl_pipeline.wording import plural

COLUMNS = ("job", "global_step", "steps", "value", "smoothed", "low", "high", "is_below_print_precision")
# Rule whose finding a title states first, by curve.
RULES = {"entropy": "R6", "gradient norm": "R7", "KL to the reference": "R8", "clip fraction": "R9", "staleness": "R10"}
NEVER_NEGATIVE = {"entropy", "gradient norm", "staleness"}
END_POINTS = 5


def curve_charts(data: ChartData, theme: Theme) -> tuple[Chart, ...]:
    """Stability, as far as it was logged."""
    made = (curve_chart(curve, data, theme) for curve in data.stability)
    return tuple(chart for chart in made if chart is not None)


def pass_chart(data: ChartData, theme: Theme) -> Chart | None:
    """pass@k at full width; None when it is not logged."""
    return curve_chart(data.pass_at_k, data, theme, is_small=False) if data.pass_at_k else None


def curve_chart(curve: Curve, data: ChartData, theme: Theme, *, is_small: bool = True) -> Chart | None:
    """None when the quantity was never logged."""
    if not curve.points:
        return None
    bounds = _bounds(curve)
    rows = tuple(_row(point, curve, bounds) for point in curve.points)
    title = stated(data.fired, RULES.get(curve.name, ""), _seen(curve))
    subtitle = f"{curve.metric}{_unit(curve)} by step, with its exponential mean{_remarks(curve, is_small)}"
    x = step_axis([*(point.step for point in curve.points), *steps_of_run(data)])
    label = None if is_small else curve.name
    y: dict[str, Any] = {
        "type": "quantitative",
        "title": label,
        "axis": ABOVE_NAMES,
        "scale": value_scale(_drawn(rows), bounds, padding=8),
    }
    body = {
        "width": SMALL_WIDTH if is_small else WIDTH,
        "height": SMALL_HEIGHT if is_small else HEIGHT,
        "data": {"values": records(COLUMNS, rows)},
        "layer": [
            *warm_up_layer(warm_up_stretches(curve.points), theme),
            band_layer("low", "high", x, y, theme),
            _points(x, y, theme),
            line_layer("smoothed", x, y, theme),
            *restarts_layer(_starts(data, curve, named=not is_small), theme, at=0.5),
        ],
    }
    return Chart(
        name=file_name(curve.name),
        title=title,
        subtitle=subtitle,
        alt=f"Points and smoothed line of {curve.name} over {plural(len(rows), 'step')}. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
        is_small=is_small,
    )


def file_name(name: str) -> str:
    """A name fit for a file: `pass@8` → `pass_at_8`.

    >>> file_name("KL to the reference")
    'kl_to_the_reference'
    """
    return name.lower().replace("@", "_at_").replace(" ", "_")


def _bounds(curve: Curve) -> Bounds:
    if "@" in curve.name or curve.unit.startswith("fraction"):
        return FRACTION
    return NOT_NEGATIVE if curve.name in NEVER_NEGATIVE else ANYWHERE


def _drawn(rows: tuple[tuple[Cell, ...], ...]) -> list[float | None]:
    """Values, and ends of the band."""
    columns = [COLUMNS.index(name) for name in ("value", "low", "high")]
    return [cell if isinstance(cell := row[place], int | float) else None for row in rows for place in columns]


def _band(point: CurvePoint, curve: Curve) -> tuple[float | None, float | None]:
    half = None if curve.error is None else curve.error * TWO_SIDED_95
    return (None, None) if half is None else (point.smoothed - half, point.smoothed + half)


def _row(point: CurvePoint, curve: Curve, bounds: Bounds) -> tuple[Cell, ...]:
    low, high = interval_within(*_band(point, curve), bounds)
    value, smoothed = rounded(point.value), rounded(point.smoothed)
    return (point.job, point.step, point.steps, value, smoothed, low, high, point.below_resolution)


def _points(x: dict[str, Any], y: dict[str, Any], theme: Theme) -> dict[str, Any]:
    return {
        "mark": {"type": "point", "size": 16, "strokeWidth": 1, "tooltip": True},
        "encoding": {
            "x": x,
            "y": {**y, "field": "value"},
            "color": {"value": theme.accent},
            "strokeOpacity": {"value": 0.55},
            "shape": {
                "condition": {"test": "datum.is_below_print_precision", "value": "triangle-down"},
                "value": "circle",
            },
        },
    }


def _starts(data: ChartData, curve: Curve, *, named: bool) -> list[tuple[str, int]]:
    """Starts within the curve; in a small chart names would not fit, and the first needs no rule."""
    first = min(point.step for point in curve.points)
    if named:
        return [(job, step) for job, step in data.reward.starts if step >= first]
    return [("", step) for _, step in data.reward.starts if step > first]


def _seen(curve: Curve) -> str:
    """Begin and end of the smoothed line, in words."""
    values = [point.value for point in curve.points]
    name = curve.name if "@" in curve.name else curve.name[:1].upper() + curve.name[1:]
    if all(point.below_resolution for point in curve.points):
        return f"{name} is printed as 0.0000 in every step"
    if len(set(values)) == 1:
        return f"{name} is {significant(values[0], 3)} in every step"
    n = min(END_POINTS, len(values) // 2) or 1
    early, late = sum(values[:n]) / n, sum(values[-n:]) / n
    return f"{name} {significant(early, 3)} in the first {plural(n, 'step')}, {significant(late, 3)} in the last {n}"


def _unit(curve: Curve) -> str:
    return "" if curve.unit in {"1", ""} else f" ({curve.unit})"


def _remarks(curve: Curve, is_small: bool) -> str:
    number = sum(point.below_resolution for point in curve.points)
    cut = cut_words((_band(point, curve) for point in curve.points), _bounds(curve))
    band = "" if curve.error is None else f" and its 95 % band{cut}"
    marks = "" if is_small else " · shaded: just after a start · dashed: a job begins"
    return band + (f" · triangles: printed as 0.0000 ({number})" if number else "") + marks
