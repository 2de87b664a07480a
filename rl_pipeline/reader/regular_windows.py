"""Finds the lines of learned shapes in a window, all at once.

A compiled loop compares each line up to its needle with the learned heads and what stands behind it, each run of digits
as one `0`, with the learned tails; on the way it reads the numbers and the stamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rl_pipeline.reader.regular import MAX_LINE, Plan
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import NOT_LEARNED, ShapeBook
from rl_pipeline.reader.stamps import Stamps, stamps_of

LEARNED_PER_WINDOW = 64


@dataclass(frozen=True, slots=True)
class RegularLines:
    """Lines of one window that have a plan: arrays of one length, in file order.

    `plans[owners]` are their plans, `hits` their places among the window's hits, `heads` and `tails` numbers of the
    shape book's; `counts` is what Ray folded them to. `numbers` (lines × most numbers of a plan, zeros behind those of
    others) are the runs of digits, `digits` how long each is.
    """

    plans: Sequence[Plan]
    owners: Any
    hits: Any
    heads: Any
    tails: Any
    stamps: Stamps
    counts: Any
    numbers: Any
    digits: Any

    def chosen(self, rows: Any) -> RegularLines:  # noqa: ANN401 - an array of numpy
        """Some of the lines."""
        return RegularLines(
            self.plans, self.owners[rows], self.hits[rows], self.heads[rows], self.tails[rows],
            self.stamps.chosen(rows), self.counts[rows], self.numbers[rows], self.digits[rows],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RegularWindow:
    """Lines whose plans want order, those of each plan that does not, and hits whose shape may be worth learning."""

    ordered: RegularLines | None = None
    together: Sequence[RegularLines] = ()
    unknown: Sequence[int] = ()


def find_regular(book: ShapeBook, scanned: ScannedWindow) -> RegularWindow:
    """The lines of a window that have a plan."""
    np = book.np
    places = np.flatnonzero(scanned.kinds >= 0)
    lines = scanned.hits[places]
    usable = scanned.edges[lines + 1] - scanned.edges[lines] <= MAX_LINE
    if not scanned.window.data.endswith(b"\n"):
        usable &= lines < scanned.count - 1
    return _read(book, scanned, places[usable]) if usable.any() else RegularWindow()


def _read(book: ShapeBook, scanned: ScannedWindow, places: Any) -> RegularWindow:  # noqa: ANN401 - an array of numpy
    """Read those hits that have a plan."""
    np, arrays, count = book.np, book.arrays(), len(places)
    lines = scanned.hits[places]
    shapes, owners, counts = np.empty((count, 2), np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    numbers, digits = (np.zeros((count, arrays.most_digits.shape[1]), np.int64) for _ in range(2))
    days, clocks = np.empty(count, np.int64), np.empty(count, np.int64)
    book.loops.read_regular(
        book.loops.bytes_of(scanned.window.data),
        (scanned.edges[lines], scanned.ends[places], scanned.edges[lines + 1], scanned.kinds[places]),
        arrays,
        (shapes, owners, counts, numbers, digits, days, clocks),
    )
    unknown = places[owners == NOT_LEARNED].tolist()
    unknown = unknown[:: 1 + len(unknown) // LEARNED_PER_WINDOW]
    rows = np.flatnonzero(owners >= 0)
    stamps = stamps_of(np, days[rows], clocks[rows], arrays.heads[shapes[rows, 0], 4] == 1)

    def chosen(wanted: Any) -> RegularLines:  # noqa: ANN401 - whether each of the rows is
        kept = rows[wanted]
        return RegularLines(
            arrays.plans, owners[kept], places[kept], shapes[kept, 0], shapes[kept, 1],
            stamps.chosen(wanted), counts[kept], numbers[kept], digits[kept],
        )  # fmt: skip

    in_order = stamps.valid & arrays.in_order[owners[rows]]
    apart = np.where(stamps.valid & ~in_order, owners[rows], -1)
    together = [chosen(apart == plan) for plan in np.unique(apart).tolist() if plan >= 0]
    return RegularWindow(chosen(in_order) if in_order.any() else None, together, unknown)
