"""Metric blocks as wide rows: one row per block, one column per metric.

A trainer may print a step twice, as a mirror line with all digits and then as a console block with
four decimals. The two become one row: the console block's place, the mirror's values where it has
them. A mirror line whose console block never came, or the other way round, is a row of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline.schema import CONSOLE, MIRROR, NOT_FINITE

NOT_A_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)

LABELS = pa.schema(
    [
        ("job", pa.string()),
        ("block", pa.int64()),
        ("global_step", pa.int64()),
        ("kind", pa.string()),
        ("line", pa.int64()),
        ("logged_at", pa.timestamp("us")),
    ]
)


@dataclass(slots=True)
class Block:
    """One metric block: its labels, and number or text of each metric."""

    job: str
    block: int
    global_step: int | None
    kind: str
    line: int
    logged_at: datetime | None
    source: str
    cells: dict[str, float | str | None] = field(default_factory=dict)


def wide_metrics(metrics: pa.Table, jobs: Sequence[str], as_cell: Callable[[str], str]) -> pa.Table:
    """The blocks as a table: `LABELS`, then every metric by name.

    Args:
        metrics: rows of `step_metrics`.
        jobs: short names in the order in which they shall stand; others follow.
        as_cell: what becomes of a text out of a log; numbers are kept as they are.
    """
    order = {job: number for number, job in enumerate(jobs)}
    blocks = sorted(
        with_mirrors(_blocks(metrics)), key=lambda block: (order.get(block.job, len(order)), block.job, block.block)
    )
    names = sorted({name for block in blocks for name in block.cells})
    labels = [_label_column([getattr(block, label.name) for block in blocks], label, as_cell) for label in LABELS]
    columns = [_metric_column([block.cells.get(name) for block in blocks], as_cell) for name in names]
    return pa.Table.from_arrays(labels + columns, names=[*LABELS.names, *names])


def _blocks(metrics: pa.Table) -> Iterator[Block]:
    """Blocks in the order in which they first occur."""
    found: dict[tuple[str, int, str], Block] = {}
    columns = [*LABELS.names, "source", "metric", "value", "text", "state"]
    for row in zip(*(metrics[name].to_pylist() for name in columns), strict=True):
        job, block, global_step, kind, line, logged_at, source, metric, value, text, state = row
        key = (job, block, source)
        if key not in found:
            found[key] = Block(job, block, global_step, kind, line, logged_at, source)
        found[key].cells[metric] = _cell(value, text, state)
    return iter(found.values())


def _cell(value: float | None, text: str | None, state: str) -> float | str | None:
    """A number, or a text; what is not finite is a number without value, told by its usual word."""
    if value is not None or text is None:
        return value
    return float(text) if state == NOT_FINITE and NOT_A_NUMBER.fullmatch(text) else text


def with_mirrors(blocks: Iterator[Block]) -> list[Block]:
    """The blocks, each mirror line joined to the console block that follows it for the same step."""
    joined: list[Block] = []
    waiting: dict[tuple[str, int | None, str], Block] = {}
    for block in sorted(blocks, key=lambda block: (block.job, block.block)):
        key = (block.job, block.global_step, block.kind)
        if block.source == MIRROR:
            if key in waiting:
                joined.append(waiting[key])
            waiting[key] = block
        elif block.source == CONSOLE and key in waiting:
            joined.append(_joined(block, waiting.pop(key).cells))
        else:
            joined.append(block)
    return [*joined, *waiting.values()]


def _joined(console: Block, mirrored: Mapping[str, float | str | None]) -> Block:
    told = {name: cell for name, cell in mirrored.items() if cell is not None}
    return Block(
        console.job, console.block, console.global_step, console.kind, console.line, console.logged_at, console.source,
        {**console.cells, **told},
    )  # fmt: skip


def _label_column(values: Sequence[Any], label: pa.Field, as_cell: Callable[[str], str]) -> pa.Array:
    return pa.array([as_cell(value) if isinstance(value, str) else value for value in values], label.type)


def _metric_column(cells: Sequence[float | str | None], as_cell: Callable[[str], str]) -> pa.Array:
    """Numbers as they are; a column with a text among them becomes text."""
    if not any(isinstance(cell, str) for cell in cells):
        return pa.array(cells, pa.float64())
    numbers = pa.array([None if isinstance(cell, str) else cell for cell in cells], pa.float64())
    texts = pa.array([as_cell(cell) if isinstance(cell, str) else None for cell in cells], pa.string())
    return pc.coalesce(numbers.cast(pa.string()), texts)
