"""Reads bytes through the whole reader, for tests."""

from __future__ import annotations

import re
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from rl_pipeline.reader import Message, Needles, ReadReport, read_messages

NEEDLES = Needles(
    any_of=(
        b"Step ",
        b"WANDB_MIRROR kind=",
        b"Avg prompt throughput",
        b"Batch generation complete",
        b"slurmstepd",
        b"Traceback (most recent call last)",
        b"global_step:",
        b"Finished: '",
    ),
    block_head=re.compile(r"Step (\d+): ?$"),
    traceback_head=re.compile(r"Traceback \(most recent call last\):"),
)
RAY = "\x1b[36m(TrainerActor pid=77)\x1b[0m "
LOGURU = "2026-01-09 11:22:33.444 | INFO     | skyrl_train.utils.tracking:log:61 - "


def read_bytes(
    data: bytes, *, needles: Needles = NEEDLES, anchor: datetime | None = None, **options: Any
) -> tuple[list[Message], ReadReport]:
    """All messages of a file with these bytes, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.out"
        path.write_bytes(data)
        report = ReadReport()
        return list(read_messages(path, needles, report, anchor=anchor, **options)), report


def read_lines(*lines: str, **options: Any) -> list[Message]:
    """The messages of a log with these lines."""
    return read_bytes("".join(f"{line}\n" for line in lines).encode(), **options)[0]


def payloads(*lines: str, **options: Any) -> list[tuple[str, bool]]:
    """Payload and completeness of each message."""
    return [(message.payload, message.complete) for message in read_lines(*lines, **options)]
