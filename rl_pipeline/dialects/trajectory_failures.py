"""Per-trajectory lines of MarinSkyRL's terminal-bench generator, summed over the job.

    Trajectory {id} failed with [Harbor ]exception: {text} (type={T}, exclude_from_baseline={bool})
    Trajectory {id}: {T} classified as PASSTHROUGH, using verifier reward

The text may hold newlines, whole chats and any other log line, so type and treatment are taken from the end, which
may stand on a later line without a head; before 2026-01-24 there was no such end. A failure is also counted in its
batch's exception breakdown, a pass-through is not. There can be one line per trial, so a job gives one row per type
and treatment: `repeat_count` is the number of lines, place and time are those of the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import event
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.schema import JobEvent, JobRow

NAME = "trajectory_failures"
NEEDLES = (b"Trajectory TrajectoryID(", b"exclude_from_baseline=")
HEADED = False  # the last line of a long text has no head; the first must have one

CLAIM = re.compile(r"Trajectory TrajectoryID\([^()\n]{0,400}\)(?: failed\b|: )")
FAILED = re.compile(r"\(type=([A-Za-z_][\w.]{0,150}), exclude_from_baseline=(True|False)\)\s*\Z")
PASSED = re.compile(r"\): ([A-Za-z_][\w.]{0,150}) classified as PASSTHROUGH\b")
PATTERNS = (CLAIM, FAILED, PASSED)

TAIL = 400  # characters at the end that are searched for type and treatment
TYPES_LIMIT = 1000
SOURCES_LIMIT = 10_000
WITHOUT_TYPE = "untyped"


@dataclass(slots=True)
class Tally:
    """Lines of one type and treatment, and the first of them."""

    first: Message
    lines: int = 0


class TrajectoryFailures:
    """Counts; the rows come when the job's log is over."""

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.tallies: dict[tuple[str, str, float | None], Tally] = {}
        self.unended: dict[Source, Message] = {}
        self.with_logger: set[Source] = set()

    def parse(self, message: Message) -> Outcome:
        """No rows yet."""
        failed = FAILED.search(message.payload, max(0, len(message.payload) - TAIL))
        claim = CLAIM.match(message.payload)
        if message.logger is None and message.source in self.with_logger:
            return self._end_of_text(message, failed)
        if claim is None:
            return None
        if message.logger is not None and len(self.with_logger) < SOURCES_LIMIT:
            self.with_logger.add(message.source)
        self._settle(message.source)
        passed = PASSED.search(message.payload[: claim.end() + TAIL])
        if failed is not None:
            excluded = 1.0 if failed.group(2) == "True" else 0.0
            self._count(message, ("trajectory_failure", failed.group(1), excluded))
        elif passed is not None and message.payload[claim.end() - 2 : claim.end()] == ": ":
            self._count(message, ("trajectory_passthrough", passed.group(1), None))
        elif not message.complete:
            return Broken("trajectory line cut before its exception type")
        elif message.source in self.with_logger:
            self.unended[message.source] = message
        else:
            self._count(message, ("trajectory_failure", WITHOUT_TYPE, None))
        return ()

    def _end_of_text(self, message: Message, failed: re.Match[str] | None) -> Outcome:
        """The end of a text whose beginning this source printed."""
        first = self.unended.get(message.source)
        if first is None or failed is None:
            return None
        del self.unended[message.source]
        self._count(first, ("trajectory_failure", failed.group(1), 1.0 if failed.group(2) == "True" else 0.0))
        return ()

    def _settle(self, source: Source) -> None:
        """A text whose end did not come has no type."""
        first = self.unended.pop(source, None)
        if first is not None:
            self._count(first, ("trajectory_failure", WITHOUT_TYPE, None))

    def _count(self, message: Message, key: tuple[str, str, float | None]) -> None:
        if key not in self.tallies and len(self.tallies) >= TYPES_LIMIT:
            key = (key[0], WITHOUT_TYPE, None)
        self.tallies.setdefault(key, Tally(message)).lines += message.repeat_count

    def close(self) -> Sequence[JobRow]:
        """One row per type and treatment, by first line."""
        for source in list(self.unended):
            self._settle(source)
        rows: list[JobEvent] = []
        for (kind, name, value), tally in self.tallies.items():
            detail = f"lines: {tally.lines}, the first of them here"
            row = event(self.context, tally.first, kind, name=name, value=value, detail=detail)
            rows.append(replace(row, repeat_count=tally.lines))
        self.tallies = {}
        return tuple(sorted(rows, key=lambda row: row.line))


def parser(context: JobContext) -> TrajectoryFailures:
    """A fresh parser for one job."""
    return TrajectoryFailures(context)


def _sample(payload: str, kind: str, name: str, value: float | None) -> Sample:
    detail = "lines: 1, the first of them here"
    row = JobEvent(job="job_1", line=1, byte_offset=0, kind=kind, name=name, value=value, detail=detail)
    return Sample(payload, (row,))


SAMPLES = (
    _sample(
        "Trajectory TrajectoryID(instance_id='fix-bug', repetition_id=3) failed with Harbor exception: no reward file "
        "(type=RewardFileNotFoundError, exclude_from_baseline=True)",
        "trajectory_failure",
        "RewardFileNotFoundError",
        1.0,
    ),
    _sample(
        "Trajectory TrajectoryID(instance_id='fix-bug', repetition_id=1) failed with exception: context is full "
        "(type=ContextLengthExceededError, exclude_from_baseline=False)",
        "trajectory_failure",
        "ContextLengthExceededError",
        0.0,
    ),
    _sample(
        "Trajectory TrajectoryID(instance_id='fix-bug', repetition_id=0): AgentTimeoutError classified as PASSTHROUGH, "
        "using verifier reward",
        "trajectory_passthrough",
        "AgentTimeoutError",
        None,
    ),
    Sample(
        "Trajectory TrajectoryID(instance_id='fix-bug', repetition_id=2) failed with exception: con",
        (),
        broken=True,
        complete=False,
    ),
)
