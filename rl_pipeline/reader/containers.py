"""Records of container runtimes: docker's JSON files and the CRI's text, one record per physical line.

A runtime cuts lines of the program at 16 KiB; the parts are put together here, per stream, before anything else looks
at them. The time of a record is the runtime's, in UTC, and serves lines that have none of their own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from rl_pipeline.reader.windows import MAX_LINE_BYTES

DOCKER_MARKS = (b'{"log":', b'{"stream":', b'{"time":')
CRI = re.compile(
    rb"(\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF])(?::\S{0,40})?(?: (.*)|$)", re.DOTALL
)
MAX_RECORD = 4 * 1024 * 1024  # runtimes write 16 KiB; escapes make that longer, not by more than this


class Record(NamedTuple):
    """One record: a piece of a line of the program, or a whole one."""

    text: bytes
    stream: str
    received: str
    ends: bool


class LogicalLine(NamedTuple):
    """A line as the program wrote it; `line` and `byte_offset` are those of its first record."""

    raw: bytes
    line: int
    byte_offset: int
    received: str | None


def record_of(raw: bytes) -> Record | None:
    """The record a physical line is, or None."""
    if raw.startswith(b"{"):
        return _docker(raw) if raw.startswith(DOCKER_MARKS) and len(raw) < MAX_RECORD else None
    if not raw[:4].isdigit():
        return None
    found = CRI.match(raw)
    if found is None:
        return None
    received, stream, part, text = found.groups()
    return Record(text or b"", stream.decode(), received.decode(), part == b"F")


def _docker(raw: bytes) -> Record | None:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    text, stream, received = record.get("log"), record.get("stream", ""), record.get("time", "")
    if not (isinstance(text, str) and isinstance(stream, str) and isinstance(received, str)):
        return None
    written = text.encode("utf-8", "replace")
    return Record(written.removesuffix(b"\n"), stream, received, written.endswith(b"\n"))


@dataclass(slots=True)
class RecordJoiner:
    """Puts the parts of lines together, per stream."""

    _parts: dict[str, tuple[list[bytes], int, int, str]] = field(default_factory=dict)
    _held: int = 0

    def take(self, raw: bytes, line: int, byte_offset: int) -> list[LogicalLine]:
        """Lines that end with this physical line; one that is no record stands for itself."""
        record = record_of(raw)
        if record is None:
            return [LogicalLine(raw, line, byte_offset, None)]
        parts, first, offset, received = self._parts.pop(record.stream, ([], line, byte_offset, record.received))
        parts.append(record.text)
        self._held += len(record.text)
        if not record.ends and self._held <= MAX_LINE_BYTES:
            self._parts[record.stream] = (parts, first, offset, received)
            return []
        return self._lines(parts, first, offset, received)

    def close(self) -> list[LogicalLine]:
        """Lines whose last part never came."""
        rest = [line for parts in self._parts.values() for line in self._lines(*parts)]
        self._parts.clear()
        return sorted(rest, key=lambda line: line.byte_offset)

    def _lines(self, parts: list[bytes], first: int, offset: int, received: str) -> list[LogicalLine]:
        text = b"".join(parts)
        self._held -= len(text)
        return [LogicalLine(raw, first, offset, received) for raw in text.split(b"\n")]
