"""The shape of every table on a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NUMBER = re.compile(r"[<> ]*[-+−]?\d|\[[-+−]?\d|—$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's title, and whether its cells are numbers (set to the right)."""

    title: str
    is_number: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """Cells as text, row by row; every row has one cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def table(titles: str, rows: Iterable[Iterable[str]], *, words: int = 1) -> TableView:
    """A table from titles separated by ` | `.

    Args:
        titles: column titles.
        rows: cells.
        words: how many columns at the left hold words, whatever is in them; further ones do when a cell does.
    """
    made = tuple(tuple(row) for row in rows)
    columns = tuple(
        Column(title=title, is_number=place >= words and all(_is_number(row[place]) for row in made))
        for place, title in enumerate(titles.split(" | "))
    )
    assert all(len(row) == len(columns) for row in made), (titles, made)
    return TableView(columns=columns, rows=made)


def _is_number(cell: str) -> bool:
    """Whether a cell belongs at the right: a number with or without unit, an interval, or nothing."""
    return not cell or NUMBER.match(cell) is not None
