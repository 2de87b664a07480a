"""The shapes learned so far in one log, as arrays that lines can be compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rl_pipeline.reader.folds import FOLD_BEGIN, FOLD_ENDS, folded_at
from rl_pipeline.reader.lines import MOST_REPEATED, REPEATED_MARK
from rl_pipeline.reader.message import Message
from rl_pipeline.reader.regular import MAX_LINE, Head, Plan, Planner, Tail, learn

if TYPE_CHECKING:
    from rl_pipeline.reader.loops import Loops

MOST_SHAPES = 1024  # heads, and tails
BUCKETS = 4096  # of tails by their hash; a power of two
ZERO = 48
ROLE_COUNT, ROLE_FIXED = -1, -2  # of runs of digits that are no numbers
NO_PLAN, NOT_LEARNED = -1, -2


class ShapeArrays:
    """Learned shapes as `Loops.read_regular` wants them."""

    def __init__(
        self,
        book: ShapeBook,
        kinds: int,
        head_kinds: Sequence[int],
        tail_kinds: Sequence[int],
    ) -> None:
        """`kinds`: how many needles there are; the others tell the needle of each head and tail."""
        np = self._np = book.np
        self.head_text = np.frombuffer(b"".join(head.raw for head in book.heads), np.uint8)
        self.head_compared = np.full(len(self.head_text), 255, np.uint8)
        self.heads = np.full((len(book.heads), 6), -1, np.int64)
        self.head_firsts = np.full((kinds, MAX_LINE + 1), -1, np.int64)
        begin = 0
        for number, head in enumerate(book.heads):
            self.heads[number] = begin, len(head.raw), -1, head.stamp_at, head.dated, book.words[number]
            stamp = slice(begin + head.stamp_at, begin + head.stamp_at + head.stamp_length)
            self.head_compared[stamp][self.head_text[stamp] - np.uint8(ZERO) < 10] = 0
            begin += len(head.raw)
        for number in reversed(range(len(book.heads))):
            self._put_first(self.heads, number, self.head_firsts[head_kinds[number]], len(book.heads[number].raw))
        self.tail_text = np.frombuffer(b"".join(tail.skeleton for tail in book.tails), np.uint8)
        self.tails = np.full((len(book.tails), 4), -1, np.int64)
        self.tail_firsts = np.full(BUCKETS, -1, np.int64)
        self.usual = np.full(kinds, -1, np.int64)  # the last tail of each kind
        begin = 0
        for number, (tail, kind) in enumerate(zip(book.tails, tail_kinds, strict=True)):
            self.tails[number] = begin, len(tail.skeleton), -1, kind
            code = book.loops.hash_of(tail.skeleton) ^ kind
            self._put_first(self.tails, number, self.tail_firsts, code & (BUCKETS - 1))
            begin += len(tail.skeleton)
        self._take_roles(book.tails)
        self._take_plans(book)

    def _take_roles(self, tails: Sequence[Tail]) -> None:
        """What the runs of digits of each tail are."""
        np = self._np
        runs = [len(tail.numbers) + len(tail.fixed) + (tail.count is not None) for tail in tails]
        self.roles = np.zeros((len(tails), max(runs, default=0)), np.int64)
        self.fixed = np.zeros((*self.roles.shape, 2), np.int64)
        for number, tail in enumerate(tails):
            for place, run in enumerate(tail.numbers):
                self.roles[number, run] = place
            for run, text in tail.fixed:
                self.roles[number, run], self.fixed[number, run] = ROLE_FIXED, (len(text), int(text))
            if tail.count is not None:
                self.roles[number, tail.count] = ROLE_COUNT

    def _take_plans(self, book: ShapeBook) -> None:
        """The plans, which pairs of words and tails have which, and how many digits each may read."""
        np = self._np
        self.plans = list({id(plan): plan for plan in book.plans.values() if plan is not None}.values())
        numbers = {id(plan): number for number, plan in enumerate(self.plans)}
        self.plan_numbers = np.full((max(book.words, default=0) + 1, len(book.tails)), NOT_LEARNED, np.int64)
        for (words, tail), plan in book.plans.items():
            self.plan_numbers[words, tail] = NO_PLAN if plan is None else numbers[id(plan)]
        width = max((len(plan.most_digits) for plan in self.plans), default=0)
        self.most_digits = np.zeros((len(self.plans), width), np.int64)
        for number, plan in enumerate(self.plans):
            self.most_digits[number, : len(plan.most_digits)] = plan.most_digits
        self.in_order = np.array([plan.in_order for plan in self.plans], bool)

    @staticmethod
    def _put_first(rows: Any, number: int, firsts: Any, key: int) -> None:  # noqa: ANN401 - arrays of numpy
        """Put a row before the others with its key."""
        rows[number, 2] = firsts[key]
        firsts[key] = number


class ShapeBook:
    """Heads, tails, and the plan for each pair of a head's words and a tail."""

    def __init__(self, planner: Planner, loops: Loops) -> None:
        """`planner` decides which shapes are worth it; `loops` find them."""
        self.np, self.loops = loops.np, loops
        self.planner = planner
        self.heads: list[Head] = []
        self.tails: list[Tail] = []
        self.words: list[int] = []  # of each head, the number of its kind and words
        self.plans: dict[tuple[int, int], Plan | None] = {}
        self._same: dict[Plan, Plan] = {}  # plans that read lines alike are one
        self._head_kinds: list[int] = []
        self._tail_kinds: list[int] = []
        self._head_numbers: dict[tuple[int, int, bytes], int] = {}
        self._tail_numbers: dict[tuple[int, bytes], int] = {}
        self._word_numbers: dict[tuple[int, str], int] = {}
        self._arrays: ShapeArrays | None = None

    def folded_lines(self, data: bytes, marks: Any) -> int:  # noqa: ANN401 - an array of numpy
        """Lines that Ray left out, told by the marks of a window."""
        folded, unusual = self.loops.usual_folds(
            self.loops.bytes_of(data), marks, REPEATED_MARK, FOLD_BEGIN, FOLD_ENDS, MOST_REPEATED
        )
        return folded + sum(folded_at(data, mark)[0] for mark in unusual.tolist())

    @property
    def is_full(self) -> bool:
        """Whether no more is learned."""
        return len(self.heads) >= MOST_SHAPES or len(self.tails) >= MOST_SHAPES

    def arrays(self) -> ShapeArrays:
        """All that was learned so far."""
        if self._arrays is None:
            self._arrays = ShapeArrays(self, len(self.planner.needles), self._head_kinds, self._tail_kinds)
        return self._arrays

    def learn(self, raw: bytes, kind: int, end: int, opens: Callable[[str], bool]) -> None:
        """Take the shape of a line that was read the long way.

        Args:
            raw: the line, line feed included.
            kind: number of its needle.
            end: where the needle ends in it for the first time.
            opens: whether a payload may be the first line of a longer message; such lines have no plan.
        """
        shape = None if self.is_full else learn(raw, end)
        if shape is None:
            return
        head, tail = shape
        key = (self.words[self._take_head(kind, head)], self._take_tail(kind, tail))
        if key not in self.plans:
            begin = len(head.words)
            spans = [(start + begin, stop + begin) for start, stop in tail.spans]
            message = Message(line=1, byte_offset=0, source=head.source, payload=head.words + tail.words, logger="any")
            plan = None if opens(message.payload) else self.planner.plan(message, spans, dated=head.dated)
            self.plans[key] = None if plan is None else self._same.setdefault(plan, plan)
            self._arrays = None

    def _take_head(self, kind: int, head: Head) -> int:
        """The number of a head; one that differs only in its time is the same."""
        stamp = slice(head.stamp_at, head.stamp_at + head.stamp_length)
        hidden = bytes(48 if 48 <= byte <= 57 else byte for byte in head.raw[stamp])
        key = (kind, head.stamp_at, head.raw[: stamp.start] + hidden + head.raw[stamp.stop :])
        number = self._head_numbers.setdefault(key, len(self.heads))
        if number == len(self.heads):
            self.heads.append(head)
            self._head_kinds.append(kind)
            self.words.append(self._word_numbers.setdefault((kind, head.words), len(self._word_numbers)))
            self._arrays = None
        return number

    def _take_tail(self, kind: int, tail: Tail) -> int:
        """The number of a tail; one with other colours is read the long way."""
        number = self._tail_numbers.setdefault((kind, tail.skeleton), len(self.tails))
        if number == len(self.tails):
            self.tails.append(tail)
            self._tail_kinds.append(kind)
            self._arrays = None
        return number
