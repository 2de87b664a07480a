"""The regular lines of one window on their way: some wait for their turn, others are given all at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any

from rl_pipeline.reader.lines import plain_text, without_suffix
from rl_pipeline.reader.message import Message
from rl_pipeline.reader.regular import PlannedMessage, PlannedMessages
from rl_pipeline.reader.regular_windows import RegularGroup, find_regular
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import ShapeBook
from rl_pipeline.reader.stamps import Resolve
from rl_pipeline.reader.years import YearResolver


class PlannedWindow:
    """One window's regular lines: `waiting` by index of the line, and the `together` of the others."""

    def __init__(self, book: ShapeBook, scanned: ScannedWindow) -> None:
        """Find them."""
        self.book, self.scanned = book, scanned
        self.waiting: dict[int, PlannedMessage] = {}
        self.unordered = bytearray(len(scanned.hits))  # 1 for each hit that is given together with others
        self.dated: list[datetime] = []  # the earliest and latest times of what waits, by plan
        found = find_regular(book, scanned)
        self.unknown = found.unknown
        self._hits = book.np.array(scanned.hits, book.np.int64)
        self._together = [group for group in found.groups if not group.plan.in_order]
        for group in found.groups:
            if group.plan.in_order:
                self._wait(group)
        for group in self._together:
            book.np.frombuffer(self.unordered, book.np.uint8)[group.hits] = 1

    def _wait(self, group: RegularGroup) -> None:
        """Put the lines of one plan where their turn finds them."""
        window, heads = self.scanned.window, self.book.heads
        lines = self._hits[group.hits]
        moments = group.stamps.moments()
        self.dated += [min(moments), max(moments)]
        arrays = (group.hits, group.heads, lines, self.scanned.edges[lines] + window.offset, group.counts)
        columns = [column.tolist() for column in (*arrays, group.numbers, group.digits)]
        for hit, head, line, offset, count, numbers, digits, at in zip(*columns, moments, strict=True):
            self.waiting[line] = PlannedMessage(
                window.line + line, offset, heads[head].source, at, count, group.plan, numbers, digits,
                self.whole, (hit, head, group.tail),
            )  # fmt: skip

    def remaining(self) -> list[int]:
        """Lines with a needle that are to be looked at one by one, by index."""
        if not self._together:
            return self.scanned.hits
        lines: list[int] = self._hits[self.book.np.frombuffer(self.unordered, self.book.np.uint8) == 0].tolist()
        return lines

    def whole(self, planned: PlannedMessage) -> Message:
        """The message of a line of this window in full."""
        scanned, (hit, head_number, tail_number) = self.scanned, planned.place
        head, tail = self.book.heads[head_number], self.book.tails[tail_number]
        end = scanned.edge_list[scanned.hits[hit] + 1] - 1
        text = scanned.window.data[int(scanned.ends[hit]) : end]
        is_plain = tail.count is None and not tail.fixed
        words = text.decode("ascii") if is_plain else without_suffix(plain_text(text))[0]
        return Message(
            line=planned.line,
            byte_offset=planned.byte_offset,
            source=planned.source,
            payload=head.words + words,
            logged_at=planned.logged_at,
            logger="loguru",
            level=head.level,
            origin=head.origin,
            repeat_count=planned.repeat_count,
        )

    def together(self, before: datetime, dated: list[tuple[int, datetime]]) -> Iterator[PlannedMessages]:
        """All lines of each plan that wants no order and that are still in `unordered`.

        Args:
            before: the dated time before the window.
            dated: index of line and time of each dated line met since that did not wait.
        """
        np = self.book.np
        near = [before, *(at for _, at in dated), *self.dated]
        resolver = _Resolver(before, dated, self.waiting, self.scanned.window.line)
        for group in self._together:
            lines = self._hits[group.hits]
            kept = np.frombuffer(self.unordered, np.uint8)[group.hits] == 1
            if not kept.any():
                continue
            lines, stamps = lines[kept], group.stamps.chosen(kept)
            used, numbered = np.unique(group.heads[kept], return_inverse=True)
            yield PlannedMessages(
                plan=group.plan,
                lines=lines + self.scanned.window.line,
                logged_at=stamps.with_years((min(near), max(near)), resolver.of(lines)),
                sources=[self.book.heads[head].source for head in used.tolist()],
                source_numbers=numbered,
                repeat_counts=group.counts[kept],
                numbers=group.numbers[kept],
                digits=group.digits[kept],
            )

    def learn(self) -> None:
        """Learn from lines of this window that were read the long way."""
        scanned = self.scanned
        edges = scanned.edge_list
        for hit in self.unknown:
            line = scanned.hits[hit]
            raw = scanned.window.data[edges[line] : edges[line + 1]]
            kind, end = int(scanned.kinds[hit]), int(scanned.ends[hit]) - edges[line]
            self.book.learn(raw, kind, end)


class _Resolver:
    """Completes stamps without year in the light of the dated line before each."""

    def __init__(
        self,
        before: datetime,
        dated: list[tuple[int, datetime]],
        waiting: dict[int, PlannedMessage],
        first_line: int,
    ) -> None:
        self._before, self._dated, self._waiting, self._first = before, dated, waiting, first_line

    def of(self, lines: Any) -> Resolve:  # noqa: ANN401 - an array of numpy
        """For the rows at these lines of the window."""
        return lambda row, stamp: YearResolver(self._evidence(int(lines[row])), None).resolve(stamp)

    def _evidence(self, line: int) -> datetime:
        earlier = [pair for pair in self._all if pair[0] < line]
        return earlier[-1][1] if earlier else self._before

    @cached_property
    def _all(self) -> list[tuple[int, datetime]]:
        waited = [(message.line - self._first, message.logged_at) for message in self._waiting.values()]
        return sorted([*self._dated, *waited], key=itemgetter(0))


def span_of(moments: Any) -> tuple[datetime, datetime] | None:  # noqa: ANN401 - datetime64 of numpy
    """The earliest and the latest of some times; None when all are unknown."""
    known = moments[moments == moments]
    return (known.min().item(), known.max().item()) if len(known) else None
