"""Finds the lines of learned shapes in a window, all at once.

A compiled loop compares each line up to its needle with the learned heads and what stands behind it, each run of digits
as one `0`, with the learned tails; on the way it reads the numbers and the stamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from rl_pipeline.reader.regular import MAX_LINE, Plan
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import MOST_SHAPES, ShapeBook
from rl_pipeline.reader.stamps import Stamps, stamps_of

LEARNED_PER_WINDOW = 64
MOST_COUNT_DIGITS = 6


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
    return _Finding(book, scanned, places[usable]).run() if usable.any() else RegularWindow()


class _Finding:
    """The work on one window; all arrays go by candidate, or by run of digits."""

    def __init__(self, book: ShapeBook, scanned: ScannedWindow, places: Any) -> None:  # noqa: ANN401 - numpy
        np = book.np
        self.np, self.book, self.places = np, book, places
        lines, arrays = scanned.hits[places], book.arrays()
        starts, stops, ends = scanned.edges[lines], scanned.edges[lines + 1], scanned.ends[places]
        count, runs = len(places), int((stops - ends).sum()) // 2 + len(places)
        self.arrays, self.shapes = arrays, np.empty((count, 2), np.int64)
        self.first_runs = np.empty(count + 1, np.int64)
        self.run_values, self.run_lengths = np.empty(runs, np.int64), np.empty(runs, np.int64)
        self.days, self.clock = np.empty(count, np.int64), np.empty(count, np.int64)
        book.kernels.read_regular(
            np.frombuffer(scanned.window.data, np.uint8), starts, ends, stops, scanned.kinds[places],
            arrays.head_text, arrays.head_compared, arrays.heads, arrays.head_firsts,
            arrays.tail_text, arrays.tails, arrays.tail_firsts,
            self.shapes, self.first_runs, self.run_values, self.run_lengths, self.days, self.clock,
        )  # fmt: skip

    def run(self) -> RegularWindow:
        """Put lines with one plan together."""
        np, book = self.np, self.book
        known = (self.shapes >= 0).all(axis=1)
        rows = np.flatnonzero(known)
        shapes = self.arrays.words[self.shapes[rows, 0]] * MOST_SHAPES + self.shapes[rows, 1]
        keys, firsts, owners = np.unique(shapes, return_index=True, return_inverse=True)
        pairs = [divmod(key, MOST_SHAPES) for key in keys.tolist()]
        strange = [first for first, pair in zip(firsts.tolist(), pairs, strict=True) if pair not in book.plans]
        unknown = self.places[np.concatenate((np.flatnonzero(~known), rows[strange]))].tolist()
        unknown = unknown[:: 1 + len(unknown) // LEARNED_PER_WINDOW]
        plans = [book.plans.get(pair) for pair in pairs]
        has_plan = np.array([plan is not None for plan in plans], bool)[owners]
        if not has_plan.any():
            return RegularWindow(unknown=unknown)
        lines = self._lines(cast(Sequence[Plan], plans), rows[has_plan], owners[has_plan])
        in_order = np.array([plan is not None and plan.in_order for plan in plans])
        ordered = lines.chosen(in_order[lines.owners])
        apart = [number for number in np.unique(lines.owners).tolist() if not in_order[number]]
        together = [lines.chosen(lines.owners == number) for number in apart]
        return RegularWindow(ordered if len(ordered.owners) else None, together, unknown)

    def _lines(self, plans: Sequence[Plan], rows: Any, owners: Any) -> RegularLines:  # noqa: ANN401 - numpy
        """Lines with a plan: those whose numbers and times it may read."""
        np, arrays = self.np, self.arrays
        heads, tails = self.shapes[rows].T
        stamps = stamps_of(np, self.days[rows], self.clock[rows], arrays.heads[heads, 4].astype(bool))
        first, fits = self.first_runs[rows], stamps.valid
        for number, lengths, values in arrays.fixed:
            fits = fits & self._is_fixed(first, number[tails], lengths[tails], values[tails])
        counts, is_count = self._runs(first, arrays.counts[tails])
        fits = fits & (is_count <= MOST_COUNT_DIGITS)
        numbers, digits = self._runs(first[:, None], arrays.numbers[tails])
        most = np.zeros((len(plans), numbers.shape[1]), np.int64)
        for number, plan in enumerate(plans):
            if plan is not None:
                most[number, : len(plan.most_digits)] = plan.most_digits
        fits = fits & (digits <= most[owners]).all(axis=1)
        lines = RegularLines(
            plans, owners, self.places[rows], heads, tails, stamps, np.maximum(counts, 1), numbers, digits
        )
        return lines if fits.all() else lines.chosen(fits)

    def _runs(self, first: Any, numbers: Any) -> tuple[Any, Any]:  # noqa: ANN401 - arrays of numpy
        """Values and lengths of runs of digits, told by their numbers in their lines; of none (-1) both are 0."""
        np = self.np
        places, is_run = np.where(numbers < 0, 0, first + numbers), numbers >= 0
        return self.run_values[places] * is_run, self.run_lengths[places] * is_run

    def _is_fixed(self, first: Any, number: Any, length: Any, value: Any) -> Any:  # noqa: ANN401 - arrays of numpy
        """Whether a run of digits is what it was where its shape was learned; where there is none, it is."""
        values, lengths = self._runs(first, number)
        return (values == value) & (lengths == length)
