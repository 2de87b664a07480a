"""Token ids cut out of a big `result.json` before it is decoded.

`rollout_details` holds the ids and log probabilities of every token a model saw, megabytes of numbers in lists, and
nothing of it is wanted. Between the brackets of such lists stand only numbers, so the next bracket is found
at the speed of memory, many times faster than a decoder skips numbers one by one.
"""

from __future__ import annotations

import re

WORTH_IT = 1 << 15  # bytes of a file; smaller ones are decoded as they are
STEPS_LIMIT = 20_000  # brackets and strings passed before the decoder is left to do it
# Quotes inside a text stand behind a backslash, so this is always a member's name.
MEMBER = re.compile(rb'"rollout_details"\s{0,100}:\s{0,100}(?=[\[{])')


def without_token_ids(data: bytes) -> bytes:
    """The document with `null` for every `rollout_details`; as it is where one does not end as it should."""
    if len(data) < WORTH_IT:
        return data
    pieces: list[bytes] = []
    place = 0
    while (found := MEMBER.search(data, place)) is not None:
        end = end_of_value(data, found.end())
        if end is None:
            break
        pieces += (data[place : found.end()], b"null")
        place = end
    return b"".join([*pieces, data[place:]]) if pieces else data


def end_of_value(data: bytes, start: int) -> int | None:
    """Where the list or object that begins at `start` ends; None when that is not soon found."""
    marks = _Marks(data, start)
    open_brackets = bytearray()
    for _ in range(STEPS_LIMIT):
        place, mark = marks.next()
        if mark == b'"':
            end = _end_of_text(data, place)
            if end is None:
                return None
            marks.move_to(end)
        elif mark in OPENS:
            open_brackets += OPENS[mark]
        elif not mark or not open_brackets or open_brackets.pop() != mark[0]:
            return None
        elif not open_brackets:
            return place + 1
    return None


OPENS = {b"[": b"]", b"{": b"}"}


class _Marks:
    """Brackets and quotes in order; where the next one of each kind stands is remembered, so none is sought twice."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._ahead = {mark: self._find(mark, start) for mark in (b"[", b"]", b"{", b"}", b'"')}

    def next(self) -> tuple[int, bytes]:
        """The next one and its place; it is passed."""
        place, mark = min(zip(self._ahead.values(), self._ahead, strict=True))
        if place == len(self._data):
            return place, b""
        self._ahead[mark] = self._find(mark, place + 1)
        return place, mark

    def move_to(self, start: int) -> None:
        """Pass everything before `start`."""
        for mark, place in self._ahead.items():
            if place < start:
                self._ahead[mark] = self._find(mark, start)

    def _find(self, mark: bytes, start: int) -> int:
        place = self._data.find(mark, start)
        return len(self._data) if place < 0 else place


def _end_of_text(data: bytes, quote: int) -> int | None:
    """Behind the closing quote of a short text without escapes, as names of members are; None for others."""
    end = data.find(b'"', quote + 1)
    return None if end < 0 or b"\\" in data[quote:end] else end + 1
