"""A file to its messages: the rooms of the reader on one string.

Two modes. While no multi-line message is open, a compiled scan over whole windows finds the lines that hold a needle
and only those are unwrapped. While one is open, the lines of its process are followed one by one until it closes; the
others are still only looked at if they hold a needle. Logs of container runtimes are followed throughout, since their
records may cut a needle in two. Memory holds one window, one long line and the open messages, all bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rl_pipeline.reader.demultiplexer import Demultiplexer
from rl_pipeline.reader.evidence import look_at_beginning
from rl_pipeline.reader.loops import load
from rl_pipeline.reader.message import Message
from rl_pipeline.reader.ordered import OrderedRun
from rl_pipeline.reader.read_report import Needles, ReadReport
from rl_pipeline.reader.reading import Reading
from rl_pipeline.reader.regular import PlannedMessages, Planner
from rl_pipeline.reader.resume import Resume
from rl_pipeline.reader.sources import CHUNK_BYTES, Fingerprint, starts_plain, text_chunks
from rl_pipeline.reader.windows import MAX_LINE_BYTES, Counts, counts_of, windows
from rl_pipeline.reader.years import YearResolver


def read_messages(
    path: Path,
    needles: Needles,
    report: ReadReport,
    *,
    anchor: datetime | None = None,
    on_bytes: Callable[[int], None] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    max_line: int = MAX_LINE_BYTES,
) -> Iterator[Message]:
    """Messages of one file, in the order in which they end.

    Arguments and errors are those of `read_planned`, without a planner.
    """
    reading = read_planned(
        path, needles, report, None, anchor=anchor, on_bytes=on_bytes, chunk_bytes=chunk_bytes, max_line=max_line
    )
    for item in reading:
        if isinstance(item, Message):
            yield item


def read_planned(
    path: Path,
    needles: Needles,
    report: ReadReport,
    planner: Planner | None,
    *,
    anchor: datetime | None = None,
    on_bytes: Callable[[int], None] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    max_line: int = MAX_LINE_BYTES,
    resume: Resume | None = None,
    on_resume: Callable[[Resume], None] | None = None,
) -> Iterator[Message | OrderedRun | PlannedMessages]:
    """Messages of one file, in the order in which they end; those that a planner has a plan for in their short forms.

    Args:
        path: plain text, gzip or zstd.
        needles: what makes a line a message, and what opens a multi-line one.
        report: filled on the way; whole when the iterator is exhausted.
        planner: makes plans for lines that differ only in numbers; None gives each message for itself.
        anchor: a time near the end of the log (the file's own), for stamps without year and no dated line.
        on_bytes: told how many stored bytes were read since the last call.
        chunk_bytes: stored bytes read at once; changes nothing but speed and memory.
        max_line: longer lines are cut, in bytes.
        resume: how far an earlier reading of a file came that has grown since; what comes then is what would have
            come after that. The report is filled as if all had been read.
        on_resume: told how to go on from the last whole line, when all before it has been given and before what it
            is told changes again; not called where only a full reading gives what a full reading gives.

    Raises:
        OSError: the file cannot be opened; trouble further in is noted in the report.
    """
    digest = Fingerprint(resume.earlier.pieces if resume else ())
    if resume is None:
        reading, earlier = _beginning(path, needles, report, planner, anchor), None
    else:
        reading, earlier = _resumed(resume, needles, report, planner), resume.earlier
    chunks = text_chunks(path, report, on_bytes=on_bytes, chunk_bytes=chunk_bytes, earlier=earlier, digest=digest)
    offset, line = (report.bytes_read, report.lines + 1) if resume else (0, 1)
    last, counted = None, replace(report)
    loops = load()
    counted_by = counts_of if loops is None else lambda data: Counts(*loops.count_bytes(data))
    for window in windows(chunks, report, max_line=max_line, offset=offset, line=line, counts_of=counted_by):
        if last is not None:
            yield from reading.window(last)
        last, counted = window, replace(report)
    if last is not None and last.data.endswith(b"\n"):
        yield from reading.window(last)
        last, counted = None, replace(report)
    if on_resume is not None and starts_plain(path) and (told := reading.resume(counted, digest)) is not None:
        on_resume(told)
    if last is not None:
        yield from reading.window(last)
    yield from reading.end()


def _beginning(
    path: Path, needles: Needles, report: ReadReport, planner: Planner | None, anchor: datetime | None
) -> Reading:
    """A reading that begins at the beginning, in the light of what the first megabyte tells."""
    beginning = look_at_beginning(path)
    first = beginning.dated.at if beginning.dated is not None else beginning.preamble
    reading = Reading(
        needles, report, YearResolver(first, anchor), planner, load(), in_container=beginning.in_container
    )
    reading.began_dated = first is not None
    reading.demultiplexer = Demultiplexer(needles, beginning.logging)
    if beginning.dated is not None:
        reading.times.saw(beginning.dated.at, beginning.dated.zone)
    if beginning.undated is not None and (at := reading.years.resolve(beginning.undated)) is not None:
        reading.times.saw(at, None)
    return reading


def _resumed(resume: Resume, needles: Needles, report: ReadReport, planner: Planner | None) -> Reading:
    """A reading that goes on."""
    for name in ReadReport.__slots__:
        setattr(report, name, getattr(resume.report, name))
    reading = Reading(needles, report, resume.years, planner, load(), in_container=False)
    reading.demultiplexer, reading.times, reading.tail = resume.demultiplexer, resume.times, resume.tail
    return reading
