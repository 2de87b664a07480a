"""Room for the texts of a drawing in whatever font a browser draws them.

vl-convert measures texts in a font of its own, Liberation Sans, which is as wide as Arial. A reader's browser may
have neither and take another one: DejaVu Sans, the usual one on Linux, is up to a fifth wider, so that labels would
stick out of the picture, and be cut on paper. The sides of a drawing are therefore moved out until its texts have
room in that font, one of the widest that are used for text; most drawings need a few pixels, many none.

Why not an embedded font: its Latin letters alone weigh more than the pictures. Why not `textLength`: it presses
letters together where there is room.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import east_asian_width
from xml.etree import ElementTree

# Widths of characters in DejaVu Sans in ems, rounded up; a character that is not named is as wide as the widest.
WIDTHS = {
    **dict.fromkeys("ijl'", 0.28),
    **dict.fromkeys(" .,·\u00a0\u202f", 0.32),
    **dict.fromkeys("IJf-/\\|:;", 0.37),
    **dict.fromkeys("rt()[]!", 0.42),
    **dict.fromkeys("sz?_`*–", 0.54),
    **dict.fromkeys('ckvxyTFPL"', 0.62),
    **dict.fromkeys("abdeghnopqu0123456789${}ESY", 0.64),
    **dict.fromkeys("ABCKRVXZ", 0.7),
    **dict.fromkeys("DGHNOQU&", 0.8),
    **dict.fromkeys("wM#+<=>^~−×≥≤", 0.87),
    **dict.fromkeys("mW@%—…", 1.0),
}
WIDEST, FULL_WIDTH = 1.1, 1.3  # others; Chinese, Japanese, Korean and pictograms
BOLD = 1.2  # times as wide
ASCENT, DESCENT = 0.93, 0.24  # of the same font, above and below the line
ANCHORS = {"middle": 0.5, "end": 1.0}
NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"
MOVE = re.compile(rf"(translate|rotate)\(\s*({NUMBER})(?:[\s,]+({NUMBER}))?\s*\)")
FONT_SIZE = 11.0  # Vega's own where a text says none
BOX = re.compile(r'^<svg viewBox="([^"]*)"')


class Style(NamedTuple):
    """What a text takes from the groups around it."""

    anchor: str = "start"
    size: float = FONT_SIZE
    is_bold: bool = False


def with_room(svg: str) -> str:
    """A drawing of the page with its sides moved out as far as a text may reach; in whole pixels, never in."""
    found = BOX.match(svg)
    if found is None:
        return svg
    left, top, width, height = (float(size) for size in found[1].split())
    corners = [corner for corner in _corners(ElementTree.fromstring(svg), 0j, 1 + 0j, Style())]
    new_left = min([left, *(math.floor(corner.real) for corner in corners)])
    new_top = min([top, *(math.floor(corner.imag) for corner in corners)])
    right = max([left + width, *(math.ceil(corner.real) for corner in corners)])
    bottom = max([top + height, *(math.ceil(corner.imag) for corner in corners)])
    box = f"{new_left:g} {new_top:g} {right - new_left:g} {bottom - new_top:g}"
    return f'<svg viewBox="{box}"{svg[found.end() :]}'


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """Pixels that a line of text may take."""
    ems = sum(WIDTHS.get(sign) or (FULL_WIDTH if east_asian_width(sign) in "WF" else WIDEST) for sign in text)
    return ems * size * (BOLD if is_bold else 1.0)


def _corners(node: ElementTree.Element, place: complex, turn: complex, style: Style) -> Iterator[complex]:
    """Corners of the boxes of all texts inside; places are complex numbers, x + yi, and turns factors of length 1."""
    for kind, first, second in MOVE.findall(node.get("transform", "")):
        if kind == "translate":
            place += turn * complex(float(first), float(second or 0))
        else:
            turn *= cmath.exp(1j * math.radians(float(first)))
    style = Style(
        anchor=node.get("text-anchor", style.anchor),
        size=float(node.get("font-size", style.size)),
        is_bold=_is_bold(node.get("font-weight"), before=style.is_bold),
    )
    if node.tag in {"text", "tspan"}:
        place += turn * complex(_moved(node, "x"), _moved(node, "y"))
        if node.text:
            yield from (place + turn * corner for corner in _box(node.text, style))
    for child in node:
        yield from _corners(child, place, turn, style)


def _box(text: str, style: Style) -> Iterator[complex]:
    """Corners of a text that is anchored at 0."""
    width = text_width(text, style.size, is_bold=style.is_bold)
    left = -width * ANCHORS.get(style.anchor, 0.0)
    for x in (left, left + width):
        yield from (complex(x, y * style.size) for y in (-ASCENT, DESCENT))


def _moved(node: ElementTree.Element, axis: str) -> float:
    return sum(float(node.get(name, 0)) for name in (axis, f"d{axis}"))


def _is_bold(weight: str | None, *, before: bool) -> bool:
    if weight is None:
        return before
    return weight == "bold" or (weight.isdigit() and int(weight) >= 600)
