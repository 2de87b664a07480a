"""What the beginning and the end of a file tell about its times, and whether it is a container's log.

Vendors' heads without a year need a dated line nearby; the first one may come after them, so the beginning is looked
at before reading starts. Lines without needle are not unwrapped when reading, so the first and last time of a log
come from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rl_pipeline.reader.containers import record_of
from rl_pipeline.reader.demultiplexer import Stream, stream_of
from rl_pipeline.reader.lines import Unwrapped, unwrap
from rl_pipeline.reader.read_report import ReadReport
from rl_pipeline.reader.sources import text_chunks
from rl_pipeline.reader.years import DATED, Moment, YearResolver, dated_moment

BEGINNING_BYTES = 1024 * 1024
TAIL_BYTES = 64 * 1024
DATE = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
STAMP = re.compile(rb"\d\d-\d\d[ T]\d\d:\d\d:\d\d")
# What stands before the stamp of a usual head of one process (see `lines.USUAL`), and the head from its stamp on.
USUAL_BEFORE = re.compile(rb"\)(?:\x1b\[[0-9;]{0,12}m)* (?:\d{4}-|[A-Z]{4,8} )$")
USUAL_HEAD = re.compile(
    rb"\d\d-\d\d \d\d:\d\d:\d\d"
    rb"(?:\.\d{3} \| [A-Z]{1,12} *\| [^:|\s]{0,200}:[^:|\s]{0,200}:\d{1,8} - | \[[^\]\s:]{1,300}:\d{1,8}\] )"
)
MAX_CANDIDATES = 500  # lines with a date that turn out to have it inside their text
PREAMBLE_LINES = 200
CONTAINER_LINES = 50
MAX_CANDIDATE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the first megabyte tells.

    `dated` is the first time with a date in a head or envelope; `undated` the first stamp without year, if it comes
    before; `preamble` a date in the text of a launcher's first lines, good for the year alone; `logging` are the
    streams that print through a logger.
    """

    dated: Moment | None = None
    undated: str | None = None
    preamble: datetime | None = None
    in_container: bool = False
    logging: frozenset[Stream] = frozenset()


class Times:
    """Earliest and latest moment; unmarked local times count before UTC, which only collectors write."""

    def __init__(self) -> None:
        self._spans: dict[str | None, list[datetime]] = {}

    def saw(self, at: datetime, zone: str | None) -> None:
        """Take one more moment."""
        span = self._spans.get(zone)
        if span is None:
            self._spans[zone] = [at, at]
        elif at > span[1]:
            span[1] = at
        elif at < span[0]:
            span[0] = at

    def into(self, report: ReadReport) -> None:
        """Write the result down."""
        for zone in (None, "UTC"):
            if zone in self._spans:
                report.first_logged_at, report.last_logged_at = self._spans[zone]
                report.zone = zone
                return


def look_at_beginning(path: Path) -> Beginning:
    """Evidence from the first megabyte of text; the file is opened once more for it."""
    text = b""
    with closing(text_chunks(path, ReadReport())) as chunks:
        for chunk in chunks:
            text += chunk
            if len(text) >= BEGINNING_BYTES:
                break
    lines = text[:BEGINNING_BYTES].split(b"\n")
    dated, undated = _first_times(lines)
    return Beginning(
        dated=dated,
        undated=undated,
        preamble=None if dated else _preamble(lines),
        in_container=any(record_of(line) is not None for line in lines[:CONTAINER_LINES]),
        logging=frozenset(_logging(lines)),
    )


def _first_times(lines: list[bytes]) -> tuple[Moment | None, str | None]:
    """The first dated moment, and the first stamp without year before it."""
    undated, candidates = None, 0
    for line in lines:
        if STAMP.search(line) is None or len(line) > MAX_CANDIDATE_BYTES:
            continue
        candidates += 1
        if candidates > MAX_CANDIDATES:
            break
        dated, stamp = line_time(line)
        if dated is not None:
            return dated, undated
        undated = undated or stamp
    return None, undated


def line_time(raw: bytes) -> tuple[Moment | None, str | None]:
    """The dated moment of a line, or its stamp without year."""
    record = record_of(raw)
    if record is None:
        return payload_time(unwrap(raw, _no)[-1:], None)
    return payload_time(unwrap(record.text, _no)[-1:], record.received)


def payload_time(found: list[Unwrapped], received: str | None) -> tuple[Moment | None, str | None]:
    """The same for a line that is unwrapped: its head's time, else its collector's."""
    stamp = None
    for item in found:
        received = item.received or received
        if item.head is not None and item.head.stamp is not None:
            if item.head.dated and (moment := dated_moment(item.head.stamp)) is not None:
                return moment, None
            stamp = None if item.head.dated else item.head.stamp
    return (dated_moment(received) if received else None), stamp


def _logging(lines: list[bytes]) -> Iterator[Stream]:
    """Streams that show a logger's head with a time."""
    told: set[bytes] = set()  # what stood before usual heads: the next one like that tells nothing new
    for line in lines:
        stamp = STAMP.search(line) if len(line) <= MAX_CANDIDATE_BYTES else None
        if stamp is None:
            continue
        before = line[: stamp.start()]
        if before in told and _is_usual(line, stamp.start()):
            continue
        record = record_of(line)
        for item in unwrap(line if record is None else record.text, _no)[-1:]:
            if item.head is not None:
                yield stream_of(item.source)
                if record is None and USUAL_BEFORE.search(before) and _is_usual(line, stamp.start()):
                    told.add(before)


def _is_usual(line: bytes, stamp: int) -> bool:
    """Whether a line of one frame goes on from its stamp as the usual heads do."""
    is_plain = line.isascii() and b"\0" not in line and b"\r" not in line.rstrip(b"\r")
    return is_plain and USUAL_HEAD.match(line, stamp) is not None


def _no(_frame: str) -> bool:
    return False


def _preamble(lines: list[bytes]) -> datetime | None:
    """A full date in the bare lines of a launcher."""
    for line in lines[:PREAMBLE_LINES]:
        if DATE.search(line) is None or len(line) > MAX_CANDIDATE_BYTES:
            continue
        for found in unwrap(line, _no)[-1:]:
            if found.head is not None or found.source.pid is not None:
                continue
            date = DATED.search(found.payload)
            moment = dated_moment(date.group()) if date else None
            if moment is not None and 2000 <= moment.at.year <= 2100:
                return moment.at
    return None


def last_moment(tail: bytes, years: YearResolver) -> Moment | None:
    """The time of the last line of a text's end that has one."""
    lines = tail.split(b"\n")
    for line in reversed(lines[1:] if len(tail) >= TAIL_BYTES else lines):
        if STAMP.search(line) is None:
            continue
        dated, stamp = line_time(line)
        at = years.resolve(stamp) if stamp else None
        if at is not None:
            return Moment(at, None)
        if dated is not None:
            return dated
    return None
