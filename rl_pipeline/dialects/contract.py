"""What a dialect is: one format of message, in one file, with its samples.

A dialect module has five parts in this order: who prints this (docstring) · NEEDLES · pattern ·
parse · SAMPLES. A message has three outcomes: *not mine* (None), *rows* (a sequence, maybe empty),
or *mine but broken* (`Broken`). A dialect opens no file and imports no other dialect; what the parsers
of one job share stands in `JobContext`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rl_pipeline.reader.message import Message
from rl_pipeline.reader.regular import Plan, PlannedMessages
from rl_pipeline.schema import JobRow


@dataclass(slots=True)
class JobContext:
    """What the parsers of one job share: its name, the block counter, and the course so far."""

    job: str
    blocks: int = 0
    step_marker: int | None = None  # number in the last `Step N:` text
    evaluations_ended: int = 0  # `Finished` lines of the evaluation timers

    def next_block(self) -> int:
        """The number of the next metric block, from 0 in file order."""
        number = self.blocks
        self.blocks += 1
        return number


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


class RegularParser(Parser, Protocol):
    """A parser that also reads lines known to differ only in their numbers; what it gives is what `parse` gives."""

    REGULAR: tuple[bytes, ...]  # needles of such lines

    def plan(self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool) -> Plan | None:
        """How to read lines like this message; see `rl_pipeline.reader.regular.Planner`."""
        ...


class CollectingParser(RegularParser, Protocol):
    """One whose rows of lines in order are given as columns, a window at a time."""

    ROW: type[JobRow]

    def collected(self) -> dict[str, Any] | None:
        """The columns of the rows since the last call, as `ColumnPlan.columns`; None when there are none."""
        ...


class ColumnPlan(Plan, Protocol):
    """A plan for many messages at once; each gives one row."""

    ROW: type[JobRow]

    def columns(self, planned: PlannedMessages) -> dict[str, Any]:
        """Columns of the rows: arrays of numpy or Arrow, or one value for all; absent ones have their default."""
        ...


def run_at(numbers: Sequence[tuple[int, int]], span: tuple[int, int]) -> int | None:
    """Which of the runs of digits stands exactly there; None when none does."""
    return next((index for index, place in enumerate(numbers) if place == span), None)


@dataclass(frozen=True, slots=True)
class Sample:
    """A line as it stands in a log (payload after unwrapping) and the rows it must give.

    `rows` are those of the sample and of closing the parser after it; `before` are payloads that the same
    source printed earlier, whose own rows are not among them. `bare`: printed without a logger's head.
    """

    payload: str
    rows: tuple[JobRow, ...]
    broken: bool = False
    complete: bool = True
    before: tuple[str, ...] = ()
    bare: bool = False


class Dialect(Protocol):
    """The module-level names of a dialect file."""

    NAME: str
    NEEDLES: tuple[bytes, ...]
    PATTERNS: tuple[re.Pattern[str], ...]
    HEADED: bool  # printed through a logger: a bare line of a source that uses one is quoted text
    SAMPLES: tuple[Sample, ...]

    @staticmethod
    def parser(context: JobContext) -> Parser:
        """A fresh parser for one job."""
        ...
