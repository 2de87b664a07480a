"""Credentials that stand in a log, of any program: which kind and how many, never their text.

Launch scripts echo their environment, configuration dumps print keys, error texts hold URLs with passwords. Looks
at every message that another dialect, or a needle of `redaction`, brought here; it claims none for itself. A job gives
one row per kind: `value` is the number found, `repeat_count` the lines, place and time are those of the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rl_pipeline.dialects.contract import JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import event
from rl_pipeline.reader.message import Message
from rl_pipeline.redaction import redact, secret_needles
from rl_pipeline.schema import JobEvent, JobRow

NAME = "credentials"
NEEDLES = secret_needles
HEADED = False
PATTERNS: tuple[re.Pattern[str], ...] = ()  # those of `redaction`, tested there

TEXT_LIMIT = 64 * 1024  # characters of one message that are searched


@dataclass(slots=True)
class Sighting:
    """How many credentials of one kind, in how many lines, and the first of these."""

    first: Message
    found: int = 0
    lines: int = 0


class Credentials:
    """Counts; the rows come when the job's log is over."""

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.sightings: dict[str, Sighting] = {}

    def parse(self, message: Message) -> Outcome:
        """No rows yet; None when nothing was found."""
        found = redact(message.payload[:TEXT_LIMIT]).found
        for kind, count in found.items():
            sighting = self.sightings.setdefault(kind, Sighting(message))
            sighting.found += count * message.repeat_count
            sighting.lines += message.repeat_count
        return () if found else None

    def close(self) -> Sequence[JobRow]:
        """One row per kind, by first line."""
        rows: list[JobEvent] = []
        for kind, sighting in self.sightings.items():
            row = event(
                self.context,
                sighting.first,
                "secret",
                name=kind,
                value=float(sighting.found),
                detail=f"{sighting.found} found in {sighting.lines} lines",
            )
            rows.append(replace(row, repeat_count=sighting.lines))
        self.sightings = {}
        return tuple(sorted(rows, key=lambda row: row.line))


def parser(context: JobContext) -> Credentials:
    """A fresh parser for one job."""
    return Credentials(context)


SAMPLES: tuple[Sample, ...] = ()
