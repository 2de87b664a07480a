"""A small line beside a number: one SVG of a few hundred bytes, in the colour of its text."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 120, 26


def spark(values: Sequence[float], *, width: int = WIDTH, height: int = HEIGHT) -> Markup:
    """The line of values in order; empty with fewer than two. Decoration: the numbers stand beside it."""
    if len(values) < 2:
        return Markup("")
    low, high = min(values), max(values)
    spread, last = (high - low) or 1.0, len(values) - 1
    flat = high == low
    points = " ".join(
        f"{_short(1 + place * (width - 2) / last)},"
        f"{_short(height / 2 if flat else 2 + (high - value) / spread * (height - 4))}"
        for place, value in enumerate(values)
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        '<polyline points="{}"/></svg>'
    ).format(width, height, points)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
