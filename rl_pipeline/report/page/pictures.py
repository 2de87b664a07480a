"""Charts drawn once: the picture of the page at two widths, and the same picture as a file of its own.

Evaluating a specification is what costs time, so each is evaluated once per width. The file adds what the
page says in HTML, title, subtitle and legend, and puts the colours of one theme in the place of the
page's variables.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.drawing import NARROW_WIDTH, Evaluated, LegendEntry, drawing, evaluated, legend
from rl_pipeline.report.page.text_room import with_room
from rl_pipeline.report.palette import FONT, LIGHT, Theme, variables
from rl_pipeline.report.vega import png_of

MARGIN, TITLE_LINE, SUBTITLE_LINE, LEGEND_LINE = 8, 19, 14, 18
CHARACTER = 6.1  # pixels of a character in the legend's size
VARIABLE = re.compile(r"var\((--[\w-]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart made with `palette.PAGE`, and its drawings as SVG.

    Attributes:
        chart: what is drawn.
        wide: without title and legend.
        narrow: the same for a phone; None for small charts, which fit.
        pixels: the PNG file, title and legend included; None where it was not made yet.
    """

    chart: Chart
    wide: str
    narrow: str | None
    pixels: bytes | None = None


def picture_of(chart: Chart) -> Picture:
    """The chart as a picture, drawn in this process."""
    return finished(chart, evaluated(chart))


def finished(chart: Chart, drawings: Evaluated) -> Picture:
    """The picture from what Vega drew of the chart; no specification is evaluated."""
    narrow = None if drawings.narrow is None else drawing(drawings.narrow, f"{chart.name}-{NARROW_WIDTH}")
    picture = Picture(chart=chart, wide=drawing(drawings.wide, f"{chart.name}-w"), narrow=narrow)
    # The pixels are drawn in the font that was measured, so only the page's drawings need more room.
    return replace(
        picture,
        pixels=png(picture),
        wide=with_room(picture.wide),
        narrow=None if narrow is None else with_room(narrow),
    )


def standalone(picture: Picture, theme: Theme = LIGHT) -> str:
    """The picture as an SVG file, title and legend included, in the colours of a theme."""
    left, above, width, height = (float(size) for size in picture.wide.split('"')[1].split())
    head, top = _head(picture.chart)
    foot, bottom = _foot(legend(picture.chart), width)
    whole = top + height + bottom
    # A group and not an inner <svg>: clipping to its edges would double the cost of the pixels.
    inner = picture.wide[picture.wide.index(">") + 1 :].removesuffix("</svg>")
    body = f'<g transform="translate({0 - left:g},{top - above:g})">{inner}</g>'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{whole:g}" '
        f'viewBox="0 0 {width:g} {whole:g}" font-family="{escape(FONT).replace(chr(34), "&quot;")}">'
        f'<rect width="100%" height="100%" fill="var(--paper)"/>{head}{body}'
        f'<g transform="translate(0,{top + height:g})" font-size="11" fill="var(--ink)">{foot}</g></svg>'
    )
    colours = dict(variables(theme))
    return VARIABLE.sub(lambda found: colours[found.group(1)], svg)


def png(picture: Picture) -> bytes:
    """The file as pixels, at twice its size."""
    return png_of(standalone(picture)) if picture.pixels is None else picture.pixels


def write_pixels(pictures: Iterable[Picture], folder: Path) -> None:
    """Each picture as a PNG file."""
    for picture in pictures:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{picture.chart.name}.png").write_bytes(png(picture))


def escape(text: str) -> str:
    """Text between tags; the standard library's function for XML would import a web client."""
    return html.escape(text, quote=False)


def _head(chart: Chart) -> tuple[str, float]:
    """Title and subtitle as the specification wraps them, and how high they stand."""
    lines = [
        *((line, TITLE_LINE, 'font-size="14" font-weight="600" fill="var(--ink)"') for line in _lines(chart, "text")),
        *((line, SUBTITLE_LINE, 'font-size="11" fill="var(--quiet)"') for line in _lines(chart, "subtitle")),
    ]
    made, y = "", float(MARGIN)
    for text, step, style in lines:
        y += step
        made += f'<text x="{MARGIN}" y="{y - 4:g}" {style}>{escape(text)}</text>'
    return made, y + MARGIN


def _lines(chart: Chart, part: str) -> list[str]:
    text = chart.spec["title"][part]
    return [text] if isinstance(text, str) else list(text)


def _foot(entries: Iterable[LegendEntry], width: float) -> tuple[str, float]:
    """Legend entries in as many lines as they need."""
    made, lines = "", 0
    for entry, x, line in _placed(entries, width):
        y, lines = line * LEGEND_LINE + 12, line + 1
        sign = f'<text x="{x:g}" y="{y}">{entry.sign}</text>'
        swatch = f'<rect x="{x:g}" y="{y - 9}" width="9" height="9" fill="{escape(entry.colour)}"/>'
        made += (swatch if entry.colour else sign) + f'<text x="{x + 14:g}" y="{y}">{escape(entry.text)}</text>'
    return made, lines * LEGEND_LINE + MARGIN


def _placed(entries: Iterable[LegendEntry], width: float) -> Iterator[tuple[LegendEntry, float, int]]:
    x, line = float(MARGIN), 0
    for entry in entries:
        needed = 30 + CHARACTER * len(entry.text)
        if x > MARGIN and x + needed > width:
            x, line = float(MARGIN), line + 1
        yield entry, x, line
        x += needed
