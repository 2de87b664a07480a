"""Messages for parsers under test: payloads in, rows out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

from rl_pipeline.dialects import JobParser
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.reader.message import Message, Source

BEGIN = datetime(2026, 1, 9, 11, 0, 0)
TRAINER = Source(actor="TrainerActor", pid=77)
OTHER = Source(actor="TrainerActor", pid=78)


def message(
    payload: str, *, line: int = 1, second: float | None = None, source: Source = TRAINER, **more: Any
) -> Message:
    """A message of the trainer; `second` counts from `BEGIN`."""
    logged_at = None if second is None else BEGIN + timedelta(seconds=second)
    defaults: dict[str, Any] = {"byte_offset": line * 100, "logger": "loguru"}
    return Message(line=line, source=source, payload=payload, logged_at=logged_at, **{**defaults, **more})


def feed(dialect: ModuleType, *messages: Message | str, context: JobContext | None = None) -> list[Any]:
    """All rows of the messages, saved and late ones included; texts become messages on lines from 1."""
    parser = dialect.parser(context or JobContext("job_1"))
    rows: list[Any] = []
    for number, item in enumerate(messages, 1):
        outcome = parser.parse(message(item, line=number) if isinstance(item, str) else item)
        rows.extend(outcome.rows if isinstance(outcome, Broken) else outcome or ())
    return [*rows, *parser.close()]


def values(rows: Sequence[Any], *columns: str) -> list[tuple[Any, ...]]:
    """The named columns of all rows."""
    return [tuple(getattr(row, column) for column in columns) for row in rows]


def told(parser: JobParser, *messages: Message) -> list[Any]:
    """What a job's parser makes of messages, before it is closed."""
    return [row for item in messages for row in parser.parse(item)]
