"""A message of several lines that has not ended: a block, a traceback, or the rest of a cut line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rl_pipeline.reader.continuation import LiteralLines, Offer
from rl_pipeline.reader.envelopes import before_bar
from rl_pipeline.reader.heads import Head
from rl_pipeline.reader.message import Message

MAX_BLOCK_LINES = 20_000
MAX_BLOCK_CHARACTERS = 16 * 1024 * 1024
MAX_TRACEBACK_LINES = 2_000
PATIENCE_LINES = 200_000  # of the file, since a line was last taken
CUT_LINE_PATIENCE = 2_000  # the rest of a cut line follows soon
METRIC_KEY = re.compile(r"""(['"])[^'"/\n]{0,300}/[^'"\n]{0,300}\1 {0,4}:""")


class OpenMessage:
    """A multi-line message that has not ended."""

    def __init__(self, first: Message, head: Head | None, literal: LiteralLines | None, *, cut: bool = False) -> None:
        """`literal` is None for a traceback; `cut`: it is the rest of one line."""
        self.first, self.head, self.literal, self.cut = first, head, literal, cut
        self.lines = [first.payload]
        self.small: list[str] | None = None  # a dict that stands if no better one comes
        self.is_inline = literal is not None and literal.opened  # the dict begins on the head's line
        self.last_line = first.line
        self.characters = len(first.payload)

    @property
    def tentative(self) -> bool:
        """A bare block head that no dict has followed yet."""
        return self.head is None and self.literal is not None and not self.literal.opened

    @property
    def may_restart(self) -> bool:
        """Whether another dict may take the place of the present one, which does not look like metrics."""
        return not (self.cut or self.is_inline or self.head is None or self.has_metrics)

    @property
    def has_metrics(self) -> bool:
        """Whether a key of the dict looks like a metric's name."""
        return any(METRIC_KEY.search(line) for line in self.lines[1:])

    @property
    def is_small(self) -> bool:
        """Whether it holds one line, or an indented dict: the shapes of chance prints."""
        return len(self.lines) <= 2 or self.lines[1].strip() == "{"

    @property
    def deadline(self) -> int:
        """The last line at which it may go on."""
        return self.last_line + (CUT_LINE_PATIENCE if self.cut else PATIENCE_LINES)

    @property
    def full(self) -> bool:
        """Whether it holds as much as a message may."""
        most = MAX_TRACEBACK_LINES if self.literal is None else MAX_BLOCK_LINES
        return len(self.lines) > most or self.characters > MAX_BLOCK_CHARACTERS

    def append(self, text: str, line: int) -> None:
        """Take one more line."""
        self.lines.append(text)
        self.last_line = line
        self.characters += len(text) + 1

    def extend(self, texts: list[str], line: int) -> None:
        """Take lines, of which the last is that one of the file."""
        self.lines += texts
        self.last_line = line
        self.characters += sum(map(len, texts)) + len(texts)

    def restart(self, literal: LiteralLines) -> None:
        """Begin the dict anew."""
        self.literal, self.lines = literal, self.lines[:1]

    def keep_small(self) -> None:
        """The dict is whole, but a better one may come; the first of several small ones is kept."""
        self.small = self.small or self.lines
        self.restart(LiteralLines())

    def message(self, *, complete: bool) -> Message:
        """All that it holds, as one message."""
        first = self.first
        return Message(
            line=first.line,
            byte_offset=first.byte_offset,
            source=first.source,
            payload=("" if self.cut else "\n").join(self.lines),
            logged_at=first.logged_at,
            zone=first.zone,
            logger=first.logger,
            level=first.level,
            origin=first.origin,
            repeat_count=first.repeat_count,
            complete=complete,
            after_bar=first.after_bar,
        )


def is_cut(item: OpenMessage) -> bool:
    """Whether its last line ended where a collector may have cut it."""
    return item.literal is not None and item.literal.is_cut


def continued(item: OpenMessage, literal: LiteralLines, message: Message, *, is_rest: bool) -> Offer:
    """Offer a line, also without the progress bar that may be glued to it."""
    for text in _readings(literal, message, is_rest=is_rest):
        offer = literal.offer(text, is_rest=is_rest and literal.is_cut)
        if offer is not Offer.FOREIGN:
            if literal.dropped:
                item.lines.pop()
            item.append(text, message.line)
            return offer
    return Offer.FOREIGN


def _readings(literal: LiteralLines, message: Message, *, is_rest: bool) -> Iterator[str]:
    """A payload as it is, with the indentation lost behind a bar or in a cut, and without a bar behind it."""
    payload = message.payload
    if message.after_bar and payload[:1] in ("'", '"'):
        yield " " * literal.column + payload
    yield payload
    if is_rest and payload.lstrip(" ")[:1] in ("'", '"', "{"):
        yield " " * literal.column + payload.lstrip(" ")
    yield from before_bar(payload)


def restarted(item: OpenMessage, message: Message) -> Offer:
    """A dict that looks like metrics takes the place of one that does not; any dict that of a lone bracket."""
    if METRIC_KEY.match(message.payload, 1) is None and [line.strip() for line in item.lines[1:]] != ["{"]:
        return Offer.FOREIGN
    literal = LiteralLines()
    offer = literal.offer(message.payload)
    if offer is not Offer.FOREIGN:
        item.restart(literal)
        item.append(message.payload, message.line)
    return offer


def rest_of_dict(payload: str) -> LiteralLines | None:
    """The rest of a line that was cut inside `name={"key": …`; None for all others."""
    bracket = payload.find("={") + 1
    if bracket == 0 or payload[bracket + 1 : bracket + 2] not in ("'", '"', ""):
        return None
    return LiteralLines.after(payload[bracket:])
