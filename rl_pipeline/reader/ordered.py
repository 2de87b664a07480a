"""The regular lines of one window that want to be read in order: one list for each of their properties.

Nothing is made for a line by itself; whoever reads it takes what is needed at its index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any, cast

from rl_pipeline.column_forms import Known, Maps
from rl_pipeline.reader.lines import plain_text, without_suffix
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.reader.regular import Head, OrderedPlan
from rl_pipeline.reader.regular_windows import RegularLines
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import ShapeBook
from rl_pipeline.reader.stamps import DAY


class OrderedLines:
    """Lines in file order. All lists but `sources` have one entry a line, as have the arrays.

    `indexes` are those of the window's lines; `matrix` holds the numbers of each with zeros behind them, `digits` how
    long each is. `source_numbers` are places in `sources`, in which each source stands once.
    """

    def __init__(self, book: ShapeBook, scanned: ScannedWindow, hits: Any, lines: RegularLines) -> None:  # noqa: ANN401
        """`hits`: index of the line of each hit; `lines`: with plans that want order."""
        self._book, self._scanned, self._lines = book, scanned, lines
        indexes = hits[lines.hits]
        self.indexes: list[int] = indexes.tolist()
        self.line_numbers = indexes + scanned.window.line
        self.logged_at = (lines.stamps.days * DAY + lines.stamps.clock).astype("datetime64[us]")
        self.repeat_counts, self.matrix, self.digits = lines.counts, lines.numbers, lines.digits
        self.counts: list[int] = lines.counts.tolist()
        plans = cast(Sequence[OrderedPlan], lines.plans)
        self.plans: list[OrderedPlan] = list(map(plans.__getitem__, lines.owners.tolist()))
        heads, places = book.np.unique(lines.heads, return_inverse=True)
        numbers: dict[Source, int] = {}
        of_heads = [numbers.setdefault(book.heads[head].source, len(numbers)) for head in heads.tolist()]
        self.sources = list(numbers)
        self.source_numbers: list[int] = book.np.array(of_heads, book.np.int64)[places].tolist()
        self._columns: dict[int, list[int]] = {}

    def column(self, number: int) -> list[int]:
        """One number of each line; 0 of those that have fewer."""
        if number not in self._columns:
            width = self.matrix.shape[1]
            self._columns[number] = self.matrix[:, number].tolist() if number < width else [0] * len(self)
        return self._columns[number]

    def moment(self, index: int) -> datetime:
        """The time of a line."""
        found: datetime = self.logged_at[index].item()
        return found

    @cached_property
    def with_leading_zeros(self) -> frozenset[int]:
        """Lines with a number that has more digits than it needs."""
        np = self._book.np
        is_longer = (self.digits > 1) & (self.matrix < 10 ** np.maximum(self.digits - 1, 0))
        return frozenset(np.flatnonzero(is_longer.any(axis=1)).tolist())

    def optional(self, indexes: list[int], number: int) -> Known:
        """One number of some lines, null for those that have fewer."""
        np = self._book.np
        if number >= self.matrix.shape[1]:
            return Known(np.zeros(len(indexes), np.int64), np.zeros(len(indexes), bool))
        return Known(self.matrix[indexes, number], self.digits[indexes, number] > 0)

    def maps(self, indexes: list[int]) -> Maps:
        """The named numbers of some lines as maps; an index of -1 gives an empty one."""
        np, plans = self._book.np, cast(Sequence[OrderedPlan], self._lines.plans)
        of_plans = [plan.names if plan.in_order else () for plan in plans]
        names = {name: number for number, name in enumerate(dict.fromkeys(chain.from_iterable(of_plans)))}
        lengths = np.array([*map(len, of_plans), 0])
        keys = np.zeros((len(lengths), self.matrix.shape[1]), np.int64)
        for number, told in enumerate(of_plans):
            keys[number, : len(told)] = [names[name] for name in told]
        rows = np.array(indexes)
        owners = np.where(rows < 0, len(plans), self._lines.owners[rows])
        is_told = np.arange(keys.shape[1]) < lengths[owners][:, None]
        return Maps(list(names), keys[owners][is_told], self.matrix[rows][is_told], lengths[owners])

    def __len__(self) -> int:
        """How many lines."""
        return len(self.indexes)

    def place(self, index: int) -> tuple[int, int]:
        """Line number and byte offset of a line."""
        line, window = self.indexes[index], self._scanned.window
        return window.line + line, window.offset + self._scanned.span(line)[0]

    def payload(self, index: int) -> str:
        """The text of a line."""
        scanned = self._scanned
        head: Head = self._book.heads[self._lines.heads[index]]
        tail = self._book.tails[self._lines.tails[index]]
        end = scanned.span(self.indexes[index])[1] - 1
        text: bytes = scanned.window.data[int(scanned.ends[self._lines.hits[index]]) : end]
        is_plain = tail.count is None and b"\x1b" not in text
        return head.words + (text.decode("ascii") if is_plain else without_suffix(plain_text(text))[0])

    def message(self, index: int) -> Message:
        """A line in full."""
        line, offset = self.place(index)
        head = self._book.heads[self._lines.heads[index]]
        return Message(
            line=line,
            byte_offset=offset,
            source=head.source,
            payload=self.payload(index),
            logged_at=self.moment(index),
            logger="loguru",
            level=head.level,
            origin=head.origin,
            repeat_count=self.counts[index],
        )


@dataclass(frozen=True, slots=True)
class OrderedRun:
    """Lines `start` to `stop` of a window, with nothing between them; the window's last run `is_last`."""

    lines: OrderedLines
    start: int
    stop: int
    is_last: bool = False
