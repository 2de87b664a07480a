"""A chart on the page: heading, what is drawn, picture at two widths, legend, its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from rl_pipeline.report.charts.chart import Cell
from rl_pipeline.report.formatting import typographic
from rl_pipeline.report.page.drawing import LegendEntry, legend
from rl_pipeline.report.page.pictures import Picture

MOST_ROWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureView:
    """One figure.

    Attributes:
        name: stem of its files and its id.
        title: what is seen.
        subtitle: what is drawn, with units.
        alt: in words.
        wide: the picture.
        narrow: the same for a phone; None for small ones, which fit.
        legend: colours and signs.
        columns: of its table.
        rows: its numbers as text; at most `MOST_ROWS`.
        left_out: rows that only the CSV has.
        is_small: stands beside another one.
        by_step: whether its marks are steps, so that it is linked with the others by step.
    """

    name: str
    title: str
    subtitle: str
    alt: str
    wide: Markup
    narrow: Markup | None
    legend: tuple[LegendEntry, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int
    is_small: bool
    by_step: bool


def figure(picture: Picture) -> FigureView:
    """The figure of one picture."""
    chart = picture.chart
    return FigureView(
        name=chart.name,
        title=typographic(chart.title),
        subtitle=typographic(chart.subtitle),
        alt=typographic(chart.alt),
        wide=Markup(picture.wide),
        narrow=None if picture.narrow is None else Markup(picture.narrow),
        legend=legend(chart),
        columns=tuple(column.replace("_", " ") for column in chart.columns),
        rows=tuple(tuple(cell(value) for value in row) for row in chart.rows[:MOST_ROWS]),
        left_out=max(0, len(chart.rows) - MOST_ROWS),
        is_small=chart.is_small,
        by_step="global_step" in chart.columns,
    )


def cell(value: Cell) -> str:
    """A number as short as it can be, a flag as a word, nothing as nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def figures(pictures: Mapping[str, Picture], names: Iterable[str]) -> tuple[FigureView, ...]:
    """Those of the named pictures that exist, in the order of the names; `x*` stands for all that begin with x."""
    chosen = {key: pictures[key] for name in names for key in pictures if _is_meant(key, name)}
    return tuple(figure(picture) for picture in chosen.values())


def _is_meant(key: str, name: str) -> bool:
    return key == name or (name.endswith("*") and key.startswith(name[:-1]))
