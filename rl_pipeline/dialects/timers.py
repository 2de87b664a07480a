"""Timer lines of SkyRL trainers.

`Started: '{name}'` and `Finished: '{name}', time cost: {x:.2f}s`; the name is the suffix of the `timing/` metric.
Timers nest, and repeat within a step, so a Finished line closes the last open one of its source and name.
It is printed after errors too, and is no proof of success. Ray folds lines of several processes: a row then
stands for `repeat_count` intervals, with the numbers of the last. A Started line that does not fit the
duration (its process died, or its Finished line was lost) does not lend its time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.stored_values import repeated_name
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.schema import JobRow, PhaseTiming

if TYPE_CHECKING:
    from rl_pipeline.reader.ordered import OrderedLines

NAME = "timers"
NEEDLES = (b"Started: '", b"Finished: '")
HEADED = True

STARTED = re.compile(r"Started: '([^'\n]{1,200})'\s*\Z")
FINISHED = re.compile(r"Finished: '([^'\n]{1,200})', time cost: (\d{1,9}(?:\.\d{1,9})?)s\s*\Z")
CLAIM = re.compile(r"(?:Started|Finished): '")
SECONDS = re.compile(r"(\d+)(?:\.(\d+))?")
DIGITS_OF_SECONDS = (9, 6)  # before and behind the point: together a float holds them exactly
PATTERNS = (STARTED, FINISHED, CLAIM)

EVALUATION_TIMERS = frozenset({"eval", "eval_generate"})
OPEN_LIMIT = 10_000  # timers open at once in one job; beyond it the oldest are given up as unfinished
# A printed time and a measured duration differ by print rounding and a busy logger's delay.
SLACK_SECONDS, SLACK_SHARE = 2.0, 0.02


@dataclass(frozen=True, slots=True)
class TimerPlan:
    """Lines of one timer: Started without numbers, Finished with its seconds before and behind the point."""

    timers: Timers
    name: str
    most_digits: tuple[int, ...]
    kind: str = "timer"
    names: tuple[str, ...] = ()
    in_order: bool = True

    def take(self, lines: OrderedLines, index: int, stop: int, outcomes: list[tuple[int, Outcome]]) -> int:
        """See `OrderedPlan`."""
        while index < stop:
            plan = lines.plans[index]
            if not isinstance(plan, TimerPlan):
                break
            rows = plan.rows(lines, index)
            if rows:
                outcomes.append((index, rows))
            index += 1
        return index

    def rows(self, lines: OrderedLines, index: int) -> Sequence[JobRow]:
        """The rows of one line."""
        source = lines.sources[lines.source_numbers[index]]
        moment = Told(int(lines.line_numbers[index]), lines.moment(index), None, lines.counts[index])
        if not self.most_digits:
            return self.timers.start(source, self.name, moment)
        whole, scale, behind = lines.column(0)[index], 1, 0
        if len(self.most_digits) > 1:
            scale, behind = 10 ** int(lines.digits[index, 1]), lines.column(1)[index]
        return self.timers.finish(source, self.name, moment, (whole * scale + behind) / scale)


class Told(NamedTuple):
    """Which line told something of a timer, when, and for how many lines it stands."""

    line: int
    logged_at: datetime | None
    zone: str | None
    repeat_count: int


class Timers:
    """Pairs the lines of each source; open timers are given as unfinished at the end."""

    REGULAR = NEEDLES

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.open: dict[tuple[Source, str], list[Told]] = {}
        self.opened = 0

    def parse(self, message: Message) -> Outcome:
        """A row for every Finished line."""
        if CLAIM.match(message.payload) is None:
            return None
        if (started := STARTED.match(message.payload)) is not None:
            return self.start(message.source, started.group(1), told_by(message))
        finished = FINISHED.match(message.payload)
        if finished is None:
            return Broken("timer line cut")
        return self.finish(message.source, finished.group(1), told_by(message), float(finished.group(2)))

    def plan(self, message: Message, numbers: Sequence[tuple[int, int]], *, dated: bool) -> TimerPlan | None:
        """See `RegularParser`."""
        started, finished = STARTED.match(message.payload), FINISHED.match(message.payload)
        if not dated or (started is not None and numbers):
            return None
        if started is not None:
            return TimerPlan(self, started.group(1), ())
        if finished is None or (number := SECONDS.fullmatch(message.payload, *finished.span(2))) is None:
            return None
        spans = [span for span in (number.span(1), number.span(2)) if span != (-1, -1)]
        return TimerPlan(self, finished.group(1), DIGITS_OF_SECONDS[: len(spans)]) if list(numbers) == spans else None

    def start(self, source: Source, name: str, told: Told) -> Sequence[JobRow]:
        """A timer begins; rows of another that is given up for it."""
        self.open.setdefault((source, name), []).append(told)
        self.opened += 1
        if self.opened <= OPEN_LIMIT:
            return ()
        (process, oldest), waiting = next(iter(self.open.items()))
        given_up = waiting.pop(0)
        self._forget(process, oldest)
        return (self._unfinished(oldest, given_up),)

    def finish(self, source: Source, name: str, told: Told, seconds: float) -> Sequence[JobRow]:
        """A timer ends: its row."""
        if name in EVALUATION_TIMERS:
            self.context.evaluations_ended += 1
        waiting = self.open.get((source, name))
        started = None
        if waiting:
            started = waiting.pop().logged_at
            self._forget(source, name)
        row = PhaseTiming(
            job=self.context.job,
            line=told.line,
            name=repeated_name(name),
            started_at=start_of(started, told.logged_at, seconds),
            zone=told.zone,
            seconds=seconds,
            finished=True,
            repeat_count=told.repeat_count,
        )
        return (row,)

    def _forget(self, source: Source, name: str) -> None:
        """Count one open timer less."""
        self.opened -= 1
        if not self.open[source, name]:
            del self.open[source, name]

    def _unfinished(self, name: str, told: Told) -> PhaseTiming:
        return PhaseTiming(
            job=self.context.job,
            line=told.line,
            name=repeated_name(name),
            started_at=told.logged_at,
            zone=told.zone,
            seconds=None,
            finished=False,
            repeat_count=told.repeat_count,
        )

    def close(self) -> Sequence[JobRow]:
        """The timers that never finished, in file order."""
        rows = [self._unfinished(name, told) for (_, name), waiting in self.open.items() for told in waiting]
        self.open, self.opened = {}, 0
        return tuple(sorted(rows, key=lambda row: row.line))


def told_by(message: Message) -> Told:
    """What is kept of a message."""
    return Told(message.line, message.logged_at, message.zone, message.repeat_count)


def start_of(started: datetime | None, ended: datetime | None, seconds: float) -> datetime | None:
    """When an interval began: as printed if that fits the duration, else the end minus the duration."""
    if ended is None:
        return started
    try:
        counted = ended - timedelta(seconds=seconds)
    except OverflowError:
        return None  # before all calendars
    if started is None or abs((started - counted).total_seconds()) > SLACK_SECONDS + SLACK_SHARE * seconds:
        return counted
    return started


def parser(context: JobContext) -> Timers:
    """A fresh parser for one job."""
    return Timers(context)


SAMPLES = (
    Sample(
        "Finished: 'generate', time cost: 41.20s",
        (PhaseTiming(job="job_1", line=1, name="generate", seconds=41.2, finished=True),),
        before=("Started: 'generate'",),
    ),
    Sample("Started: 'step'", (PhaseTiming(job="job_1", line=1, name="step", seconds=None, finished=False),)),
    Sample("Finished: 'eval', time cost: 4", (), broken=True, complete=False),
)
