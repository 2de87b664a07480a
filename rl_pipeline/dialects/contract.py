"""What a dialect is: one format of message, in one file, with its samples.

A dialect module has five parts in this order: who prints this (docstring) · NEEDLES · pattern ·
parse · SAMPLES. A message has three outcomes: *not mine* (None), *rows* (a sequence, maybe empty),
or *mine but broken* (`Broken`). A dialect opens no file and imports no other dialect.

Rows need the job's name, which a message does not carry; parsers are made for one job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rl_pipeline.reader.message import Message
from rl_pipeline.schema import JobRow


@dataclass(frozen=True, slots=True)
class Broken:
    """The message belongs to this dialect but cannot be read; rows that could be saved go along."""

    reason: str
    rows: Sequence[JobRow] = ()


Outcome = Sequence[JobRow] | Broken | None


class Parser(Protocol):
    """Reads the messages of one job, in file order; may remember what a later message needs."""

    def parse(self, message: Message) -> Outcome:
        """Rows of the message, `Broken`, or None when it is another dialect's."""
        ...

    def close(self) -> Sequence[JobRow]:
        """Rows that were waiting for a message that never came."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """A line as it stands in a log (payload after unwrapping) and the rows it must give."""

    payload: str
    rows: tuple[JobRow, ...]
    broken: bool = False
    complete: bool = True


class Dialect(Protocol):
    """The module-level names of a dialect file."""

    NAME: str
    NEEDLES: tuple[bytes, ...]
    SAMPLES: tuple[Sample, ...]

    @staticmethod
    def parser(job: str) -> Parser:
        """A fresh parser for one job."""
        ...
