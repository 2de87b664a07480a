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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rl_pipeline.dialects.batch_window import COMPLETION, STARTED, TOLD, TOO_MANY, BatchWindow, Breakdown, Outstanding
from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
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

LONGEST_MODE = 300  # characters behind the word
STARTING = re.compile(
    rf"Starting batch generation for (\d{{1,9}}) trials(?: \(mode=(training|eval)\b.{{0,{LONGEST_MODE}}}\))?\s*\Z"
)
BREAKDOWN = re.compile(r"Exception breakdown: (?=\{)")
COMPLETE = re.compile(
    r"Batch generation complete: (\d{1,9})/(\d{1,9}) successful, (\d{1,9}) failed instances"
    r"(?:, (\d{1,9}) masked \(excluded from baseline\))?\s*\Z"
)
CLAIM = re.compile(r"(?:Batch generation complete|Exception breakdown|Starting batch generation for)\b")
PATTERNS = (STARTING, BREAKDOWN, COMPLETE, CLAIM)

COUNT = re.compile(r"'([A-Za-z_.]{1,80})': (\d{1,9})")
TYPES_LIMIT = 200  # exception types in one breakdown
POOLS_LIMIT = 10_000  # pairs of source and batch size that are told apart


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Lines of one kind that differ only in numbers; `names`: the exception types of a breakdown."""

    batches: RolloutBatches
    kind: str
    most_digits: tuple[int, ...]
    mode: str | None = None
    names: tuple[str, ...] = ()
    in_order: bool = True

    def take(self, lines: OrderedLines, index: int, stop: int, outcomes: list[tuple[int, Outcome]]) -> int:
        """See `OrderedPlan`."""
        return self.batches.take(lines, index, stop, outcomes)


class RolloutBatches:
    """Joins breakdown, mode and completion of each source."""

    REGULAR = NEEDLES
    ROW: ClassVar[type[JobRow]] = RolloutBatch

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.breakdowns: dict[Source, Breakdown] = {}  # but for those of `_window`
        self.outstanding: dict[tuple[Source, int], Outstanding] = {}
        self.modes_seen: set[str | None] = set()
        self.evaluations_ended = 0
        self._window: BatchWindow | None = None

    def plan(self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool) -> BatchPlan | None:
        """See `RegularParser`."""
        text, spans, digits = message.payload, list(numbers), (9,) * len(numbers)
        if not dated:
            return None
        if (complete := COMPLETE.match(text)) is not None:
            groups = [complete.span(number) for number in range(1, 5) if complete.group(number) is not None]
            return BatchPlan(self, COMPLETION, digits) if spans == groups else None
        if (starting := STARTING.match(text)) is not None:
            is_first = spans[:1] == [starting.span(1)]
            fits = len(text) + sum(digits) <= LONGEST_MODE  # the text of the mode, also with longer numbers
            return BatchPlan(self, STARTED, digits, mode=starting.group(2)) if is_first and fits else None
        if BREAKDOWN.match(text) is None:
            return None
        entries = list(COUNT.finditer(text))
        names = tuple(repeated_name(entry.group(1), NAME_LIMIT) for entry in entries)
        printed = ", ".join(entry.group() for entry in entries)
        same = text == f"Exception breakdown: {{{printed}}}" and spans == [entry.span(2) for entry in entries]
        is_plain = same and len(set(names)) == len(names) <= TYPES_LIMIT
        return BatchPlan(self, TOLD, digits, names=names) if is_plain else None

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
        self.note_evaluations()
        self.modes_seen.add(mode)
        self.pool(source, total).start(mode, count)

    def pool(self, source: Source, total: int) -> Outstanding:
        """The outstanding batches of a source and a size."""
        pool = self.outstanding.get((source, total))
        if pool is None:
            if len(self.outstanding) > POOLS_LIMIT:
                self.outstanding.clear()
                if self._window is not None:
                    self._window.pools.clear()
            pool = self.outstanding[source, total] = Outstanding()
        return pool

    def keep(self, source: Source, breakdown: Breakdown) -> Sequence[JobRow]:
        """Keep a breakdown for the completion line behind it."""
        earlier = self._waiting(source)
        self.breakdowns[source] = breakdown
        if self._window is not None:
            self._window.carry(source)
        return () if earlier is None else (self.orphan(earlier, "no completion line followed"),)

    def _waiting(self, source: Source) -> Breakdown | None:
        """The breakdown that waits for its completion line; it waits no more."""
        waiting = None if self._window is None else self._window.give_up(source)
        return self.breakdowns.pop(source, None) if waiting is None else waiting

    def _complete(self, message: Message, found: re.Match[str]) -> Outcome:
        successful, total, failed_groups = (int(found.group(number)) for number in (1, 2, 3))
        if successful > total:
            return Broken(TOO_MANY)
        masked = None if found.group(4) is None else int(found.group(4))
        return (self.row(message, (successful, total, failed_groups, masked), self._waiting(message.source)),)

    def row(self, message: Message, told: tuple[int, int, int, int | None], waiting: Breakdown | None) -> RolloutBatch:
        """The row of a completion line that told successful, all, failed and masked."""
        successful, total, failed_groups, masked = told
        return RolloutBatch(
            job=self.context.job,
            line=message.line,
            logged_at=message.logged_at,
            zone=message.zone,
            mode=self._mode(message.source, total, message.repeat_count),
            successful=successful,
            total=total,
            failed_groups=failed_groups,
            masked=masked,
            exceptions={} if waiting is None else waiting.counts,
            since_step_marker=self.context.step_marker,
            repeat_count=message.repeat_count,
        )

    def take(self, lines: OrderedLines, index: int, stop: int, outcomes: list[tuple[int, Outcome]]) -> int:
        """See `OrderedPlan`; rows of completion lines are kept for `collected`, but for those told in `outcomes`."""
        if self._window is None:
            self._window = BatchWindow(self, lines)
        self.note_evaluations()
        return self._window.take(index, stop, outcomes)

    def collected(self) -> dict[str, Any] | None:
        """See `CollectingParser`; all are lines of one window."""
        window, self._window = self._window, None
        return None if window is None else window.collected()

    def _mode(self, source: Source, total: int, count: int) -> str | None:
        self.note_evaluations()
        pool = self.outstanding.get((source, total))
        return (None if pool is None else pool.complete(count)) or self.only_mode

    @property
    def only_mode(self) -> str | None:
        """The mode of all batches so far, if they share one."""
        return next(iter(self.modes_seen)) if len(self.modes_seen) == 1 else None

    def note_evaluations(self) -> None:
        """Batches of evaluations that have ended are outstanding no more."""
        if self.context.evaluations_ended != self.evaluations_ended:
            self.evaluations_ended = self.context.evaluations_ended
            for batches in self.outstanding.values():
                batches.evaluation_over()

    def orphan(self, breakdown: Breakdown, reason: str) -> Unparsed:
        """What is told of a breakdown that no row has."""
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
        ordered = sorted(self.breakdowns.values(), key=lambda waiting: waiting.line)
        rows = tuple(self.orphan(waiting, "no completion line followed") for waiting in ordered)
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
