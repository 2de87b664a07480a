"""What to look for in a log, and what is known about the file when it has been read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Needles:
    """Byte strings that make a line worth unwrapping, and the payloads that open a multi-line message.

    Every line whose payload matches `block_head` or `traceback_head` must hold one of `any_of`; the patterns
    are matched at the start of the payload. What follows a `block_head` on the same line may be the block's first line.
    """

    any_of: tuple[bytes, ...]
    block_head: re.Pattern[str]
    traceback_head: re.Pattern[str] | None = None


@dataclass(slots=True)
class ReadReport:
    """Filled while the messages of a file are read; whole once the last message has come.

    `lines` counts the lines of the file and `folded_lines` those that Ray left out, so that both together are the
    lines printed. Times are the earliest and latest found; `zone` is "UTC" only if no unmarked local time was met.
    """

    size_bytes: int = 0  # of the file as stored
    bytes_read: int = 0  # of text, after decompression
    lines: int = 0
    folded_lines: int = 0
    compression: str | None = None  # gzip or zstd
    fingerprint: str = ""  # digest of the stored bytes that were read, hex; see `sources.Fingerprint`
    nul_bytes: int = 0
    undecodable_bytes: int = 0
    long_lines: int = 0  # lines cut because they were longer than the reader holds
    cut_tail: bool = False  # the last line has no line end
    read_error: str | None = None
    first_logged_at: datetime | None = None
    last_logged_at: datetime | None = None
    zone: str | None = None
