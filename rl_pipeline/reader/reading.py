"""The state of reading one file: windows in, messages out.

See `messages` for the two modes in which lines are looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from rl_pipeline.reader.containers import LogicalLine, RecordJoiner, record_of
from rl_pipeline.reader.demultiplexer import FAR, Demultiplexer
from rl_pipeline.reader.envelopes import source_of_process
from rl_pipeline.reader.evidence import BEGINNING_BYTES, TAIL_BYTES, Times, last_moment
from rl_pipeline.reader.folds import folded_lines
from rl_pipeline.reader.lines import (
    REPEATED_MARK,
    USUAL,
    Unwrapped,
    plain_text,
    repeat_count,
    unwrap,
    without_suffix,
)
from rl_pipeline.reader.loops import Loops
from rl_pipeline.reader.message import Message
from rl_pipeline.reader.ordered import OrderedRun
from rl_pipeline.reader.planned import IN_ORDER, LONG_WAY, TOGETHER, PlannedWindow, span_of
from rl_pipeline.reader.read_report import Needles, ReadReport
from rl_pipeline.reader.regular import PlannedMessages, Planner
from rl_pipeline.reader.resume import Resume
from rl_pipeline.reader.scan import NeedleScan, ScannedWindow, undecodable
from rl_pipeline.reader.shapes import ShapeBook
from rl_pipeline.reader.sources import Earlier, Fingerprint
from rl_pipeline.reader.windows import Window
from rl_pipeline.reader.years import Moment, YearResolver, dated_moment

Item = Message | OrderedRun | PlannedMessages
NO_HEAD = (None, None, None)
NO_MOMENT = (None, None)


def _any_frame(_frame: str) -> bool:
    return True


class Reading:
    """The state of reading one file."""

    def __init__(
        self,
        needles: Needles,
        report: ReadReport,
        years: YearResolver,
        planner: Planner | None,
        loops: Loops | None,
        *,
        in_container: bool,
    ) -> None:
        self.report, self.years, self.times = report, years, Times()
        self.scan = NeedleScan(needles.any_of, planner.needles if planner and loops else (), loops)
        self.book = ShapeBook(planner, loops) if planner and loops else None
        self.planned: PlannedWindow | None = None  # of the present window
        self._dated_lines: list[tuple[int, datetime]] = []  # index in the present window, and time
        self._index = 0  # of the present line
        self._next = 0  # of the ordered lines of the present window, the first not given
        self._left = FAR  # of these, the first that is read the long way after all
        self.demultiplexer = Demultiplexer(needles)
        self.records: RecordJoiner | None = RecordJoiner() if in_container else None
        self._needles = needles.any_of
        self._text_needles = tuple(needle.decode("utf-8", "replace") for needle in needles.any_of)
        self.tail = b""
        self.began_dated = True

    def resume(self, counted: ReadReport, digest: Fingerprint) -> Resume | None:
        """How to go on later; None where the beginning of the file would be read otherwise when it is longer.

        Args:
            counted: the report with the lines and bytes that were given so far.
            digest: of the stored bytes.
        """
        is_plain = self.report.compression is None and self.report.read_error is None
        if not is_plain or counted.bytes_read < BEGINNING_BYTES or counted.cut_tail or self.records is not None:
            return None
        if not self.began_dated:
            return None  # stamps without year were read in the light of the file's time, which changes
        report = replace(
            counted, undecodable_bytes=self.report.undecodable_bytes, folded_lines=self.report.folded_lines
        )
        earlier = Earlier(counted.bytes_read, digest.pieces(counted.bytes_read))
        return Resume(earlier, report, self.years, self.times, self.demultiplexer, self.tail)

    def window(self, window: Window) -> Iterator[Item]:
        """Messages that end in this window; a part of a line already cut for its length is passed over."""
        self.tail = (self.tail + window.data[-TAIL_BYTES:])[-TAIL_BYTES:]
        if window.is_inside:
            begin = window.data.find(b"\n") + 1 or len(window.data)
            self.report.undecodable_bytes += undecodable(window.data[:begin])
            window = Window(window.data[begin:], window.offset + begin, window.line + 1)
        if window.data:
            yield from self._scanned(self.scan.scan(window))

    def _scanned(self, scanned: ScannedWindow) -> Iterator[Item]:
        self.report.undecodable_bytes += scanned.undecodable_bytes
        if self.records is None:
            self.report.folded_lines += self._folded_lines(scanned)
        before, self._dated_lines = self.years.evidence, []
        self.planned = None
        if self.book is not None and self.records is None and before is not None:
            self.planned, self._next, self._left = PlannedWindow(self.book, scanned), 0, FAR
        yield from self._lines(scanned, self.planned)
        if self.planned is not None and before is not None:
            yield from self._caught_up(scanned.count, is_last=True)
            if self.planned.ordered is not None:
                self._saw(self.planned.ordered.logged_at[: min(self._next, self._left)])
            for messages in self.planned.together(before, self._dated_lines):
                self._saw(messages.logged_at)
                yield messages
            self.planned.learn(self.demultiplexer.opens)

    def _saw(self, moments: Any) -> None:  # noqa: ANN401 - datetime64 of numpy
        """Times of lines that were read many at a time; none has a zone."""
        for at in span_of(moments) or ():
            self.times.saw(at, None)

    def _folded_lines(self, scanned: ScannedWindow) -> int:
        """Lines that Ray left out, over all lines of a window, with or without needle."""
        if scanned.marks is None or self.book is None:
            return folded_lines(scanned.window.data)
        return self.book.folded_lines(scanned.window.data, scanned.marks)

    def _lines(self, scanned: ScannedWindow, planned: PlannedWindow | None) -> Iterator[Item]:
        """Messages of lines that are looked at one by one."""
        data = scanned.window.data
        hits = scanned.hit_list if planned is None else planned.remaining()
        index, hit = 0, 0
        while True:
            if self.demultiplexer.is_open or self.records is not None:
                index = yield from self._follow(scanned, index)
                hit = bisect_left(hits, index)
            if hit >= len(hits):
                return
            line = hits[hit]
            index, hit = line + 1, hit + 1
            begin, end = scanned.span(line)
            text = data[begin:end]
            raw = text.rstrip(b"\n")
            number, offset = scanned.window.line + line, scanned.window.offset + begin
            yield from self._caught_up(line)
            if record_of(raw) is not None:
                self.records, index = RecordJoiner(), index - 1
                self.report.folded_lines -= folded_lines(data[begin:])  # they are counted one by one
                if planned is not None:
                    planned.leave(bisect_left(scanned.hit_list, line))
                    self._left, self._next = self._next, len(planned.ordered or ())
                continue
            self._index = line
            message = self._usual(raw, number, offset) if len(raw) < len(text) else None
            if message is not None:
                yield message
            else:
                yield from self._line(raw, number, offset, needle=True, whole=len(raw) < len(text))

    def _caught_up(self, line: int, *, is_last: bool = False) -> Iterator[OrderedRun]:
        """The regular lines before a line that have not been given."""
        ordered = None if self.planned is None else self.planned.ordered
        if ordered is None:
            return
        start, stop = self._next, bisect_left(ordered.indexes, line, self._next)
        if start < stop:
            self._next = stop
            self.years.saw(ordered.moment(stop - 1))
        if start < stop or is_last:
            yield OrderedRun(ordered, start, stop, is_last)

    def _usual(self, raw: bytes, number: int, offset: int) -> Message | None:
        """The message of a line that nine of ten look like, at a fraction of the cost; None sends it the long way.

        Only while nothing is open, and only what opens nothing: the result is that of `_line`.
        """
        text = plain_text(raw)
        usual = USUAL.match(text)
        if usual is None or "\r" in text:
            return None
        name, pid, ip, dated, level, origin, short_level, stamp, file = usual.groups()
        payload, count = without_suffix(text[usual.end() :])
        if self.demultiplexer.opens(payload):
            return None
        moment = self._dated(dated) if dated is not None else self._undated(stamp)
        at, zone = moment or NO_MOMENT
        return Message(
            line=number,
            byte_offset=offset,
            source=source_of_process(name, pid, ip),
            payload=payload,
            logged_at=at,
            zone=zone,
            logger="vllm" if dated is None else "loguru",
            level=level or short_level,
            origin=origin or file,
            repeat_count=count,
        )

    def end(self) -> Iterator[Message]:
        """Messages that the end of the file ends."""
        if self.records is not None:
            for line in self.records.close():
                yield from self._logical(line, whole=False)
        yield from self.demultiplexer.close()
        last = last_moment(self.tail, self.years)
        if last is not None:
            self.times.saw(last.at, last.zone)
        self.times.into(self.report)

    def _follow(self, scanned: ScannedWindow, index: int) -> Generator[Item, None, int]:
        """Line by line from `index` on; returns the index at which scanning may go on."""
        window, hits, planned = scanned.window, scanned.hit_list, self.planned
        hit = bisect_left(hits, index)
        while index < scanned.count:
            if self.records is None and not self.demultiplexer.is_open:
                return index
            if planned is not None and self.records is None:
                followed = yield from self._followed(planned, index)
                if followed > index:
                    index, hit = followed, bisect_left(hits, followed)
                    continue
            begin, end = scanned.span(index)
            text = window.data[begin:end]
            raw = text.rstrip(b"\n")
            needle = hit < len(hits) and hits[hit] == index
            hit += needle
            number, offset = window.line + index, window.offset + begin
            self._index = index
            index += 1
            if self.records is not None:
                for line in self.records.take(raw, number, offset):
                    yield from self._logical(line)
            elif self.demultiplexer.take_entry(raw, number, whole=len(raw) < len(text)) or (
                needle and planned is not None and self._stays_planned(planned, hit - 1, number)
            ):
                continue
            elif needle or self.demultiplexer.may_continue(raw, number):
                yield from self._caught_up(index - 1)
                if needle and planned is not None and planned.ways[hit - 1] == IN_ORDER:
                    self._next += 1  # it may be part of what is open
                yield from self._line(raw, number, offset, needle=needle, whole=len(raw) < len(text))
        return index

    def _followed(self, planned: PlannedWindow, index: int) -> Generator[Item, None, int]:
        """Take the entries that an open block goes on with; returns the first line that needs a closer look."""
        expected = self.demultiplexer.expected()
        if expected is None:
            return index
        stop, last, texts, is_closed = planned.follow(index, expected)
        number = planned.scanned.window.line + last
        ended = self.demultiplexer.take_entries(texts, number, is_closed=is_closed)
        if ended:
            yield from self._caught_up(last)
            yield from ended
        return stop

    def _stays_planned(self, planned: PlannedWindow, hit: int, number: int) -> bool:
        """Whether a regular line stands for itself whatever is open; a traceback may be printed with such heads."""
        if not self.demultiplexer.wants_heads(number):
            return planned.ways[hit] != LONG_WAY
        if planned.ways[hit] == TOGETHER:
            planned.ways[hit] = LONG_WAY
        return False

    def _logical(self, line: LogicalLine, *, whole: bool = True) -> list[Message]:
        """Messages that end with a line put together from a container's records."""
        if REPEATED_MARK in line.raw:
            self.report.folded_lines += repeat_count(line.raw) - 1
        needle = any(needle in line.raw for needle in self._needles)
        if needle or self.demultiplexer.may_continue(line.raw, line.line):
            return self._line(line.raw, line.line, line.byte_offset, needle=needle, received=line.received, whole=whole)
        return []

    def _line(
        self, raw: bytes, number: int, offset: int, *, needle: bool, received: str | None = None, whole: bool = True
    ) -> list[Message]:
        """Messages that end with this line; one that is not `whole` has no line end, so its last message may be cut."""
        found = unwrap(raw, _any_frame if self.demultiplexer.is_open else self._wanted)
        if len(found) == 1:
            message = self._message(found[0], number, offset, received, whole=whole)
            ended = self.demultiplexer.take(message, found[0], needle=needle)
            if self.demultiplexer.is_open and received is None:
                self.demultiplexer.learn_entries(raw, found[0])
            return ended
        ended = []
        for item in found:
            message = self._message(item, number, offset, received, whole=whole or item is not found[-1])
            ended += self.demultiplexer.take(message, item, needle=self._wanted(item.payload))
        return ended

    def _message(self, item: Unwrapped, number: int, offset: int, received: str | None, *, whole: bool) -> Message:
        """The payload as a message of its own."""
        logger, level, origin, *_ = item.head or NO_HEAD
        at, zone = self._moment(item, received) or NO_MOMENT
        return Message(
            line=number,
            byte_offset=offset,
            source=item.source,
            payload=item.payload,
            logged_at=at,
            zone=zone,
            logger=logger,
            level=level,
            origin=origin,
            repeat_count=item.repeat_count,
            complete=whole,
            after_bar=item.after_bar,
        )

    def _wanted(self, text: str) -> bool:
        return any(needle in text for needle in self._text_needles)

    def _moment(self, item: Unwrapped, received: str | None) -> Moment | None:
        """The time of a line; dated ones help those without year that follow."""
        received = item.received or received
        collected = dated_moment(received) if received else None
        if collected is not None:
            self.years.saw(collected.at)
            self._dated_lines.append((self._index, collected.at))
        head = item.head
        if head is None or head.stamp is None:
            moment = None
        else:
            moment = self._dated(head.stamp) if head.dated else self._undated(head.stamp)
        if moment is None and collected is not None:
            self.times.saw(*collected)
        return moment or collected

    def _dated(self, stamp: str) -> Moment | None:
        moment = dated_moment(stamp)
        if moment is not None:
            self.years.saw(moment.at)
            self.times.saw(*moment)
            self._dated_lines.append((self._index, moment.at))
        return moment

    def _undated(self, stamp: str) -> Moment | None:
        at = self.years.resolve(stamp)
        if at is None:
            return None
        self.times.saw(at, None)
        return Moment(at, None)
