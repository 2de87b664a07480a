"""How long trials were, by outcome, on a ladder of fixed edges; and the solve rate by context used."""

from __future__ import annotations

import math
from typing import Any

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.analysis.trial_spread import ContextBin, Spread
from rl_pipeline.report.charts.chart import (
    SMALL_HEIGHT,
    SMALL_WIDTH,
    Cell,
    Chart,
    records,
    rounded,
    specification,
)
from rl_pipeline.report.formatting import duration, percent, thousands
from rl_pipeline.report.palette import Theme
from rl_pipeline.schema import OUTCOMES

TOKEN_COLUMNS = ("outcome", "tokens_from", "tokens_below", "trials")
SECOND_COLUMNS = ("outcome", "seconds_from", "seconds_below", "trials")
MANY_DECADES = 2e3
CONTEXT_COLUMNS = ("tokens_per_turn_from", "tokens_per_turn_to", "solve_rate", "low", "high", "scored", "unscored")


def tokens_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no trial has a token count."""
    if data.tokens is None:
        return None
    title = f"Half of the trials write fewer tokens than {_medians(data.tokens, lambda value: thousands(round(value)))}"
    return _spread_chart("tokens", data.tokens, title, "generated tokens per trial", TOKEN_COLUMNS, theme)


def seconds_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no trial has a duration."""
    if data.seconds is None:
        return None
    title = f"Half of the trials keep the agent busy for less than {_medians(data.seconds, duration)}"
    return _spread_chart("durations", data.seconds, title, "seconds of the agent per trial", SECOND_COLUMNS, theme)


def _medians(spread: Spread, written: Any) -> str:  # noqa: ANN401 - a formatter
    parts = [f"{written(spread.medians[name])} ({name})" for name in OUTCOMES if name in spread.medians]
    return ", ".join(parts)


def _spread_chart(name: str, spread: Spread, title: str, what: str, columns: tuple[str, ...], theme: Theme) -> Chart:
    rows: tuple[tuple[Cell, ...], ...] = tuple((b.outcome, b.low, b.high, b.trials) for b in spread.bins)
    without = f" · {thousands(spread.without)} trials without" if spread.without else ""
    subtitle = f"{what}, logarithmic, stacked by outcome{without}"
    return Chart(
        name=name,
        title=title,
        subtitle=subtitle,
        alt=f"Stacked histogram of {what}. {title}.",
        spec=specification(title, subtitle, theme, _spread_body(rows, columns, what, theme)),
        columns=columns,
        rows=rows,
        is_small=True,
    )


def _spread_body(
    rows: tuple[tuple[Cell, ...], ...], columns: tuple[str, ...], what: str, theme: Theme
) -> dict[str, Any]:
    heights: dict[Cell, int] = {}
    values = []
    for record in records(columns, rows):
        below = heights.get(record[columns[1]], 0)
        heights[record[columns[1]]] = below + int(str(record["trials"]))
        values.append({**record, "below": below, "above": heights[record[columns[1]]]})
    edges = [float(str(row[place])) for row in rows for place in (1, 2)]
    return {
        "width": SMALL_WIDTH,
        "height": SMALL_HEIGHT,
        "data": {"values": values},
        "mark": {"type": "rect", "tooltip": True, "stroke": theme.paper, "strokeWidth": 0.5},
        "encoding": {
            "x": {
                "field": columns[1],
                "type": "quantitative",
                "title": what,
                "scale": {"type": "log", "domain": [min(edges), max(edges)], "nice": False},
                "axis": {"format": "~s", "grid": False, "values": _ticks(min(edges), max(edges))},
            },
            "x2": {"field": columns[2]},
            "y": {"field": "below", "type": "quantitative", "title": "trials", "axis": {"tickCount": 4}},
            "y2": {"field": "above"},
            "color": {
                "field": "outcome",
                "type": "nominal",
                "scale": {"domain": list(OUTCOMES), "range": [theme.solved, theme.unsolved, theme.unscored]},
                "legend": {"title": None, "orient": "bottom"},
            },
        },
    }


def _ticks(low: float, high: float) -> list[float]:
    """1, 2, 5 × powers of ten between the two; powers alone over more than three decades."""
    steps = (1.0, 2.0, 5.0) if high / low < MANY_DECADES else (1.0,)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**exponent for exponent in exponents for step in steps if low <= step * 10.0**exponent <= high]


def context_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when fewer than two bins can be filled."""
    bins = data.context
    if not bins:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(_context_row(entry) for entry in bins)
    title = _context_title(bins[0], bins[-1])
    subtitle = "solved of scored trials by mean prompt of their turns (prompt tokens ÷ turns); 95 % Wilson intervals"
    values = [
        {**record, "middle": (e.low * e.high) ** 0.5}
        for record, e in zip(records(CONTEXT_COLUMNS, rows), bins, strict=True)
    ]
    x = {
        "field": "middle",
        "type": "quantitative",
        "title": "prompt tokens per turn",
        "scale": {"type": "log", "domain": [bins[0].low, bins[-1].high], "nice": False},
        "axis": {"format": "~s", "grid": False, "values": _ticks(bins[0].low, bins[-1].high)},
    }
    y = {"type": "quantitative", "title": None, "axis": {"format": ".0%", "tickCount": 5}}
    body = {
        "width": SMALL_WIDTH,
        "height": SMALL_HEIGHT,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "rule", "color": theme.accent, "opacity": 0.35, "strokeWidth": 2},
                "encoding": {
                    "x": {**x, "field": "tokens_per_turn_from"},
                    "x2": {"field": "tokens_per_turn_to"},
                    "y": {**y, "field": "solve_rate", "scale": {"zero": True}},
                },
            },
            {
                "mark": {"type": "rule", "color": theme.accent, "strokeWidth": 1.6},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 44,
                    "opacity": 1,
                    "color": theme.accent,
                    "tooltip": True,
                },
                "encoding": {"x": x, "y": {**y, "field": "solve_rate"}},
            },
        ],
    }
    return Chart(
        name="solve_rate_by_context",
        title=title,
        subtitle=subtitle,
        alt=f"Solve rates with intervals over {len(bins)} lengths of the prompt. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=CONTEXT_COLUMNS,
        rows=rows,
        is_small=True,
    )


def _context_row(entry: ContextBin) -> tuple[Cell, ...]:
    rate = entry.rate
    bounds = (rounded(rate.value), rounded(rate.lower), rounded(rate.upper))
    return (rounded(entry.low), rounded(entry.high), *bounds, rate.n, entry.unscored)


def _context_title(first: ContextBin, last: ContextBin) -> str:
    shares = f"{percent(first.rate.value)} with the shortest prompts, {percent(last.rate.value)} with the longest"
    apart = _apart(first, last)
    if apart is None:
        return f"Solve rate {shares}"
    if not apart:
        return f"Solve rate does not visibly change with context: {shares}"
    falls = (last.rate.value or 0.0) < (first.rate.value or 0.0)
    return f"Solve rate {'falls' if falls else 'rises'} with context: {shares}"


def _apart(first: ContextBin, last: ContextBin) -> bool | None:
    """Whether the two intervals do not touch; None when one is missing."""
    a, b = first.rate, last.rate
    if a.lower is None or a.upper is None or b.lower is None or b.upper is None:
        return None
    return a.lower > b.upper or b.lower > a.upper
