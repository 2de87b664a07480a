"""The regular lines of one window: some are given in order, the others all at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any

from rl_pipeline.reader.demultiplexer import Expected
from rl_pipeline.reader.ordered import OrderedLines
from rl_pipeline.reader.regular import PlannedMessages
from rl_pipeline.reader.regular_windows import find_regular
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import ShapeBook
from rl_pipeline.reader.stamps import Resolve
from rl_pipeline.reader.years import YearResolver

LONG_WAY, TOGETHER, IN_ORDER = 0, 1, 2


class PlannedWindow:
    """One window's regular lines: those in `ordered`, and the `together` of the others.

    `ways` says for each hit how it is read: the long way, together with others, or in order.
    """

    def __init__(self, book: ShapeBook, scanned: ScannedWindow) -> None:
        """Find them."""
        np = book.np
        self.book, self.scanned = book, scanned
        found = find_regular(book, scanned)
        self.unknown = found.unknown
        self._hits = scanned.hits
        self._bytes = book.loops.bytes_of(scanned.window.data)
        self.ways = bytearray(len(scanned.hits))
        self.way_array = np.frombuffer(self.ways, np.uint8)
        self._together = found.together
        self.ordered = OrderedLines(book, scanned, self._hits, found.ordered) if found.ordered else None
        for lines in found.together:
            self.way_array[lines.hits] = TOGETHER
        if found.ordered:
            self.way_array[found.ordered.hits] = IN_ORDER

    def remaining(self) -> list[int]:
        """Lines with a needle that are to be read the long way, by index."""
        lines: list[int] = self._hits[self.way_array == LONG_WAY].tolist()
        return lines

    def follow(self, line: int, expected: Expected) -> tuple[int, int, list[str], bool]:
        """Follow an open block for as long as its lines look as expected.

        Args:
            line: the first line to look at, by index.
            expected: see there.

        Returns:
            The line at which it stopped, the last one that belongs to the block (-1: none), the entries, and whether
            the last of these ends the block.
        """
        scanned, loops, text = self.scanned, self.book.loops, self.scanned.window.data
        last = min(scanned.count - (not text.endswith(b"\n")), expected.deadline - scanned.window.line + 1)
        hits = self._hits, bisect_left(scanned.hit_list, line), self.way_array
        stop, lines, is_closed = loops.follow_block(self._bytes, scanned.edges, (line, last), hits, expected)
        indent, spans = len(expected.prefix), map(scanned.span, lines)
        texts = [text[begin + indent : end - 1].decode("ascii") for begin, end in spans]
        return stop, lines[-1] if lines else -1, texts, is_closed

    def leave(self, hit: int) -> None:
        """All hits from that one on are read the long way after all."""
        self.way_array[hit:] = LONG_WAY

    def together(self, before: datetime, dated: list[tuple[int, datetime]]) -> Iterator[PlannedMessages]:
        """All lines of each plan that wants no order.

        Args:
            before: the dated time before the window.
            dated: index of line and time of each dated line met since that did not wait.
        """
        np = self.book.np
        near = [before, *(at for _, at in dated), *(span_of(self.ordered.logged_at) or () if self.ordered else ())]
        resolver = _Resolver(before, dated, self.ordered)
        for group in self._together:
            lines = self._hits[group.hits]
            kept = self.way_array[group.hits] == TOGETHER
            if not kept.any():
                continue
            if not kept.all():
                group, lines = group.chosen(kept), lines[kept]
            heads = group.heads
            used = np.flatnonzero(np.bincount(heads))
            yield PlannedMessages(
                plan=group.plans[group.owners[0]],
                lines=lines + self.scanned.window.line,
                logged_at=group.stamps.with_years((min(near), max(near)), resolver.of(lines)),
                sources=[self.book.heads[head].source for head in used.tolist()],
                source_numbers=np.searchsorted(used, heads),
                repeat_counts=group.counts,
                numbers=group.numbers,
                digits=group.digits,
            )

    def learn(self, opens: Callable[[str], bool]) -> None:
        """Learn from lines of this window that were read the long way; for `opens` see `ShapeBook.learn`."""
        scanned = self.scanned
        for hit in self.unknown:
            line = scanned.hit_list[hit]
            begin, end = scanned.span(line)
            raw, needle_end = scanned.window.data[begin:end], int(scanned.ends[hit]) - begin
            self.book.learn(raw, int(scanned.kinds[hit]), needle_end, opens)


class _Resolver:
    """Completes stamps without year in the light of the dated line before each."""

    def __init__(self, before: datetime, dated: list[tuple[int, datetime]], waited: OrderedLines | None) -> None:
        self._before, self._dated, self._waited = before, dated, waited

    def of(self, lines: Any) -> Resolve:  # noqa: ANN401 - an array of numpy
        """For the rows at these lines of the window."""
        return lambda row, stamp: YearResolver(self._evidence(int(lines[row])), None).resolve(stamp)

    def _evidence(self, line: int) -> datetime:
        """The time of the nearest dated line before that one; of a line that did not wait if both are the same."""
        at = bisect_left(self._sorted, line, key=itemgetter(0))
        index, evidence = self._sorted[at - 1] if at else (-1, self._before)
        waited = self._waited
        place = 0 if waited is None else bisect_left(waited.indexes, line)
        if waited is not None and place and waited.indexes[place - 1] > index:
            return waited.moment(place - 1)
        return evidence

    @cached_property
    def _sorted(self) -> list[tuple[int, datetime]]:
        return sorted(self._dated, key=itemgetter(0))


def span_of(moments: Any) -> tuple[datetime, datetime] | None:  # noqa: ANN401 - datetime64 of numpy
    """The earliest and the latest of some times; None when all are unknown."""
    known = moments[moments == moments]
    return (known.min().item(), known.max().item()) if len(known) else None
