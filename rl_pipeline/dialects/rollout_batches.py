"""Batch lines of MarinSkyRL's terminal-bench generator.

    Starting batch generation for {K} trials[ (mode={training|eval ({name})})]
    Exception breakdown: {'{Type}': {n}, …}
    Batch generation complete: {S}/{T} successful, {F} failed instances[, {M} masked (excluded from baseline)]

The breakdown came on 2026-01-24 with `masked`, the mode two days later; before 2026-01-12 there were no lines. The
breakdown counts trials and stands directly before its completion line, from the same process; one that no
completion line follows is reported instead of being attached. Batches overlap: a completion has the mode of the
Starting lines that are still outstanding for as many trials, when these agree. The number of the last `Step N:` text
is kept as `since_step_marker`; generation runs ahead of training, so it says when, not for which step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample, run_at
from rl_pipeline.dialects.event_rows import NAME_LIMIT
from rl_pipeline.dialects.stored_values import repeated_name, stored_text
from rl_pipeline.reader.literals import parse_literal
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.schema import JobRow, RolloutBatch, Unparsed

if TYPE_CHECKING:
    from rl_pipeline.reader.ordered import OrderedLines

NAME = "rollout_batches"
NEEDLES = (b"Batch generation complete: ", b"Exception breakdown: ", b"Starting batch generation for ")
HEADED = True

STARTING = re.compile(r"Starting batch generation for (\d{1,9}) trials(?: \(mode=(training|eval)\b.{0,300}\))?\s*\Z")
BREAKDOWN = re.compile(r"Exception breakdown: (?=\{)")
COMPLETE = re.compile(
    r"Batch generation complete: (\d{1,9})/(\d{1,9}) successful, (\d{1,9}) failed instances"
    r"(?:, (\d{1,9}) masked \(excluded from baseline\))?\s*\Z"
)
CLAIM = re.compile(r"(?:Batch generation complete|Exception breakdown|Starting batch generation for)\b")
PATTERNS = (STARTING, BREAKDOWN, COMPLETE, CLAIM)

COUNT = re.compile(r"'([A-Za-z_.]{1,80})': (\d{1,9})")
TOO_MANY = "more trials successful than there were"
SURE_NUMBERS = 3  # of a completion line; the fourth came later
TYPES_LIMIT = 200  # exception types in one breakdown
MODES_LIMIT = 10_000  # batches of one size that may be outstanding before they are forgotten
POOLS_LIMIT = 10_000  # pairs of source and batch size that are told apart


class Breakdown(NamedTuple):
    """Failed trials by exception type, and the line that told them."""

    line: int
    byte_offset: int
    text: str
    counts: dict[str, int]


@dataclass(slots=True)
class Outstanding:
    """Started batches of one source and one size; `settled` of them are complete, but which ones is not known."""

    modes: dict[str | None, int] = field(default_factory=dict)
    total: int = 0
    settled: int = 0

    def start(self, mode: str | None, count: int) -> None:
        """Note batches that were started."""
        self.modes[mode] = self.modes.get(mode, 0) + count
        self.total += count
        if self.total > MODES_LIMIT:
            self._forget()

    def complete(self, count: int) -> str | None:
        """The mode that all outstanding batches share, or None; `count` of them are outstanding no more."""
        modes = [mode for mode, number in self.modes.items() if number > 0]
        if len(modes) == 1:
            left = max(0, self.modes[modes[0]] - count)
            self.total += left - self.modes[modes[0]]
            self.modes[modes[0]] = left
            return modes[0]
        self.settled += count
        if self.settled >= self.total:
            self._forget()
        return None

    def _forget(self) -> None:
        self.modes.clear()
        self.total = self.settled = 0

    def evaluation_over(self) -> None:
        """An evaluation has ended: none of its batches is outstanding."""
        ended = self.modes.pop("eval", 0)
        self.total -= ended
        self.settled = max(0, self.settled - ended)
        if len(self.modes) == 1 and self.settled:
            mode = next(iter(self.modes))
            self.modes[mode] = max(0, self.modes[mode] - self.settled)
            self.settled = 0


@dataclass(frozen=True, slots=True)
class StartingPlan:
    """Lines that differ in the number of trials."""

    batches: RolloutBatches
    mode: str | None
    total: int  # which of the numbers
    most_digits: tuple[int, ...]
    in_order: bool = True

    def take(self, lines: OrderedLines, index: int) -> Outcome:
        """See `OrderedPlan`."""
        self.batches.start(lines.sources[index], lines.numbers[index][self.total], self.mode, lines.counts[index])
        return None


@dataclass(frozen=True, slots=True)
class CompletePlan:
    """Completion lines, with or without masked trials."""

    batches: RolloutBatches
    most_digits: tuple[int, ...]
    in_order: bool = True

    def take(self, lines: OrderedLines, index: int) -> Outcome:
        """See `OrderedPlan`."""
        successful, total, *_ = lines.numbers[index]
        return self.batches.collect(lines, index, successful, total, has_masked=len(self.most_digits) > SURE_NUMBERS)


@dataclass(frozen=True, slots=True)
class BreakdownPlan:
    """Breakdowns over the same exception types."""

    batches: RolloutBatches
    names: tuple[str, ...]
    most_digits: tuple[int, ...]
    in_order: bool = True

    def take(self, lines: OrderedLines, index: int) -> Outcome:
        """See `OrderedPlan`."""
        numbers = lines.numbers[index][: len(self.names)]
        for number, digits in zip(numbers, lines.digits[index], strict=False):
            if digits > 1 and number < 10 ** (digits - 1):  # a leading zero is no Python number
                return self.batches.parse(lines.message(index))
        counts = dict(zip(self.names, numbers, strict=True))
        return self.batches.keep(lines.sources[index], Breakdown(*lines.place(index), lines.payload(index), counts))


class RolloutBatches:
    """Joins breakdown, mode and completion of each source."""

    REGULAR = NEEDLES
    ROW: ClassVar[type[JobRow]] = RolloutBatch

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.breakdowns: dict[Source, Breakdown] = {}
        self.outstanding: dict[tuple[Source, int], Outstanding] = {}
        self.modes_seen: set[str | None] = set()
        self.evaluations_ended = 0
        self._lines: OrderedLines | None = None
        self._collected: list[tuple[int, str | None, dict[str, int], int | None, bool]] = []

    def plan(
        self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool
    ) -> StartingPlan | CompletePlan | BreakdownPlan | None:
        """See `RegularParser`."""
        text, spans, digits = message.payload, list(numbers), (9,) * len(numbers)
        if not dated:
            return None
        if (complete := COMPLETE.match(text)) is not None:
            groups = [complete.span(number) for number in range(1, 5) if complete.group(number) is not None]
            return CompletePlan(self, digits) if spans == groups else None
        if (starting := STARTING.match(text)) is not None:
            total = run_at(spans, starting.span(1))
            return None if total is None else StartingPlan(self, starting.group(2), total, digits)
        if BREAKDOWN.match(text) is None:
            return None
        entries = list(COUNT.finditer(text))
        names = tuple(repeated_name(entry.group(1), NAME_LIMIT) for entry in entries)
        printed = ", ".join(entry.group() for entry in entries)
        same = text == f"Exception breakdown: {{{printed}}}" and spans == [entry.span(2) for entry in entries]
        return BreakdownPlan(self, names, digits) if same and len(set(names)) == len(names) else None

    def parse(self, message: Message) -> Outcome:
        """A row for every completion line."""
        if CLAIM.match(message.payload) is None:
            return None
        if (complete := COMPLETE.match(message.payload)) is not None:
            return self._complete(message, complete)
        if (starting := STARTING.match(message.payload)) is not None:
            self.start(message.source, int(starting.group(1)), starting.group(2), message.repeat_count)
            return ()
        if (breakdown := BREAKDOWN.match(message.payload)) is not None:
            return self._breakdown(message, message.payload[breakdown.end() :])
        return Broken("generator line cut, or in a form not known")

    def _breakdown(self, message: Message, text: str) -> Outcome:
        counts = exception_counts(parse_literal(text.strip()))
        if counts is None:
            return Broken("exception breakdown that is no dict of counts")
        return self.keep(message.source, Breakdown(message.line, message.byte_offset, message.payload, counts))

    def start(self, source: Source, total: int, mode: str | None, count: int) -> None:
        """Batches of so many trials begin."""
        self.modes_seen.add(mode)
        if len(self.outstanding) > POOLS_LIMIT:
            self.outstanding.clear()
        started = self.outstanding.get((source, total))
        if started is None:
            started = self.outstanding[source, total] = Outstanding()
        started.start(mode, count)

    def keep(self, source: Source, breakdown: Breakdown) -> Sequence[JobRow]:
        """Keep a breakdown for the completion line behind it."""
        earlier = self.breakdowns.pop(source, None)
        self.breakdowns[source] = breakdown
        return () if earlier is None else (self._orphan(earlier, "no completion line followed"),)

    def _complete(self, message: Message, found: re.Match[str]) -> Outcome:
        successful, total, failed_groups = (int(found.group(number)) for number in (1, 2, 3))
        if successful > total:
            return Broken(TOO_MANY)
        waiting = self.breakdowns.pop(message.source, None)
        row = RolloutBatch(
            job=self.context.job,
            line=message.line,
            logged_at=message.logged_at,
            zone=message.zone,
            mode=self._mode(message.source, total, message.repeat_count),
            successful=successful,
            total=total,
            failed_groups=failed_groups,
            masked=None if found.group(4) is None else int(found.group(4)),
            exceptions={} if waiting is None else waiting.counts,
            since_step_marker=self.context.step_marker,
            repeat_count=message.repeat_count,
        )
        return (row,)

    def collect(self, lines: OrderedLines, index: int, successful: int, total: int, *, has_masked: bool) -> Outcome:
        """Note the row of a completion line for `collected`."""
        if successful > total:
            return Broken(TOO_MANY)
        source = lines.sources[index]
        waiting = self.breakdowns.pop(source, None)
        self._lines = lines
        self._collected.append(
            (
                index,
                self._mode(source, total, lines.counts[index]),
                {} if waiting is None else waiting.counts,
                self.context.step_marker,
                has_masked,
            )
        )
        return None

    def collected(self) -> dict[str, Any] | None:
        """See `CollectingParser`; all are lines of one window."""
        lines, rows = self._lines, self._collected
        self._lines, self._collected = None, []
        if lines is None:
            return None
        indexes, modes, exceptions, markers, has_masked = map(list, zip(*rows, strict=True))
        numbers = lines.matrix[indexes]
        seen = list(dict.fromkeys(modes))
        return {
            "job": self.context.job,
            "line": lines.line_numbers[indexes],
            "logged_at": lines.logged_at[indexes],
            "mode": (seen, [seen.index(mode) for mode in modes]),
            "successful": numbers[:, 0],
            "total": numbers[:, 1],
            "failed_groups": numbers[:, 2],
            "masked": [
                row[SURE_NUMBERS] if known else None for row, known in zip(numbers.tolist(), has_masked, strict=True)
            ],
            "exceptions": exceptions,
            "since_step_marker": markers,
            "repeat_count": lines.repeat_counts[indexes],
        }

    def _mode(self, source: Source, total: int, count: int) -> str | None:
        if self.context.evaluations_ended != self.evaluations_ended:
            self.evaluations_ended = self.context.evaluations_ended
            for batches in self.outstanding.values():
                batches.evaluation_over()
        started = self.outstanding.get((source, total))
        mode = None if started is None else started.complete(count)
        only = next(iter(self.modes_seen)) if len(self.modes_seen) == 1 else None
        return mode or only

    def _orphan(self, breakdown: Breakdown, reason: str) -> Unparsed:
        return Unparsed(
            job=self.context.job,
            line=breakdown.line,
            byte_offset=breakdown.byte_offset,
            dialect=NAME,
            reason=f"exception breakdown left out: {reason}",
            excerpt=stored_text(breakdown.text, 200),
        )

    def close(self) -> Sequence[JobRow]:
        """Breakdowns whose completion line never came."""
        rows = tuple(self._orphan(waiting, "no completion line followed") for waiting in self.breakdowns.values())
        self.breakdowns = {}
        return rows


def exception_counts(literal: object) -> dict[str, int] | None:
    """Trials by exception type, or None when the literal is anything else."""
    if not isinstance(literal, dict) or len(literal) > TYPES_LIMIT:
        return None
    counts: dict[str, int] = {}
    for name, count in literal.items():
        if not isinstance(name, str) or isinstance(count, bool) or not isinstance(count, int):
            return None
        if not 0 <= count < 10**9:
            return None
        shown = repeated_name(name, NAME_LIMIT)
        counts[shown] = counts.get(shown, 0) + count
    return counts


def parser(context: JobContext) -> RolloutBatches:
    """A fresh parser for one job."""
    return RolloutBatches(context)


SAMPLES = (
    Sample("Starting batch generation for 8 trials (mode=training)", ()),
    Sample("Starting batch generation for 64 trials (mode=eval (nightly))", ()),
    Sample("Starting batch generation for 8 trials", ()),
    Sample(
        "Batch generation complete: 5/8 successful, 1 failed instances, 1 masked (excluded from baseline)",
        (
            RolloutBatch(
                job="job_1",
                line=1,
                mode="training",
                successful=5,
                total=8,
                failed_groups=1,
                masked=1,
                exceptions={"AgentTimeoutError": 2, "DaytonaError": 1},
            ),
        ),
        before=(
            "Starting batch generation for 8 trials (mode=training)",
            "Exception breakdown: {'AgentTimeoutError': 2, 'DaytonaError': 1}",
        ),
    ),
    Sample(
        "Batch generation complete: 8/8 successful, 0 failed instances",
        (RolloutBatch(job="job_1", line=1, successful=8, total=8, failed_groups=0, masked=None, exceptions={}),),
    ),
    Sample(
        "Exception breakdown: {'DaytonaError': 1}",
        (
            Unparsed(
                job="job_1",
                line=1,
                byte_offset=0,
                dialect=NAME,
                reason="exception breakdown left out: no completion line followed",
                excerpt="Exception breakdown: {'DaytonaError': 1}",
            ),
        ),
    ),
    Sample("Exception breakdown: {'DaytonaErr", (), broken=True, complete=False),
)
