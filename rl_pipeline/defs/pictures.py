"""Charts on Dagster's pages: the same pictures as in the report, behind the button that long Markdown gets.

A picture is Markdown with the chart as an SVG in a data URI, which the UI renders without asking anybody
for anything. It is far longer than `metadata.INLINE_LIMIT`, so the page first shows "Show Markdown"; the
small chart beside it (`metadata.sparkline`) is what stands there at once.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence

import dagster as dg

from rl_pipeline.defs.metadata import INLINE_LIMIT, cell
from rl_pipeline.report.formatting import percent
from rl_pipeline.report.markdown_escape import markdown_escape
from rl_pipeline.report.page.pictures import Picture, standalone
from rl_pipeline.report.palette import LIGHT

PREFIX = "picture_"  # sorts the pictures of a page together
PICTURE_LIMIT = 400_000  # characters; a larger one would weigh on the event log and is left to the report
BAR_WIDTH, BAR_HEIGHT, MOST_PARTS = 320, 18, 6
COLOURS_OF_TIME = {
    "training": LIGHT.accent,
    "generation": LIGHT.accent,
    "wait": LIGHT.wait,
    "queue between jobs": LIGHT.rule,
    "start-up": LIGHT.unscored,
    "slow first steps": LIGHT.unsolved,
    "steps trained in vain": LIGHT.bad,
}
# What the page of each result shows, in order; charts that were not drawn are skipped.
OF_REPORT = ("timeline", "reward", "step_time", "waterfall", "engine_load", "outcomes_over_time", "checkpoints")
OF_FINDINGS = ("reward", "step_time", "failures_over_time")
OF_COMPARISON = ("jobs_reward", "jobs_step_time", "jobs_wait")


def shown(picture: Picture) -> dg.MetadataValue:
    """One picture; its title in words where it would be too large."""
    chart = picture.chart
    svg = base64.b64encode(standalone(picture).encode()).decode()
    if len(svg) > PICTURE_LIMIT:
        return dg.MetadataValue.md(f"{markdown_escape(chart.title)} (in the report)")
    return dg.MetadataValue.md(f"![{markdown_escape(chart.alt)}](data:image/svg+xml;base64,{svg})")


def pictures(drawn: Iterable[Picture], names: Iterable[str]) -> dict[str, dg.MetadataValue]:
    """The named ones as metadata."""
    by_name = {picture.chart.name: picture for picture in drawn}
    return {f"{PREFIX}{name}": shown(by_name[name]) for name in names if name in by_name}


def stacked_bar(parts: Mapping[str, float], colours: Mapping[str, str]) -> dg.MetadataValue | None:
    """Parts of a whole as one bar that the UI shows at once, the shares in words below it; None without any.

    Args:
        parts: size of each, in order; small ones at the end are told together.
        colours: by part; the series' colours in turn for the rest.
    """
    whole = sum(parts.values())
    if whole <= 0:
        return None
    parts_shown = sorted(((name, size) for name, size in parts.items() if size > 0), key=lambda item: -item[1])[
        :MOST_PARTS
    ]
    begin, bars = 0.0, ""
    for place, (name, size) in enumerate(parts_shown):
        width, fill = BAR_WIDTH * size / whole, colours.get(name, LIGHT.series[place])
        bars += f'<path fill="{fill}" d="M{begin:.0f} 0h{max(1.0, width):.0f}v{BAR_HEIGHT}H{begin:.0f}z"/>'
        begin += width
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{BAR_WIDTH}" height="{BAR_HEIGHT}">{bars}</svg>'
    words = " · ".join(f"{cell(name)} {percent(size / whole)}" for name, size in parts_shown)
    text = f"![{words}](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})\n\n{words}"
    return dg.MetadataValue.md(text if len(text) < INLINE_LIMIT else words)


def outcome_bar(outcomes: Mapping[str, float]) -> dg.MetadataValue | None:
    """Trials by outcome."""
    return stacked_bar(outcomes, {"solved": LIGHT.solved, "unsolved": LIGHT.unsolved, "unscored": LIGHT.unscored})


def kinds_bar(kinds: Sequence[str]) -> dg.MetadataValue | None:
    """Rows by kind."""
    return stacked_bar({kind: float(kinds.count(kind)) for kind in dict.fromkeys(kinds)}, {})


def severity_bar(counts: Mapping[str, int]) -> dg.MetadataValue | None:
    """Findings by severity, in the colours of the report."""
    colours = {
        "critical": LIGHT.bad,
        "high": LIGHT.bad,
        "medium": LIGHT.warn,
        "low": LIGHT.unscored,
        "info": LIGHT.rule,
    }
    return stacked_bar({severity: float(number) for severity, number in counts.items()}, colours)


def time_bar(seconds: Mapping[str, float]) -> dg.MetadataValue | None:
    """Where the time of a run went."""
    return stacked_bar(seconds, COLOURS_OF_TIME)
