"""Finds the lines of learned shapes in a window, with arrays of numpy for all lines at once.

Lines whose needle ends at the same place are compared with the learned heads as rows of a matrix; what stands behind
the needle is put together, its runs of digits found, and the skeletons compared with the learned tails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rl_pipeline.reader.regular import MAX_LINE, MOST_DIGITS, Plan
from rl_pipeline.reader.scan import ScannedWindow
from rl_pipeline.reader.shapes import MOST_SHAPES, KnownRows, ShapeBook
from rl_pipeline.reader.stamps import Stamps, stamps_at

LEARNED_PER_WINDOW = 64
MOST_COUNT_DIGITS = 6
ZERO = 48


@dataclass(slots=True)
class RegularGroup:
    """Lines of one window with one plan: arrays of one length.

    `hits` are their places among the window's hits, `heads` numbers of the shape book's heads, `counts` what Ray
    folded them to; `numbers` (lines × numbers of the plan) are the runs of digits, `digits` how long each is.
    """

    plan: Plan
    tail: int
    hits: Any
    heads: Any
    stamps: Stamps
    counts: Any
    numbers: Any
    digits: Any


@dataclass(slots=True)
class RegularWindow:
    """The groups of a window, and places of hits whose shape may be worth learning."""

    groups: list[RegularGroup] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)


def find_regular(book: ShapeBook, scanned: ScannedWindow) -> RegularWindow:
    """The lines of a window that have a plan."""
    np = book.np
    window = RegularWindow()
    places = np.flatnonzero(scanned.kinds >= 0)
    lines = np.array(scanned.hits, np.int64)[places]
    starts, stops = scanned.edges[lines], scanned.edges[lines + 1]
    usable = stops - starts <= MAX_LINE
    if not scanned.window.data.endswith(b"\n"):
        usable &= lines < scanned.count - 1
    if usable.any():
        _Finding(book, scanned, window, places[usable], starts[usable], stops[usable]).run()
    return window


class _Finding:
    """The work on one window; all arrays go by candidate, or by run of digits."""

    def __init__(
        self,
        book: ShapeBook,
        scanned: ScannedWindow,
        window: RegularWindow,
        places: Any,  # noqa: ANN401 - arrays of numpy
        starts: Any,  # noqa: ANN401
        stops: Any,  # noqa: ANN401
    ) -> None:
        self.np, self.book, self.window = book.np, book, window
        self.places, self.starts = places, starts
        self.kinds, self.ends = scanned.kinds[places].astype(book.np.int64), scanned.ends[places]
        self.buffer = book.np.frombuffer(scanned.window.data, book.np.uint8)
        data = scanned.window.data
        self.text = b"".join(map(data.__getitem__, map(slice, self.ends.tolist(), stops.tolist())))
        self.lengths = stops - self.ends

    def run(self) -> None:
        np, book = self.np, self.book
        heads = self._match(self.buffer, self.starts, self.ends - self.starts, book.known_heads)
        tails = self._match(*self._skeletons(), book.known_tails)
        known = (heads >= 0) & (tails >= 0)
        unknown = self.places[~known].tolist()
        rows = np.flatnonzero(known)
        self._read_stamps(heads, rows)
        combined = np.array(book.words or [0], np.int64)[heads[rows]] * MOST_SHAPES + tails[rows]
        for group in self._alike(combined):
            key = divmod(int(combined[group[0]]), MOST_SHAPES)
            if key not in book.plans:
                unknown += self.places[rows[group[:1]]].tolist()
            elif (plan := book.plans[key]) is not None:
                self._group(plan, key[1], heads, rows[group])
        self.window.unknown = unknown[:: 1 + len(unknown) // LEARNED_PER_WINDOW]

    def _read_stamps(self, heads: Any, rows: Any) -> None:  # noqa: ANN401
        """The stamps of lines with a known head, by candidate; of others none is valid."""
        np = self.np
        count = len(heads)
        self.stamps = Stamps(np, np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, bool))
        at = np.array([head.stamp_at for head in self.book.heads], np.int64)
        is_dated = np.array([head.dated for head in self.book.heads], bool)
        for dated in (False, True):
            chosen = rows[is_dated[heads[rows]] == dated] if len(rows) else rows
            if len(chosen):
                found = stamps_at(np, self.buffer, self.starts[chosen] + at[heads[chosen]], dated=dated)
                self.stamps.days[chosen], self.stamps.clock[chosen] = found.days, found.clock
                self.stamps.valid[chosen] = found.valid

    def _alike(self, keys: Any) -> list[Any]:  # noqa: ANN401
        """Places of equal keys, ascending within each."""
        np = self.np
        order = np.argsort(keys, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []

    def _match(self, buffer: Any, starts: Any, lengths: Any, known: dict[tuple[int, int], KnownRows]) -> Any:  # noqa: ANN401
        """Which known row each line is, or -1."""
        np = self.np
        found = np.full(len(starts), -1, np.int64)
        for rows in self._alike(lengths * 256 + self.kinds):
            length = int(lengths[rows[0]])
            candidates = known.get((int(self.kinds[rows[0]]), length))
            if candidates is None:
                continue
            matrix = np.lib.stride_tricks.sliding_window_view(buffer, length)[starts[rows]]
            for row, ignored, number in zip(candidates.rows, candidates.ignored, candidates.numbers, strict=True):
                same = matrix == row
                if ignored is not None:
                    same |= ignored
                equal = same.all(axis=1)
                found[rows[equal]] = number
                if equal.all():
                    break
                rows, matrix = rows[~equal], matrix[~equal]
        return found

    def _skeletons(self) -> tuple[Any, Any, Any]:
        """Bytes behind the needles with each run of digits as one `0`: the bytes, and where each line's stand."""
        np = self.np
        firsts = np.cumsum(self.lengths) - self.lengths
        characters = np.frombuffer(self.text, np.uint8)
        digit = np.zeros(len(characters) + 2, bool)
        np.less(characters - np.uint8(ZERO), 10, out=digit[1:-1])
        changes = np.flatnonzero(digit[1:] != digit[:-1])
        starts = changes[0::2]
        self.run_lengths = changes[1::2] - starts
        self.first_runs = np.searchsorted(starts, firsts)
        self._read_numbers(characters, starts)
        kept = ~digit[1:-1]
        kept[starts] = True
        shown = characters.copy()
        shown[starts] = ZERO
        left_out = np.concatenate(([0], np.cumsum(self.run_lengths - 1)))
        before, after = left_out[self.first_runs], left_out[np.searchsorted(starts, firsts + self.lengths)]
        return shown[kept], firsts - before, self.lengths - (after - before)

    def _read_numbers(self, characters: Any, starts: Any) -> None:  # noqa: ANN401
        """The numbers that the runs are; of those with more than nine digits the first nine."""
        np = self.np
        self.run_values = np.zeros(len(starts), np.int64)
        left = np.arange(len(starts))
        for place in range(MOST_DIGITS):
            left = left[self.run_lengths[left] > place]
            self.run_values[left] = self.run_values[left] * 10 + (characters[starts[left] + place] - np.uint8(ZERO))

    def _group(self, plan: Plan, tail_number: int, heads: Any, rows: Any) -> None:  # noqa: ANN401
        """Lines with one plan: those whose numbers and times it may read."""
        np, tail = self.np, self.book.tails[tail_number]
        first = self.first_runs[rows]
        fits = np.ones(len(rows), bool)
        for number, text in tail.fixed:
            fits &= (self.run_lengths[first + number] == len(text)) & (self.run_values[first + number] == int(text))
        counts = np.ones(len(rows), np.int64)
        if tail.count is not None:
            fits &= self.run_lengths[first + tail.count] <= MOST_COUNT_DIGITS
            counts = np.maximum(counts, self.run_values[first + tail.count])
        runs = first[:, None] + np.array(tail.numbers, np.int64)[None, :]
        digits, numbers = self.run_lengths[runs], self.run_values[runs]
        fits &= (digits <= np.array(plan.most_digits, np.int64)).all(axis=1)
        stamps = self.stamps.chosen(rows)
        fits &= stamps.valid
        if fits.any():
            chosen = rows[fits]
            group = RegularGroup(
                plan=plan,
                tail=tail_number,
                hits=self.places[chosen],
                heads=heads[chosen],
                stamps=stamps.chosen(fits),
                counts=counts[fits],
                numbers=numbers[fits],
                digits=digits[fits],
            )
            self.window.groups.append(group)
