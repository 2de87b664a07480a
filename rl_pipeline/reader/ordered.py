"""The regular lines of one window that want to be read in order: one list for each of their properties.

Nothing is made for a line by itself; whoever reads it takes what is needed at its index.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from rl_pipeline.reader.lines import plain_text, without_suffix
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.reader.regular import Head, OrderedPlan
from rl_pipeline.reader.regular_windows import RegularGroup
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import ShapeBook
from rl_pipeline.reader.stamps import DAY

MOST_NUMBERS = 16  # of a line that is read in order


class OrderedLines:
    """Lines in file order. All lists have one entry a line, and `logged_at`, `line_numbers`, `matrix` one row.

    `indexes` are those of the window's lines; `matrix` holds `numbers` with zeros behind them.
    """

    def __init__(self, book: ShapeBook, scanned: ScannedWindow, hits: Any, groups: list[RegularGroup]) -> None:  # noqa: ANN401
        """`hits`: index of the line of each hit; `groups`: with plans that want order."""
        np = book.np
        self._book, self._scanned = book, scanned
        places = np.concatenate([group.hits for group in groups])
        order = np.argsort(places)
        self._hits = places[order]
        indexes = hits[self._hits]
        self.indexes: list[int] = indexes.tolist()
        self.line_numbers = indexes + scanned.window.line
        microseconds = np.concatenate([group.stamps.days * DAY + group.stamps.clock for group in groups])[order]
        self.logged_at = microseconds.astype("datetime64[us]")
        self.moments: list[datetime] = self.logged_at.tolist()
        self.repeat_counts = np.concatenate([group.counts for group in groups])[order]
        self.counts: list[int] = self.repeat_counts.tolist()
        owners = np.repeat(np.arange(len(groups)), [len(group.hits) for group in groups])[order].tolist()
        self.plans: list[OrderedPlan] = [groups[owner].plan for owner in owners]
        self._tails = [groups[owner].tail for owner in owners]
        self._heads = np.concatenate([group.heads for group in groups])[order].tolist()
        self.sources: list[Source] = [book.heads[head].source for head in self._heads]
        width = max(group.numbers.shape[1] for group in groups)
        self.matrix = _padded(np, [group.numbers for group in groups], width)[order]
        self.numbers: list[list[int]] = self.matrix.tolist()
        self._digits = (groups, width, order)

    @cached_property
    def digits(self) -> list[list[int]]:
        """How many digits each of the numbers has."""
        groups, width, order = self._digits
        rows: list[list[int]] = _padded(self._book.np, [group.digits for group in groups], width)[order].tolist()
        return rows

    def __len__(self) -> int:
        """How many lines."""
        return len(self.indexes)

    def place(self, index: int) -> tuple[int, int]:
        """Line number and byte offset of a line."""
        line, window = self.indexes[index], self._scanned.window
        return window.line + line, window.offset + self._scanned.edge_list[line]

    def payload(self, index: int) -> str:
        """The text of a line."""
        scanned = self._scanned
        head: Head = self._book.heads[self._heads[index]]
        tail = self._book.tails[self._tails[index]]
        end = scanned.edge_list[self.indexes[index] + 1] - 1
        text: bytes = scanned.window.data[int(scanned.ends[self._hits[index]]) : end]
        is_plain = tail.count is None and not tail.fixed
        return head.words + (text.decode("ascii") if is_plain else without_suffix(plain_text(text))[0])

    def message(self, index: int) -> Message:
        """A line in full."""
        line, offset = self.place(index)
        head = self._book.heads[self._heads[index]]
        return Message(
            line=line,
            byte_offset=offset,
            source=head.source,
            payload=self.payload(index),
            logged_at=self.moments[index],
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


def _padded(np: Any, matrices: list[Any], width: int) -> Any:  # noqa: ANN401 - numpy and its arrays
    """Matrices of different widths below each other."""
    return np.concatenate([np.pad(matrix, ((0, 0), (0, width - matrix.shape[1]))) for matrix in matrices])
