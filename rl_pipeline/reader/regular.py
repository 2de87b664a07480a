"""Lines that differ only in their numbers: told apart by what stays the same, read many at a time.

Nine of ten lines with a needle come from a few places in a few programs. Of such a line everything before the needle
(prefix of the process, logger's head, first words) is the same but for the time, and everything behind it is the same
but for numbers. `Head` is the one, `Tail` the other, with every run of digits as one `0`. Both are learned from a line
that was read the long way, so nothing here knows how a prefix or a head looks; a line that fits no learned shape, or
whose numbers are longer than its plan allows, goes the long way too. The result is the same either way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rl_pipeline.reader.envelopes import source_of_process
from rl_pipeline.reader.lines import REPEATED, USUAL, plain_text, without_suffix
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.reader.stamps import DATED_STAMP, UNDATED_STAMP

if TYPE_CHECKING:
    from rl_pipeline.reader.ordered import OrderedLines

DIGITS = re.compile(rb"[0-9]+")
COLOUR = re.compile(rb"\x1b\[[0-9;]{0,12}m")
BARE_COLOUR = re.compile(rb"\[[0-9;]{1,12}m")  # what is left of one without its escape byte
MAX_LINE = 4096  # longer lines go the long way
MOST_SUFFIX = 600  # characters; with a longer number, too, `without_suffix` finds it


class Plan(Protocol):
    """How lines of one shape are read, by whoever knows their words; equal plans read lines alike.

    `in_order`: line by line among the other messages, with dated stamps; else many at a time, in no order with
    other messages, with stamps without year.
    """

    @property
    def in_order(self) -> bool: ...  # noqa: D102
    @property
    def most_digits(self) -> Sequence[int]: ...  # noqa: D102 - of each number, at most nine


class OrderedPlan(Plan, Protocol):
    """A plan for lines in their order."""

    @property
    def kind(self) -> str: ...  # noqa: D102 - what its maker calls lines like that
    @property
    def names(self) -> Sequence[str]: ...  # noqa: D102 - of its numbers, from the first on, if they are entries of a map

    def take(self, lines: OrderedLines, index: int, stop: int, outcomes: list[tuple[int, Any]]) -> int:
        """Read lines from that index on, as far as they are its maker's, not beyond `stop`; gives where it ended.

        `outcomes` is extended by what its maker gives for a message, where that is not nothing, and its index.
        """
        ...


class Planner(Protocol):
    """Makes plans for the lines that hold one of its needles."""

    @property
    def needles(self) -> tuple[bytes, ...]: ...  # noqa: D102

    def plan(self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool) -> Plan | None:
        """The plan for messages that differ from this one only in numbers; None: read each the long way.

        Args:
            message: one of them.
            numbers: where in its payload the runs of digits stand that may differ.
            dated: whether their stamps have a date; `in_order` of the plan must be the same.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """What stands in a line up to the end of its needle: the same for each but for the digits of the stamp."""

    raw: bytes
    stamp_at: int
    dated: bool
    source: Source
    level: str | None
    origin: str | None
    words: str  # of the payload, needle included

    @property
    def stamp_length(self) -> int:
        """Characters of the stamp."""
        return DATED_STAMP if self.dated else UNDATED_STAMP


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """What stands in a line behind its needle, line feed included.

    `skeleton`: each run of digits as one `0`. `fixed`: runs that belong to colours, with their text. `count`: the run
    that is Ray's repeat count. `numbers`: the other runs, and `spans`: where these stand in `words`.
    """

    skeleton: bytes
    fixed: tuple[tuple[int, bytes], ...]
    count: int | None
    numbers: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    words: str  # of the payload, behind the needle


@dataclass(frozen=True, slots=True)
class PlannedMessages:
    """Messages with one plan that does not care for order, in file order: arrays of numpy, of one length.

    `lines`: int64; `logged_at`: datetime64[us], NaT where unknown; `source_numbers` point into `sources`;
    `numbers` and `digits` (how long each is): lines × numbers, int64. None has a zone.
    """

    plan: Plan
    lines: Any
    logged_at: Any
    sources: Sequence[Source]
    source_numbers: Any
    repeat_counts: Any
    numbers: Any
    digits: Any


def learn(raw: bytes, end: int) -> tuple[Head, Tail] | None:
    """The shape of a whole line, line feed included; None for lines that are not regular.

    Args:
        raw: the line.
        end: where its needle ends for the first time.
    """
    if len(raw) > MAX_LINE or not raw.isascii() or b"\r" in raw or b"\0" in raw:
        return None
    plain = COLOUR.sub(b"", raw)
    if b"\x1b" in plain or BARE_COLOUR.search(plain) or plain_text(raw[:-1]) != plain[:-1].decode("ascii"):
        return None
    text = plain[:-1].decode("ascii")
    usual = USUAL.match(text)
    if usual is None:
        return None
    head = _head(raw, end, usual, len(COLOUR.sub(b"", raw[:end])))
    tail = None if head is None else _tail(raw[end:])
    if head is None or tail is None or head.words + tail.words != without_suffix(text[usual.end() :])[0]:
        return None
    return head, tail


def _head(raw: bytes, end: int, usual: re.Match[str], plain_end: int) -> Head | None:
    """The part up to the needle's end; its colours must all stand before the stamp."""
    name, pid, ip, dated, level, origin, short_level, _, file = usual.groups()
    if usual.end() >= plain_end:
        return None  # the needle is no part of the payload
    at = usual.start(4 if dated is not None else 8)
    removed = end - plain_end
    if COLOUR.search(raw, at + removed, end) or COLOUR.sub(b"", raw[: at + removed]) != usual.string[:at].encode():
        return None
    words = usual.string[usual.end() : plain_end]
    source = source_of_process(name, pid, ip)
    return Head(raw[:end], at + removed, dated is not None, source, level or short_level, origin or file, words)


def _tail(raw: bytes) -> Tail | None:
    """The part behind the needle; a colour inside the words may stand in the middle of another needle."""
    runs = [found.span() for found in DIGITS.finditer(raw)]
    colours = [found.span() for found in COLOUR.finditer(raw)]
    inside = [any(begin <= start < stop for begin, stop in colours) for start, _ in runs]
    plain = COLOUR.sub(b"", raw)[:-1].decode("ascii")
    words, _ = without_suffix(plain)
    if len(COLOUR.split(raw, maxsplit=1)[0].rstrip(b"\n")) < len(words) or len(plain) - len(words) > MOST_SUFFIX:
        return None
    suffix = REPEATED.search(plain, len(words)) if len(words) < len(plain) else None
    count, numbers, spans = None, [], []
    for number, (start, stop) in enumerate(runs):
        if inside[number]:
            continue
        removed = sum(b - a for a, b in colours if b <= start)
        if stop - removed <= len(words):
            numbers.append(number)
            spans.append((start - removed, stop - removed))
        elif suffix is not None and (start - removed, stop - removed) == suffix.span(1):
            count = number
        else:
            return None
    if (suffix is None) != (count is None):
        return None
    fixed = tuple((number, raw[slice(*runs[number])]) for number in range(len(runs)) if inside[number])
    return Tail(DIGITS.sub(b"0", raw), fixed, count, tuple(numbers), tuple(spans), words)
