"""The shape of every table on a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
        words: how many columns at the left hold words and not numbers.
    """
    columns = tuple(Column(title=title, is_number=place >= words) for place, title in enumerate(titles.split(" | ")))
    made = tuple(tuple(row) for row in rows)
    assert all(len(row) == len(columns) for row in made), (titles, made)
    return TableView(columns=columns, rows=made)
