"""Chunks of text to windows of whole lines, with exact byte offsets and line numbers.

A window is what the scanner looks at in one go. Lines are split at line feeds only. A line longer than
`MAX_LINE_BYTES` is cut there (never inside a character), so that a file without line ends cannot fill the memory;
its parts keep the line's number and have offsets of their own, and only the first is worth a look. Where chunks begin
and end leaves no trace: the same file gives the same lines for every chunk size.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rl_pipeline.reader.read_report import ReadReport

LINE_FEED = 10
MAX_LINE_BYTES = 16 * 1024 * 1024


class Counts(NamedTuple):
    """What some bytes hold."""

    line_feeds: int
    nuls: int
    is_ascii: bool


def counts_of(data: bytes) -> Counts:
    """Looks at the bytes once for each."""
    return Counts(data.count(b"\n"), data.count(b"\0") if b"\0" in data else 0, data.isascii())


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive lines; only the last may lack its line feed (end of file, or a part of a long line)."""

    data: bytes
    offset: int  # of data[0] in the text
    line: int  # number of the first line, from 1
    is_inside: bool = False  # data[0] stands inside a line that was cut for its length
    is_ascii: bool = False  # as far as is known


def windows(
    chunks: Iterator[bytes],
    report: ReadReport,
    *,
    max_line: int = MAX_LINE_BYTES,
    offset: int = 0,
    line: int = 1,
    counts_of: Callable[[bytes], Counts] = counts_of,
) -> Iterator[Window]:
    """Windows of a text given in chunks; counts bytes, lines, NULs and long lines into the report.

    Args:
        chunks: the text.
        report: counts go up when the next window is asked for.
        max_line: longer lines are cut, in bytes.
        offset: of the first byte.
        line: number of the first line.
        counts_of: counts.
    """
    cut_line = 0
    for data in _whole_lines(chunks, max_line):
        counts = counts_of(data)
        yield Window(data, offset, line, report.cut_tail, counts.is_ascii)
        if report.cut_tail and line != cut_line:  # the window before this one ended inside the line
            report.long_lines += 1
            cut_line = line
        offset += len(data)
        line += counts.line_feeds
        report.lines += counts.line_feeds
        report.bytes_read += len(data)
        report.nul_bytes += counts.nuls
        report.cut_tail = not data.endswith(b"\n")
    report.lines += report.cut_tail


def _whole_lines(chunks: Iterator[bytes], max_line: int) -> Iterator[bytes]:
    """Text of whole lines, or a part of a long one."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        end = chunk.rfind(b"\n") + 1
        if size > max_line:
            rest = yield from _cut_long(b"".join([*held, chunk]), max_line)
        elif end:
            yield b"".join([*held, memoryview(chunk)[:end]])
            rest = chunk[end:]
        else:
            held.append(chunk)
            continue
        held, size = [rest], len(rest)
    if size:
        yield b"".join(held)


def _cut_long(data: bytes, max_line: int) -> Generator[bytes, None, bytes]:
    """Yield whole lines and the parts of long ones; return what has no end yet."""
    start = begin = 0  # of the text not yet handed on, of the present line
    while True:
        end = data.find(b"\n", begin, begin + max_line + 1)
        if end >= 0:
            begin = end + 1
            continue
        if len(data) - begin <= max_line:
            break
        cut = begin + max_line
        while cut > begin + 1 and data[cut] & 0xC0 == 0x80 and begin + max_line - cut < 3:
            cut -= 1
        yield data[start:cut]
        start = begin = cut
    if begin > start:
        yield data[start:begin]
    return data[begin:]
