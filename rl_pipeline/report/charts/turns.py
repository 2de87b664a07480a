"""How many turns trials took, by outcome."""

from __future__ import annotations

import json
from typing import Any

from rl_pipeline.analysis.chart_data import ChartData, TurnBin
from rl_pipeline.report.charts.chart import HEIGHT, WIDTH, Cell, Chart, records, specification
from rl_pipeline.report.formatting import thousands
from rl_pipeline.report.palette import Theme
from rl_pipeline.schema import OUTCOMES

COLUMNS = ("outcome", "turns_from", "turns_to", "trials")
MOST_LABELS = 26
FILLED = 0.94  # of a bin's width


def turns_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no trial has a turn count."""
    if not data.turns:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple((b.outcome, b.low, b.high, b.trials) for b in data.turns)
    total = sum(entry.trials for entry in data.turns)
    longest = max(entry.high for entry in data.turns)
    title = f"Trials with {_range(*_most_frequent(data))} turns are the most frequent; the longest took {longest}"
    subtitle = f"{thousands(total)} trials by number of model turns and outcome (evaluations left out)"
    return Chart(
        name="turns",
        title=title,
        subtitle=subtitle,
        alt=f"Stacked histogram of model turns per trial by outcome. {title}.",
        spec=specification(title, subtitle, theme, _body(data, rows, theme)),
        columns=COLUMNS,
        rows=rows,
    )


def _body(data: ChartData, rows: tuple[tuple[Cell, ...], ...], theme: Theme) -> dict[str, Any]:
    width = _width(data.turns)
    values = [
        {
            **record,
            "begin": entry.low - FILLED * 0.5,
            "end": entry.low + width - 1 + FILLED * 0.5,
            "rank": OUTCOMES.index(entry.outcome),
        }
        for record, entry in zip(records(COLUMNS, rows), data.turns, strict=True)
    ]
    lows = sorted({entry.low for entry in data.turns})
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": values},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {
                "field": "begin",
                "bin": "binned",
                "type": "quantitative",
                "title": "turns",
                "scale": {"domain": [lows[0] - 0.7, lows[-1] + width - 0.3], "nice": False, "zero": False},
                "axis": _axis(data.turns, width),
            },
            "x2": {"field": "end"},
            "y": {"field": "trials", "type": "quantitative", "title": "trials"},
            "color": {
                "field": "outcome",
                "type": "nominal",
                "scale": {"domain": list(OUTCOMES), "range": [theme.solved, theme.unsolved, theme.unscored]},
                "legend": {"title": None, "orient": "bottom"},
            },
            "order": {"field": "rank", "type": "quantitative"},
        },
    }


def _axis(bins: tuple[TurnBin, ...], width: int) -> dict[str, Any]:
    """A label under the middle of each bin, as far as there is room: `6–7`, and `≥ 62` under an open one."""
    names = {}
    for entry in bins:
        middle = entry.low + (width - 1) / 2
        is_open = entry.high - entry.low >= width
        names[f"{middle:g}"] = f"≥ {entry.low}" if is_open else _range(entry.low, entry.low + width - 1)
    every = -(-len(names) // MOST_LABELS)
    *equal, last = names
    kept = [middle for place, middle in enumerate(equal) if place % every == 0 and place + every <= len(names)]
    return {
        "grid": False,
        "values": [float(middle) for middle in (*kept, last)],
        "labelExpr": f"({json.dumps(names, ensure_ascii=False)})[datum.value]",
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    }


def _width(bins: tuple[TurnBin, ...]) -> int:
    """Width of the equal bins; the last one may be wider or narrower."""
    last = max(entry.low for entry in bins)
    equal = [entry.high - entry.low + 1 for entry in bins if entry.low < last]
    return equal[0] if equal else max(entry.high - entry.low + 1 for entry in bins)


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def _most_frequent(data: ChartData) -> tuple[int, int]:
    """The bin with the most trials over all outcomes; the lowest of several."""
    sums: dict[tuple[int, int], int] = {}
    for entry in data.turns:
        key = (entry.low, entry.high)
        sums[key] = sums.get(key, 0) + entry.trials
    return max(sums, key=lambda key: (sums[key], -key[0]))
