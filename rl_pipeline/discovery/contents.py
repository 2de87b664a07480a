"""First bytes of a log: is it text at all, and are two logs the same file under two names?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rl_pipeline.discovery.found import JobLog, Problem
from rl_pipeline.places import open_binary

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD_BYTES = 4096
_COMPARED_BYTES = 1 << 20

_KNOWN_BINARY = (
    (b"\xfd7zXZ\x00", "xz archive", "unpack it (unxz), or pack it with gzip or zstd"),
    (b"BZh", "bzip2 archive", "unpack it (bunzip2), or pack it with gzip or zstd"),
    (b"PK\x03\x04", "zip archive", "unpack it and point at the logs inside"),
    (b"PAR1", "Parquet file", "point at job logs"),
    (b"\x7fELF", "program", "point at job logs"),
    (b"\x89PNG", "picture", "point at job logs"),
    (b"%PDF", "PDF document", "point at job logs"),
    (b"\x80\x04\x95", "pickle", "point at job logs"),
    (b"\x80\x05\x95", "pickle", "point at job logs"),
    (b"SQLite format 3\x00", "SQLite database", "point at job logs"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8 (iconv -f utf-16 -t utf-8)"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8 (iconv -f utf-16 -t utf-8)"),
)
# Tab, line feed, form feed, carriage return, escape and backspace stand in logs; NUL runs are the
# holes of a sparse file. A text has next to none of the other control bytes.
_CONTROL = bytes(set(range(1, 32)) - {8, 9, 10, 11, 12, 13, 27})
_MOST_CONTROL = 0.05


def unreadable(path: Path) -> Problem | None:
    """Why a file cannot be read as a log, or None when it looks like one."""
    try:
        with open_binary(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        return Problem(path, f"cannot be opened: {error.strerror or error}", "check its permissions")
    if head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        return None
    for magic, what, do in _KNOWN_BINARY:
        if head.startswith(magic):
            return Problem(path, f"no log but a binary file ({what})", do)
    text = head.replace(b"\x00", b"")
    control = len(text) - len(text.translate(None, _CONTROL))
    if control > _MOST_CONTROL * len(text):
        return Problem(path, "no log but a binary file", "point at job logs: text, or text packed with gzip or zstd")
    return None


def doubles(jobs: Sequence[JobLog]) -> dict[JobLog, JobLog]:
    """Jobs whose log is byte for byte that of an earlier one, each with that earlier one.

    Only files of equal size are opened, and compared until the first difference.
    """
    by_size: dict[int, list[JobLog]] = {}
    found: dict[JobLog, JobLog] = {}
    for job in jobs:
        originals = by_size.setdefault(job.size_bytes, [])
        original = next((other for other in originals if _same_bytes(other.path, job.path)), None)
        if original is None:
            originals.append(job)
        else:
            found[job] = original
    return found


def _same_bytes(first: Path, second: Path) -> bool:
    try:
        with open_binary(first) as one, open_binary(second) as two:
            while True:
                left, right = one.read(_COMPARED_BYTES), two.read(_COMPARED_BYTES)
                if left != right:
                    return False
                if not left:
                    return True
    except OSError:
        return False
