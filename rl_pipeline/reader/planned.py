"""The regular lines of one window: some are given in order, the others all at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any

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
        self._hits = np.array(scanned.hits, np.int64)
        self.ways = bytearray(len(scanned.hits))
        self._ways = np.frombuffer(self.ways, np.uint8)
        self._together = [group for group in found.groups if not group.plan.in_order]
        ordered = [group for group in found.groups if group.plan.in_order]
        self.ordered = OrderedLines(book, scanned, self._hits, ordered) if ordered else None
        for group in found.groups:
            self._ways[group.hits] = IN_ORDER if group.plan.in_order else TOGETHER

    def remaining(self) -> list[int]:
        """Lines with a needle that are to be read the long way, by index."""
        lines: list[int] = self._hits[self._ways == LONG_WAY].tolist()
        return lines

    def leave(self, hit: int) -> None:
        """All hits from that one on are read the long way after all."""
        self._ways[hit:] = LONG_WAY

    def together(self, before: datetime, dated: list[tuple[int, datetime]]) -> Iterator[PlannedMessages]:
        """All lines of each plan that wants no order.

        Args:
            before: the dated time before the window.
            dated: index of line and time of each dated line met since that did not wait.
        """
        np = self.book.np
        waited = list(zip(self.ordered.indexes, self.ordered.moments, strict=True)) if self.ordered else []
        near = [before, *(at for _, at in dated), *(at for _, at in waited)]
        resolver = _Resolver(before, [*dated, *waited])
        for group in self._together:
            lines = self._hits[group.hits]
            kept = self._ways[group.hits] == TOGETHER
            if not kept.any():
                continue
            lines, stamps = lines[kept], group.stamps.chosen(kept)
            heads = group.heads[kept]
            used = np.flatnonzero(np.bincount(heads))
            yield PlannedMessages(
                plan=group.plan,
                lines=lines + self.scanned.window.line,
                logged_at=stamps.with_years((min(near), max(near)), resolver.of(lines)),
                sources=[self.book.heads[head].source for head in used.tolist()],
                source_numbers=np.searchsorted(used, heads),
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

    def __init__(self, before: datetime, dated: list[tuple[int, datetime]]) -> None:
        self._before, self._dated = before, dated

    def of(self, lines: Any) -> Resolve:  # noqa: ANN401 - an array of numpy
        """For the rows at these lines of the window."""
        return lambda row, stamp: YearResolver(self._evidence(int(lines[row])), None).resolve(stamp)

    def _evidence(self, line: int) -> datetime:
        at = bisect_left(self._all, line, key=itemgetter(0))
        return self._all[at - 1][1] if at else self._before

    @cached_property
    def _all(self) -> list[tuple[int, datetime]]:
        return sorted(self._dated, key=itemgetter(0))


def span_of(moments: Any) -> tuple[datetime, datetime] | None:  # noqa: ANN401 - datetime64 of numpy
    """The earliest and the latest of some times; None when all are unknown."""
    known = moments[moments == moments]
    return (known.min().item(), known.max().item()) if len(known) else None
