"""How many turns trials took, by outcome."""

from __future__ import annotations

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.report.charts.chart import HEIGHT, WIDTH, Cell, Chart, records, specification
from rl_pipeline.report.formatting import thousands
from rl_pipeline.report.palette import Theme
from rl_pipeline.schema import OUTCOMES

COLUMNS = ("outcome", "turns_from", "turns_to", "trials")


def turns_chart(data: ChartData, theme: Theme) -> Chart | None:
    """None when no trial has a turn count."""
    if not data.turns:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple((b.outcome, b.low, b.high, b.trials) for b in data.turns)
    total = sum(entry.trials for entry in data.turns)
    low, high = _most_frequent(data)
    where = f"{low}" if low == high else f"{low}–{high}"
    longest = max(entry.high for entry in data.turns)
    title = f"Trials with {where} turns are the most frequent; the longest took {longest}"
    subtitle = f"{thousands(total)} trials by number of model turns and outcome (evaluations left out)"
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": [{**record, "end": int(str(record["turns_to"])) + 1} for record in records(COLUMNS, rows)]},
        "mark": {"type": "bar", "tooltip": True, "binSpacing": 1},
        "encoding": {
            "x": {"field": "turns_from", "bin": "binned", "type": "quantitative", "title": "turns"},
            "x2": {"field": "end"},
            "y": {"field": "trials", "type": "quantitative", "title": "trials"},
            "color": {
                "field": "outcome",
                "type": "nominal",
                "scale": {"domain": list(OUTCOMES), "range": [theme.solved, theme.unsolved, theme.unscored]},
                "legend": {"title": None, "orient": "bottom"},
            },
        },
    }
    return Chart(
        name="turns",
        title=title,
        subtitle=subtitle,
        alt=f"Stacked histogram of model turns per trial by outcome. {title}.",
        spec=specification(title, subtitle, theme, body),
        columns=COLUMNS,
        rows=rows,
    )


def _most_frequent(data: ChartData) -> tuple[int, int]:
    """The bin with the most trials over all outcomes; the lowest of several."""
    sums: dict[tuple[int, int], int] = {}
    for entry in data.turns:
        key = (entry.low, entry.high)
        sums[key] = sums.get(key, 0) + entry.trials
    return max(sums, key=lambda key: (sums[key], -key[0]))
