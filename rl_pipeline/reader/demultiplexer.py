"""Payloads to messages: multi-line messages are put together per source, whatever stands between their lines.

A payload that matches `block_head` opens a Python dict, one that matches `traceback_head` a traceback. Each bare
line of the same source is offered to it; a line that does not go on with it is a line of its own (the other stream
of the process). A block ends where its syntax closes, at the next block head of its source, at a limit, or at the
end of the file; only the first leaves it complete. A block head without logger head is taken only if the very next
line of its source opens a dict, and not from a source that logs: transcripts quote `Step 5:` too. A small dict on one
line whose keys do not look like metrics may be another print of the process: it stands only if no better one comes
before the source's next head. Messages come in the order in which they end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rl_pipeline.reader.continuation import LiteralLines, Offer
from rl_pipeline.reader.entries import BlockEntries
from rl_pipeline.reader.envelopes import BARE
from rl_pipeline.reader.heads import Head
from rl_pipeline.reader.lines import Unwrapped
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.reader.open_messages import (
    MAX_BLOCK_CHARACTERS,
    MAX_BLOCK_LINES,
    OpenMessage,
    continued,
    is_cut,
    rest_of_dict,
    restarted,
)
from rl_pipeline.reader.read_report import Needles

NEAR_LINES = 64  # of the file: what a collector cut off a line follows at once, but for lines of other tasks
MAX_OPEN = 128
FAR = 1 << 62
MAX_HEAD = 80  # characters of a block head in front of a dict on the same line

BLOCK, TRACEBACK, CUT_LINE = "block", "traceback", "cut line"
Stream = tuple[object, ...]
Key = tuple[str, Stream]


class Expected(NamedTuple):
    """What the next lines of an open block look like.

    `prefix`: what stands before an entry. `marks`: one of them stands in every line of a process with an open message.
    `is_only`: lines of the same process that begin with a letter or digit are others. All that only up to line
    `deadline` of the file, for at most so many characters and lines. `may_close`: an entry with a closing bracket
    behind it ends the block.
    """

    prefix: bytes
    marks: tuple[bytes, ...]
    is_only: bool
    may_close: bool
    deadline: int
    characters: int
    lines: int


def stream_of(source: Source) -> Stream:
    """One process, also before it told Ray its name; a source without pid is known by its names."""
    if source.pid is None:
        return (source,)
    return (source.label, source.ip, source.pid, source.process, source.process_pid)


BARE_STREAM = stream_of(BARE)


class Demultiplexer:
    """All open messages of a file: at most one block and one traceback per stream."""

    def __init__(self, needles: Needles, logging: frozenset[Stream] = frozenset()) -> None:
        """`logging`: streams known to print through a logger, whose bare heads are quoted text."""
        self._logging = logging
        self._block_head, self._traceback_head = needles.block_head, needles.traceback_head
        self._open: dict[Key, OpenMessage] = {}
        self._deadline = FAR  # no open message has waited too long before that line
        self._markers: tuple[bytes, ...] | None = None  # to be made anew
        self._entries: tuple[BlockEntries, OpenMessage] | None = None  # of the block that took an entry last

    @property
    def is_open(self) -> bool:
        """Whether lines without needle matter at present."""
        return bool(self._open)

    def wants_heads(self, line: int) -> bool:
        """Whether a line with a logger's head may be part of an open message, or ends one that waited too long."""
        return line > self._deadline or any(item.literal is None for item in self._open.values())

    def may_continue(self, raw: bytes, line: int) -> bool:
        """Whether a line without needle has to be looked at: it shows the pid of a process with an open message."""
        if not self._open:
            return False
        if line > self._deadline:
            return True
        if self._entries is not None and len(self._open) == 1:
            entries, block = self._entries
            if entries.belongs_to(block.literal) and entries.is_other_text(raw):
                return False
        return any(marker in raw for marker in self._marks())

    def _marks(self) -> tuple[bytes, ...]:
        """Byte strings of which every line of a process with an open message shows one."""
        if self._markers is None:
            sources = {item.first.source for item in self._open.values()}
            marks = {b"" if source.pid is None else b"%d" % source.pid for source in sources}
            marks |= {_label_mark(source.label) for source in sources if source.label is not None}
            self._markers = (b"",) if b"" in marks else tuple(marks)
        return self._markers

    def opens(self, payload: str) -> bool:
        """Whether a payload with a logger head may be the first line of a longer message."""
        traceback = self._traceback_head
        return (
            self._block_head_end(payload) is not None
            or (traceback is not None and traceback.match(payload) is not None)
            or (payload[-1:] != "}" and "={" in payload)
        )

    def take(self, message: Message, item: Unwrapped, *, needle: bool) -> list[Message]:
        """Messages that end with this payload; `message` is what it is by itself."""
        if not self._open:
            return self._begin(message, item.head) if needle else []
        ended = self._give_up(message.line) if message.line > self._deadline else []
        stream, adopted, is_rest = self._stream_of(message, item)
        for key in ((BLOCK, stream), (TRACEBACK, stream), (CUT_LINE, stream)):
            waiting = self._open.get(key)
            if waiting is None or (is_rest and waiting.literal is None):
                continue
            offer = self._offer(waiting, adopted, item.head, is_rest=is_rest)
            if offer is Offer.FOREIGN:
                continue
            if offer is not Offer.TAKEN:
                # The exception that ends a traceback has no syntax of its own: its line may be cut.
                cut = waiting.literal is None and not message.complete
                ended += self._end(key, complete=offer is Offer.CLOSED and not cut)
            if offer is not Offer.CUT:
                return ended
        return ended + self._begin(message, item.head) if needle else ended

    def learn_entries(self, raw: bytes, item: Unwrapped) -> None:
        """Note what stands before the entries of an open block, so that the next ones are known by it."""
        if item.head is not None or item.unlabelled is not None or not item.payload.startswith((" '", "{'")):
            return
        entry = item.payload.encode("utf-8", "replace")
        block = self._open.get((BLOCK, stream_of(item.source)))
        if block is not None and block.literal is not None and raw.endswith(entry):
            self._entries = BlockEntries(raw[: -len(entry)], block.literal), block

    def take_entry(self, raw: bytes, line: int, *, whole: bool) -> bool:
        """Take a line that goes on with a block just as those before it did; False sends it the long way."""
        if self._entries is None or not whole or line > self._deadline:
            return False
        entries, block = self._entries
        if len(block.lines) >= MAX_BLOCK_LINES or block.characters >= MAX_BLOCK_CHARACTERS - len(raw):
            return False
        entry = entries.take(raw) if entries.belongs_to(block.literal) else None
        if entry is not None:
            block.append(entry, line)
        return entry is not None

    def expected(self) -> Expected | None:
        """What the entries of the only block look like that took one last; None where lines need a closer look."""
        if self._entries is None or any(item.literal is None for item in self._open.values()):
            return None
        entries, block = self._entries
        if not (entries.belongs_to(block.literal) and entries.are_open):
            return None
        is_only = len(self._open) == 1 and entries.are_quoted_only
        room = MAX_BLOCK_CHARACTERS - block.characters, MAX_BLOCK_LINES - len(block.lines)
        may_close = len(block.lines) > 1 and block.lines[1].strip() != "{"  # it is not small then
        return Expected(entries.prefix, self._marks(), is_only, may_close, self._deadline, *room)

    def take_entries(self, texts: list[str], last: int, *, is_closed: bool) -> list[Message]:
        """Take lines that look as `expected` says, the last of them in line `last` of the file; gives what they end."""
        if self._entries is None or not texts:
            return []
        entries, block = self._entries
        entries.take_many(len(texts))
        block.extend(texts, last)
        return self._end((BLOCK, stream_of(block.first.source)), complete=True) if is_closed else []

    def close(self) -> list[Message]:
        """Everything still open, in file order, as incomplete."""
        keys = sorted(self._open, key=lambda key: self._open[key].first.line)
        return [message for key in keys for message in self._end(key, complete=False)]

    def _give_up(self, line: int) -> list[Message]:
        """Messages that have waited too long by that line."""
        late = [key for key, item in self._open.items() if line > item.deadline]
        ended = [message for key in late for message in self._end(key, complete=False)]
        self._deadline = min((item.deadline for item in self._open.values()), default=FAR)
        return ended

    def _end(self, key: Key, *, complete: bool) -> list[Message]:
        item = self._open.pop(key)
        self._markers = self._entries = None
        if item.small is not None and not item.has_metrics:
            item.lines, complete = item.small, True
        return [] if item.tentative else [item.message(complete=complete)]

    def _add(self, key: Key, item: OpenMessage) -> list[Message]:
        """Open a message; the oldest gives way when there are too many."""
        ended = self._end(key, complete=False) if key in self._open else []
        if len(self._open) >= MAX_OPEN:
            ended += self._end(next(iter(self._open)), complete=False)
        self._open[key] = item
        self._deadline = min(self._deadline, item.deadline)
        self._markers = None
        return ended

    def _stream_of(self, message: Message, item: Unwrapped) -> tuple[Stream, Message, bool]:
        """The stream a payload belongs to, the message it then is, and whether it is the rest of a cut line.

        An entry like ` 2: 'b',` of a dict looks like an srun label: an open dict of the driver may have it. What srun
        cuts off a line gets the label of its task again, but not the process prefix behind it; it may hold a whole
        entry when the cut fell into what stands before that.
        """
        stream = stream_of(message.source)
        if item.unlabelled is None or item.head is not None or (BLOCK, stream) in self._open:
            return stream, message, False
        cut = [
            (open_stream, waiting)
            for (_, open_stream), waiting in self._open.items()
            if waiting.literal is not None
            and waiting.first.source.label == message.source.label
            and message.line - waiting.last_line <= NEAR_LINES
        ]
        if cut and (TRACEBACK, stream) not in self._open:
            cut_stream, waiting = max(cut, key=lambda pair: (is_cut(pair[1]), pair[1].last_line))
            return cut_stream, replace(message, source=waiting.first.source), True
        driver = self._open.get((BLOCK, BARE_STREAM))
        if driver is None or driver.literal is None or not driver.literal.opened:
            return stream, message, False
        return BARE_STREAM, replace(message, source=BARE, payload=item.unlabelled), False

    def _begin(self, message: Message, head: Head | None) -> list[Message]:
        """A payload outside of any open message: a message, or the first line of one."""
        cut = self._block_head_end(message.payload)
        if cut is not None:
            key = (BLOCK, stream_of(message.source))
            if key in self._open:
                return []  # a quoted head inside a block
            if head is None and key[1] in self._logging:
                return []
            lines, rest = LiteralLines(), message.payload[cut:].lstrip()
            if not rest or lines.offer(rest) is Offer.TAKEN:
                return self._add(key, OpenMessage(message, head, lines))
        elif self._traceback_head is not None and self._traceback_head.match(message.payload):
            return self._add((TRACEBACK, stream_of(message.source)), OpenMessage(message, head, None))
        elif head is not None and message.payload[-1:] != "}":
            literal = rest_of_dict(message.payload)
            if literal is not None:
                return self._add((CUT_LINE, stream_of(message.source)), OpenMessage(message, head, literal, cut=True))
        return [message]

    def _block_head_end(self, payload: str) -> int | None:
        """Where a block head ends; the pattern may or may not allow the first line behind it."""
        found = self._block_head.match(payload)
        if found is None:
            bracket = payload.find("{", 0, MAX_HEAD)
            found = self._block_head.match(payload[:bracket]) if bracket > 0 else None
        if found is None:
            return None
        rest = payload[found.end() :].strip()
        return found.end() if not rest or rest.startswith("{") else None

    def _offer(self, item: OpenMessage, message: Message, head: Head | None, *, is_rest: bool) -> Offer:
        if item.literal is None:
            offer = self._offer_to_traceback(item, message.payload, head)
            if offer is Offer.TAKEN or offer is Offer.CLOSED:
                item.append(message.payload, message.line)
        else:
            offer = self._offer_to_block(item, item.literal, message, head, is_rest=is_rest)
        return Offer.FULL if offer is Offer.TAKEN and item.full else offer

    def _offer_to_block(
        self, item: OpenMessage, literal: LiteralLines, message: Message, head: Head | None, *, is_rest: bool
    ) -> Offer:
        if head is None:
            offer = continued(item, literal, message, is_rest=is_rest)
            if offer is Offer.FOREIGN and literal.opened and message.payload.startswith("{") and item.may_restart:
                offer = restarted(item, message)
            if offer is Offer.CLOSED and item.is_small and item.may_restart:
                item.keep_small()
                return Offer.TAKEN
            if offer is not Offer.FOREIGN:
                return offer
            if item.tentative:
                return Offer.CUT
        if item.cut or (head is None and item.head is not None):
            return Offer.FOREIGN  # a quoted head does not end a real block
        return Offer.CUT if self._block_head_end(message.payload) is not None else Offer.FOREIGN

    def _offer_to_traceback(self, item: OpenMessage, payload: str, head: Head | None) -> Offer:
        """Indented lines go on, the first other one is the exception; vLLM repeats the head on every line."""
        if head is not None and (item.head is None or not head.same_call(item.head)):
            return Offer.FOREIGN
        if self._traceback_head is not None and self._traceback_head.match(payload):
            return Offer.CUT
        indented = not payload or payload[0] in " \t" or payload.startswith('> File "')
        return Offer.TAKEN if indented else Offer.CLOSED


def _label_mark(label: str) -> bytes:
    """Bytes that every line with that label shows."""
    first = label.split(" ", maxsplit=1)[0]
    return f"{first}: ".encode() if first.isdigit() else first.encode()
