"""The one place that names colours, light and dark.

Series colours are those of Okabe and Ito (2008, "Color universal design"), which stay apart for the
common kinds of colour blindness, darkened or lightened until they stand out from the paper. A colour
means one thing on all charts: accent is what the trainer did, waiting is amber, failures are vermilion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

FONT = "Inter, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours of one kind of paper, as CSS hex.

    Attributes:
        ground: of the page, around the paper.
        paper: what charts and tables stand on.
        ink: text.
        quiet: text that explains.
        rule: thin lines.
        accent: what the trainer did.
        solved: trials with a reward.
        unsolved: trials without one, and what was lost.
        unscored: trials nobody scored, and what nobody timed.
        wait: waiting.
        bad: findings of high severity.
        warn: findings of medium severity.
        series: everything else, in order.
    """

    ground: str
    paper: str
    ink: str
    quiet: str
    rule: str
    accent: str
    solved: str
    unsolved: str
    unscored: str
    wait: str
    bad: str
    warn: str
    series: tuple[str, ...]


LIGHT = Theme(
    ground="#f8f7f4",
    paper="#ffffff",
    ink="#1b1f24",
    quiet="#5b6470",
    rule="#d9dde2",
    accent="#0b5fa5",
    solved="#00795a",
    unsolved="#c65300",
    unscored="#8a8f98",
    wait="#d99a00",
    bad="#a3243b",
    warn="#9a4d00",
    series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8a8f98", "#5b4636"),
)
DARK = Theme(
    ground="#111417",
    paper="#191d21",
    ink="#e8eaed",
    quiet="#a3abb5",
    rule="#353b42",
    accent="#6db5f2",
    solved="#3cc79a",
    unsolved="#f0894a",
    unscored="#8d949d",
    wait="#f0b93a",
    bad="#f58a9b",
    warn="#f0a24a",
    series=("#5aa9e6", "#f0894a", "#3cc79a", "#e39bc4", "#f0b93a", "#8fd0f5", "#b794d6", "#a3abb5", "#c4a98f"),
)


def variables(theme: Theme) -> Iterator[tuple[str, str]]:
    """(CSS variable, colour) of a theme: `--ink`, …, and `--series-0`, … in order."""
    for field in fields(theme):
        if field.name == "series":
            yield from ((f"--series-{place}", colour) for place, colour in enumerate(theme.series))
        else:
            yield f"--{field.name}", getattr(theme, field.name)


def page_theme() -> Theme:
    """A theme whose colours are the page's CSS variables, so that one picture serves light, dark and print."""
    names = {field.name: f"var(--{field.name})" for field in fields(Theme) if field.name != "series"}
    return Theme(**names, series=tuple(f"var(--series-{place})" for place in range(len(LIGHT.series))))


PAGE = page_theme()


def vega_config(theme: Theme) -> dict[str, Any]:
    """The look of every chart as a Vega-Lite configuration."""
    return {
        "background": theme.paper,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "domainColor": theme.rule,
            "gridColor": theme.rule,
            "gridOpacity": 0.6,
            "tickColor": theme.rule,
            "labelColor": theme.quiet,
            "titleColor": theme.quiet,
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 11,
        },
        "axisX": {"grid": False},
        # Above the axis, where it is read without turning the head.
        "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "start", "titleX": 0, "titleY": -8},
        "legend": {"labelColor": theme.ink, "titleColor": theme.quiet, "titleFontWeight": "normal", "labelLimit": 260},
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": theme.ink,
            "subtitleColor": theme.quiet,
            "fontSize": 14,
            "fontWeight": 600,
            "subtitleFontSize": 11,
            "offset": 12,
        },
    }
