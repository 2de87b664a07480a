"""Going on with a log that has grown: what is kept of a reading, and whether a file is the one that was read.

Kept beside the tables: how far the reading came, everything that later lines depend on (open messages, timers,
batches, stamps), and how many rows of each table are final. When the file has only grown, what is new is read and the
rows are put behind the old ones; the result is that of a full reading. Where that cannot be told, nothing is kept and
the log is read anew.

Whether the beginning is unchanged is told by a digest of samples of it: its first and last 64 KiB and 16 KiB at each
of 30 places between. A change that leaves all of these as they were goes unnoticed; programs that write logs append.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard

from rl_pipeline.code_version import code_version
from rl_pipeline.dialects import JobParser
from rl_pipeline.job_summary import JobCourse
from rl_pipeline.reader import Resume
from rl_pipeline.schema import JOB_TABLES
from rl_pipeline.tables.row_tables import EarlierRows, RowSink, Settled

FORMAT = 2
END_SAMPLE, SAMPLE, SAMPLES = 64 * 1024, 16 * 1024, 30
MOST_BYTES = 64 * 1024 * 1024  # of what is kept; more is not worth it
MOST_UNPACKED = 16 * MOST_BYTES
# What may stand in kept state beside this program's own classes.
PLAIN_CLASSES = frozenset(
    {
        ("builtins", "set"), ("builtins", "frozenset"), ("builtins", "complex"),
        ("collections", "Counter"), ("collections", "deque"), ("collections", "OrderedDict"),
        ("datetime", "datetime"), ("datetime", "timedelta"), ("re", "_compile"),
    }
)  # fmt: skip
PROGRAM = __name__.partition(".")[0]
CODE = ("reader/*.py", "reader/loops/*.c", "reader/loops/*.py", "dialects/*.py", "tables/*.py", "*.py")


@dataclass(frozen=True, slots=True)
class EarlierReading:
    """What is kept of the reading of a log, and where its tables are.

    `table` is asked when a table is needed; `base` names the stored set of all.
    """

    state: bytes
    table: Callable[[str], pa.Table]
    base: str


@dataclass(slots=True)
class Standing:
    """A reading that goes on: the reader's place, the parser and the course of the job as they were there."""

    resume: Resume
    parser: JobParser
    course: JobCourse
    rows: dict[str, Settled]

    @property
    def is_sound(self) -> bool:
        """Whether it holds what it should."""
        return (
            isinstance(self.resume, Resume)
            and isinstance(self.parser, JobParser)
            and isinstance(self.course, JobCourse)
            and isinstance(self.rows, dict)
            and all(isinstance(self.rows.get(row.TABLE), Settled) for row in JOB_TABLES)
        )


class OwnClasses(pickle.Unpickler):
    """Takes only classes of this program, and plain ones."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - a class
        """The class; raises `UnpicklingError` for others."""
        if (module, name) in PLAIN_CLASSES:
            return super().find_class(module, name)
        if module.partition(".")[0] == PROGRAM and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place here")


def kept_state(file: Path, resume: Resume, parser: JobParser, course: JobCourse, sink: RowSink) -> bytes | None:
    """What to keep of a reading; None when the next one has to begin at the beginning.

    Args:
        file: the log.
        resume: the reader's place.
        parser: has parsed everything up to there.
        course: has observed it.
        sink: has the rows.
    """
    rows = sink.settle()
    digest = sample_digest(file, resume.earlier.size)
    if rows is None or digest is None:
        return None
    body = zstandard.compress(pickle.dumps((resume, parser, course, rows)), 3)
    head = {"format": FORMAT, "program": _program(), "size": resume.earlier.size, "sample": digest}
    head["body"] = hashlib.blake2b(body, digest_size=16).hexdigest()
    return json.dumps(head).encode() + b"\n" + body if len(body) <= MOST_BYTES else None


def standing_of(file: Path, state: bytes) -> Standing | None:
    """Where the reading of a file stands; None when it must be read from the beginning.

    Args:
        file: the log as it is now.
        state: what `kept_state` gave.
    """
    try:
        line, _, body = state.partition(b"\n")
        head = json.loads(line)
        if head["format"] != FORMAT or head["program"] != _program():
            return None
        if hashlib.blake2b(body, digest_size=16).hexdigest() != head["body"]:
            return None
        if sample_digest(file, head["size"]) != head["sample"]:
            return None
        if zstandard.get_frame_parameters(body).content_size > MOST_UNPACKED:
            return None
        text = zstandard.ZstdDecompressor().decompress(body)
        standing = Standing(*OwnClasses(io.BytesIO(text)).load())
    except Exception:  # what others may have written can fail in any way: all is read then
        return None
    return standing if standing.is_sound and standing.resume.earlier.size == head["size"] else None


def earlier_rows(standing: Standing, earlier: EarlierReading) -> dict[str, EarlierRows]:
    """The rows of each table that come first."""

    def reader(name: str) -> Callable[[], pa.Table]:
        return lambda: earlier.table(name)

    return {row.TABLE: EarlierRows(standing.rows[row.TABLE], reader(row.TABLE)) for row in JOB_TABLES}


def sample_digest(file: Path, size: int) -> str | None:
    """A digest of samples of the first `size` bytes; None when the file has not so many."""
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    places = [(0, END_SAMPLE), (max(0, size - END_SAMPLE), END_SAMPLE)]
    places += [(size * part // (SAMPLES + 1), SAMPLE) for part in range(1, SAMPLES + 1)]
    with Path(file).open("rb") as opened:
        if opened.seek(0, io.SEEK_END) < size:
            return None
        for begin, length in places:
            opened.seek(begin)
            digest.update(opened.read(min(length, size - begin)))
    return digest.hexdigest()


def _program() -> str:
    """What must be the same for kept state to be of use: the code that reads logs, and the Python that pickles."""
    return f"{code_version(*CODE)} {sys.version}"
