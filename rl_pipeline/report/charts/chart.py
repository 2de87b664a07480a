"""What every chart has: a title that says what is seen, units, alternative text, its numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_pipeline.report.palette import Theme, vega_config

VEGA_LITE = "https://vega.github.io/schema/vega-lite/v5.json"  # names the grammar; nothing is fetched
WIDTH, HEIGHT = 760, 260
SMALL_WIDTH, SMALL_HEIGHT = 380, 170  # two of these stand beside each other on a page
TITLE_PIXELS, SUBTITLE_PIXELS = 7.4, 5.4  # mean width of a character in both sizes
ABOVE_NAMES = {"titleY": -28}  # of a vertical axis, where names of jobs stand above the plot
LABEL_SHARE = 0.2  # of the step axis that a job's name may take on a narrow page
DIGITS = 7  # of numbers in a chart: finer than a pixel, and short enough to read

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One picture.

    Attributes:
        name: stem of its files.
        title: what is seen, made from the numbers.
        subtitle: what is drawn, with units.
        alt: the picture in words, for those who do not see it.
        spec: Vega-Lite, complete, with its data inside.
        columns: titles of its table, with units.
        rows: its numbers.
        is_small: drawn at half the width, to stand beside another one.
    """

    name: str
    title: str
    subtitle: str
    alt: str
    spec: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    is_small: bool = False


def specification(title: str, subtitle: str, theme: Theme, body: Mapping[str, Any]) -> dict[str, Any]:
    """A complete specification around the marks of one chart; title and subtitle are wrapped to its width."""
    width = body.get("width", WIDTH)
    return {
        "$schema": VEGA_LITE,
        "title": {"text": _lines(title, width / TITLE_PIXELS), "subtitle": _lines(subtitle, width / SUBTITLE_PIXELS)},
        "config": vega_config(theme),
        **body,
    }


def _lines(text: str, characters: float) -> str | list[str]:
    lines = textwrap.wrap(text, round(characters))
    return lines if len(lines) > 1 else text


def stated(fired: Mapping[str, str], rule: str, seen: str) -> str:
    """The title: the finding of a rule if it fired, then what is seen."""
    return f"{fired[rule]}: {seen[:1].lower()}{seen[1:]}" if rule in fired else seen


def records(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> list[dict[str, Cell]]:
    """Rows as Vega-Lite takes them; absent values stay null and are not drawn.

    `row` is the place in the chart's table: a page finds by it what to tell about a mark.
    """
    names = tuple(columns)
    return [{**dict(zip(names, row, strict=True)), "row": place} for place, row in enumerate(rows)]


def rounded(value: float | None) -> float | None:
    """A number to the chart's digits."""
    return None if value is None else float(f"{value:.{DIGITS}g}")


def restarts_layer(starts: Sequence[tuple[str, int]], theme: Theme, *, at: float = 0.0) -> list[dict[str, Any]]:
    """Dashed rules where a job begins, named on top.

    Args:
        starts: (job, first global step).
        theme: colours.
        at: shift of the rule in steps, so that it stands before the first point.
    """
    values = [
        {"job": job if height is not None else "", "start": step - at, "height": height or 0}
        for (job, step), height in zip(starts, _label_heights([step for _, step in starts]), strict=True)
    ]
    rule = {
        "data": {"values": values},
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": theme.quiet, "opacity": 0.8},
        "encoding": {"x": {"field": "start", "type": "quantitative"}},
    }
    name = {
        "data": {"values": values},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 3, "color": theme.quiet, "fontSize": 10},
        "encoding": {
            "x": {"field": "start", "type": "quantitative"},
            "y": {"value": -2},
            "yOffset": {"field": "height", "type": "quantitative", "scale": None},
            "text": {"field": "job", "type": "nominal"},
        },
    }
    return [rule, name]


def _label_heights(steps: Sequence[int]) -> list[int | None]:
    """Pixels by which each name is raised so that none covers another; None where there is no room."""
    span = (max(steps) - min(steps)) if steps else 0
    last: dict[int, int] = {}
    heights: list[int | None] = []
    for step in steps:
        free = [raised for raised in (0, -12) if raised not in last or step - last[raised] >= LABEL_SHARE * span]
        heights.append(free[0] if free else None)
        if free:
            last[free[0]] = step
    return heights
