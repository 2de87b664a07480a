"""One job's messages to rows: who gets which message, and what becomes of broken ones.

A dialect sees only messages that hold one of its needles, in the order of `DIALECTS`; the first that claims a message
has it. A bare line of a source that otherwise prints through a logger is quoted text (an example rollout
holds whole transcripts), so dialects that print through a logger do not get it. Credentials are looked for in
every message with one of their needles, whoever else claims it. A broken message becomes a row of `unparsed`
beside the rows that could be saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rl_pipeline.dialects import credentials
from rl_pipeline.dialects.contract import (
    Broken,
    CollectingParser,
    ColumnPlan,
    Dialect,
    JobContext,
    Outcome,
    Parser,
    RegularParser,
)
from rl_pipeline.dialects.stored_values import stored_text
from rl_pipeline.metric_block import MetricBlock
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.reader.regular import Plan, PlannedMessages
from rl_pipeline.schema import JobRow, Unparsed

if TYPE_CHECKING:
    from rl_pipeline.reader.ordered import OrderedRun

EXCERPT_LIMIT = 200
DIGIT = re.compile("[0-9]")
TEXTS_LIMIT, LONGEST_TEXT = 512, 16_384  # texts without digits that are remembered, and their bytes
SOURCES_LIMIT = 100_000  # sources whose use of a logger is remembered


@dataclass(frozen=True, slots=True)
class Entry:
    """A dialect at work on one job."""

    name: str
    needles: tuple[str, ...]
    headed: bool
    parser: Parser

    def concerns(self, payload: str) -> bool:
        """Whether one of the needles is in the payload."""
        for needle in self.needles:  # noqa: SIM110 - any() with a generator takes three times as long
            if needle in payload:
                return True
        return False


def entry(dialect: Dialect, context: JobContext) -> Entry:
    """A fresh parser of the dialect with what is needed to find its messages."""
    needles = tuple(needle.decode() for needle in dialect.NEEDLES)
    return Entry(dialect.NAME, needles, dialect.HEADED, dialect.parser(context))


class JobParser:
    """All dialects on the messages of one job, in file order."""

    def __init__(self, job: str, dialects: Sequence[Dialect]) -> None:
        self.context = JobContext(job)
        self.entries = [entry(dialect, self.context) for dialect in dialects if dialect.NAME != credentials.NAME]
        self.credentials = entry(cast(Dialect, credentials), self.context)
        self.recognised: dict[str, int] = {}
        self._regular: dict[bytes, Entry] = {
            needle: candidate for candidate in self.entries for needle in getattr(candidate.parser, "REGULAR", ())
        }
        self._collecting = [
            cast(CollectingParser, candidate.parser)
            for candidate in self.entries
            if hasattr(candidate.parser, "collected")
        ]
        self._plan_names: dict[int, str] = {}  # by identity: the reader keeps every plan for as long as it reads
        self.with_logger: set[Source] = set()
        self._concerned: dict[bytes, Sequence[Entry]] = {}
        everyone = [self.credentials, *self.entries]
        self._with_digits = [(item, needle) for item in everyone for needle in item.needles if DIGIT.search(needle)]

    def parse(self, message: Message) -> Sequence[JobRow]:
        """Rows of one message; none when nobody claims it."""
        payload = message.payload
        quoted = self._is_quoted(message)
        for candidate in self._candidates(payload):
            if candidate is self.credentials:
                if candidate.concerns(payload) and candidate.parser.parse(message) is not None:
                    self._count(credentials.NAME)
                continue
            if (quoted and candidate.headed) or not candidate.concerns(payload):
                continue
            try:
                outcome = candidate.parser.parse(message)
            except RecursionError:
                outcome = Broken("nested too deeply to be read")
            if outcome is not None:
                return self._rows(message, candidate.name, outcome)
        return []

    def _candidates(self, payload: str) -> Sequence[Entry]:
        """Entries whose needles may be in a payload, told by what was found in one that differs only in its digits.

        A needle without digits that is in a text is in it without its digits, too.
        """
        words = payload.encode("utf-8", "replace").translate(None, b"0123456789")
        known = self._concerned.get(words)
        if known is None:
            text = words.decode("utf-8", "replace")
            known = [item for item in (self.credentials, *self.entries) if item.concerns(text)]
            if len(self._concerned) < TEXTS_LIMIT and len(words) < LONGEST_TEXT:
                self._concerned[words] = known
        also = {item.name for item, needle in self._with_digits if needle in payload}
        if not also:
            return known
        return [item for item in (self.credentials, *self.entries) if item in known or item.name in also]

    def _rows(self, message: Message, name: str, outcome: Outcome) -> Sequence[JobRow]:
        """What a dialect that claims a message gives for it."""
        self._count(name)
        if isinstance(outcome, Broken):
            return [*outcome.rows, self._unparsed(message, name, outcome.reason)]
        return outcome if isinstance(outcome, MetricBlock) else list(outcome or ())

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Needles of lines that differ only in their numbers; see `rl_pipeline.reader.regular.Planner`."""
        return tuple(self._regular)

    def plan(self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool) -> Plan | None:
        """The plan of the dialect whose needle the message holds."""
        for needle, candidate in self._regular.items():
            if needle.decode() in message.payload:
                plan = cast(RegularParser, candidate.parser).plan(message, numbers, dated=dated)
                if plan is None or plan.in_order != dated:
                    return None
                self._plan_names[id(plan)] = candidate.name
                return plan
        return None

    def parse_ordered(self, run: OrderedRun) -> list[JobRow]:
        """Rows of lines with plans that want order; those that a parser collects come with `collected`."""
        rows: list[JobRow] = []
        lines, index = run.lines, run.start
        while index < run.stop:
            name, first = self._plan_names[id(lines.plans[index])], index
            outcomes: list[tuple[int, Outcome]] = []
            index = lines.plans[index].take(lines, index, run.stop, outcomes)
            self.recognised[name] = self.recognised.get(name, 0) + index - first
            for place, outcome in outcomes:
                if isinstance(outcome, Broken):
                    rows += [*outcome.rows, self._unparsed(lines.message(place), name, outcome.reason)]
                else:
                    rows += outcome or ()
        return rows

    def collected(self) -> Iterator[tuple[type[JobRow], dict[str, Any]]]:
        """Row classes and columns of what parsers collected; to be asked for when a window is over."""
        for parser in self._collecting:
            columns = parser.collected()
            if columns is not None:
                yield parser.ROW, columns

    def columns(self, planned: PlannedMessages) -> tuple[type[JobRow], dict[str, Any]]:
        """Row class and columns of many messages of a plan, a row for each."""
        plan = cast(ColumnPlan, planned.plan)
        name = self._plan_names[id(plan)]
        self.recognised[name] = self.recognised.get(name, 0) + len(planned.lines)
        return plan.ROW, plan.columns(planned)

    def __getstate__(self) -> dict[str, Any]:
        """All but the plans, which are made anew by whoever goes on."""
        return {**self.__dict__, "_plan_names": {}, "_concerned": {}}

    def close(self) -> list[JobRow]:
        """Rows that were waiting for messages that never came."""
        entries = [*self.entries, self.credentials]
        return [row for candidate in entries for row in candidate.parser.close()]

    def _is_quoted(self, message: Message) -> bool:
        """Whether a bare line comes from a source that is known to print through a logger."""
        if message.logger is None:
            return message.source in self.with_logger
        if len(self.with_logger) < SOURCES_LIMIT:
            self.with_logger.add(message.source)
        return False

    def _count(self, name: str) -> None:
        self.recognised[name] = self.recognised.get(name, 0) + 1

    def _unparsed(self, message: Message, name: str, reason: str) -> Unparsed:
        return Unparsed(
            job=self.context.job,
            line=message.line,
            byte_offset=message.byte_offset,
            dialect=name,
            reason=reason,
            excerpt=stored_text(message.payload, EXCERPT_LIMIT),
        )
