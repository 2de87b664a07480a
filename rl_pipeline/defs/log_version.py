"""The data version of a log: everything by which a later look decides whether anything changed.

    <fingerprint>.<size in bytes>.<time of the last write in ns>.<final|open>

A sensor compares thousands of logs with one query and without opening one. `open` says that the job
was still running, and that its tables are those of the part written so far.
"""

from __future__ import annotations

from dataclasses import dataclass

FINAL, OPEN = "final", "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogVersion:
    """The parts of a raw log's data version."""

    fingerprint: str
    size_bytes: int
    mtime_ns: int
    is_final: bool

    def __str__(self) -> str:
        return f"{self.fingerprint}.{self.size_bytes}.{self.mtime_ns}.{FINAL if self.is_final else OPEN}"

    def same_file(self, size_bytes: int, mtime_ns: int) -> bool:
        """Whether a file with these facts need not be looked into."""
        return (self.size_bytes, self.mtime_ns) == (size_bytes, mtime_ns)

    @classmethod
    def parse(cls, text: str | None) -> LogVersion | None:
        """The parts again; None for anything else, such as a version that an older program wrote."""
        parts = (text or "").split(".")
        if len(parts) != 4 or not (parts[1].isdecimal() and parts[2].isdecimal()):
            return None
        return cls(fingerprint=parts[0], size_bytes=int(parts[1]), mtime_ns=int(parts[2]), is_final=parts[3] == FINAL)
