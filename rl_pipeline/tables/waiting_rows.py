"""Rows that wait to become a table: single ones, and blocks of metrics that have their columns at hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from rl_pipeline.metric_block import MetricBlock
from rl_pipeline.schema import Row


class WaitingRows:
    """Rows of one table in their order."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        """`rows`: the first ones."""
        self._parts: list[list[Row] | MetricBlock] = [list(rows)]
        self._count = len(rows)

    def __len__(self) -> int:
        """How many rows."""
        return self._count

    def append(self, row: Row) -> None:
        """Take one more row."""
        last = self._parts[-1]
        if not isinstance(last, list):
            last = []
            self._parts.append(last)
        last.append(row)
        self._count += 1

    def append_block(self, block: MetricBlock) -> None:
        """Take the rows of a block."""
        self._parts.append(block)
        self._count += len(block)

    def row(self, index: int) -> Row:
        """One row."""
        for part in self._parts:
            if index < len(part):
                return part[index]
            index -= len(part)
        raise IndexError(index)

    def columns(self, names: Sequence[str]) -> list[Sequence[Any]]:
        """The columns of all rows."""
        parts = [_columns_of(part, names) for part in self._parts if part]
        if len(parts) == 1:
            return parts[0]
        return [list(chain.from_iterable(columns)) for columns in zip(*parts, strict=True)] or [()] * len(names)


def _columns_of(rows: list[Row] | MetricBlock, names: Sequence[str]) -> list[Sequence[Any]]:
    if isinstance(rows, MetricBlock):
        columns = rows.columns()
        return [columns[name] for name in names]
    return list(zip(*map(attrgetter(*names), rows), strict=True))
