"""Marks where pictures belong, so that a page is written in one process and its pictures are drawn in others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.pictures import Picture


def stand_ins(charts: Sequence[Chart], secret: str) -> tuple[Picture, ...]:
    """Pictures that are only marks.

    Args:
        charts: what will be drawn.
        secret: random letters that no text of a page holds.
    """
    return tuple(
        Picture(chart=chart, wide=_mark(secret, place, "wide"), narrow=None if chart.is_small else _mark(secret, place))
        for place, chart in enumerate(charts)
    )


def with_pictures(page: str, pictures: Sequence[Picture], secret: str) -> str:
    """The page with pictures in the place of their marks; it is looked through once, whatever stands in it."""
    drawings = {
        _mark(secret, place, width): drawing or ""
        for place, picture in enumerate(pictures)
        for width, drawing in (("wide", picture.wide), ("narrow", picture.narrow))
    }
    first, *rest = page.split(f"[{secret}")
    parts = ((drawings[f"[{secret}{mark}]"], text) for mark, text in (part.split("]", 1) for part in rest))
    return "".join([first, *chain.from_iterable(parts)])


def _mark(secret: str, place: int, width: str = "narrow") -> str:
    return f"[{secret} {place} {width}]"
