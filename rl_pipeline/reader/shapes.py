"""The shapes learned so far in one log, as rows that many lines can be compared with at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rl_pipeline.reader.message import Message
from rl_pipeline.reader.regular import Head, Plan, Planner, Tail, learn

MOST_SHAPES = 1024  # heads, and tails


@dataclass(slots=True)
class KnownRows:
    """Learned heads or tails of one kind and width; `ignored` marks bytes that may differ, None: none may."""

    rows: list[Any] = field(default_factory=list)
    ignored: list[Any] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


class ShapeBook:
    """Heads, tails, and the plan for each pair of a head's words and a tail."""

    def __init__(self, planner: Planner) -> None:
        """`planner` decides which shapes are worth it."""
        import numpy as np  # noqa: PLC0415 - whoever needs the message type alone does not pay for the library

        self.np = np
        self.planner = planner
        self.heads: list[Head] = []
        self.tails: list[Tail] = []
        self.words: list[int] = []  # of each head, the number of its kind and words
        self.plans: dict[tuple[int, int], Plan | None] = {}
        self.known_heads: dict[tuple[int, int], KnownRows] = {}
        self.known_tails: dict[tuple[int, int], KnownRows] = {}
        self._word_numbers: dict[tuple[int, str], int] = {}

    @property
    def is_full(self) -> bool:
        """Whether no more is learned."""
        return len(self.heads) >= MOST_SHAPES or len(self.tails) >= MOST_SHAPES

    def learn(self, raw: bytes, kind: int, end: int) -> None:
        """Take the shape of a line that was read the long way.

        Args:
            raw: the line, line feed included.
            kind: number of its needle.
            end: where the needle ends in it for the first time.
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
            self.plans[key] = self.planner.plan(message, spans, dated=head.dated)

    def _take_head(self, kind: int, head: Head) -> int:
        np = self.np
        known = self.known_heads.setdefault((kind, len(head.raw)), KnownRows())
        row = np.frombuffer(head.raw, np.uint8)
        ignored = np.zeros(len(row), bool)
        stamp = slice(head.stamp_at, head.stamp_at + head.stamp_length)
        ignored[stamp] = row[stamp] - np.uint8(48) < 10
        for other, hidden, number in zip(known.rows, known.ignored, known.numbers, strict=True):
            if (hidden == ignored).all() and ((other == row) | ignored).all():
                return number
        number = len(self.heads)
        self.heads.append(head)
        self.words.append(self._word_numbers.setdefault((kind, head.words), len(self._word_numbers)))
        known.rows.append(row)
        known.ignored.append(ignored)
        known.numbers.append(number)
        return number

    def _take_tail(self, kind: int, tail: Tail) -> int:
        np = self.np
        known = self.known_tails.setdefault((kind, len(tail.skeleton)), KnownRows())
        row = np.frombuffer(tail.skeleton, np.uint8)
        for other, number in zip(known.rows, known.numbers, strict=True):
            if (other == row).all():
                return number  # one with other colours is read the long way
        number = len(self.tails)
        self.tails.append(tail)
        known.rows.append(row)
        known.ignored.append(None)
        known.numbers.append(number)
        return number
