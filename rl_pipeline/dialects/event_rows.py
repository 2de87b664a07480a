"""Job events from single lines: a table of patterns, and the row they give.

For dialects whose messages are one line of words with a number or a name in them. Nothing here knows any
program; the patterns and what they mean stand in the dialects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome
from rl_pipeline.dialects.stored_values import LARGEST_INTEGER, repeated_name, stored_text
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import JobEvent, JobRow

NAME_LIMIT = 200
CUT_LINE = "the line was cut, so what stands at its end cannot be trusted"


def integer(text: str | None) -> int | None:
    """A whole number that a table can hold; None for text of absurd length."""
    if text is None or len(text) > len(str(LARGEST_INTEGER)):
        return None
    number = int(text)
    return number if number <= LARGEST_INTEGER else None


def event(
    context: JobContext,
    message: Message,
    kind: str,
    *,
    step: int | None = None,
    name: str | None = None,
    value: float | None = None,
    detail: str | None = None,
) -> JobEvent:
    """One event at the place and time of a message; `detail` is the message itself unless given."""
    return JobEvent(
        job=context.job,
        line=message.line,
        byte_offset=message.byte_offset,
        logged_at=message.logged_at,
        zone=message.zone,
        kind=kind,
        step=step,
        name=None if name is None else repeated_name(name, NAME_LIMIT),
        value=value,
        detail=stored_text(message.payload if detail is None else detail),
        repeat_count=message.repeat_count,
    )


@dataclass(frozen=True, slots=True)
class LinePattern:
    """One kind of line. Groups `step`, `name` and `value` of the pattern go to the columns of that name.

    `open_end`: nothing in the text shows where it ends, so a cut line may carry a cut number.
    """

    kind: str
    pattern: re.Pattern[str]
    name: str | None = None
    open_end: bool = False

    def read(self, context: JobContext, message: Message) -> Outcome:
        """The event of the line, or None when the line is another."""
        found = self.pattern.match(message.payload)
        if found is None:
            return None
        if self.open_end and not message.complete:
            return Broken(CUT_LINE)
        groups = found.groupdict()
        value = groups.get("value")
        return (
            event(
                context,
                message,
                self.kind,
                step=integer(groups.get("step")),
                name=groups.get("name") or self.name,
                value=None if value is None else float(value),
            ),
        )


class LineEvents:
    """Parser over a table of line patterns; the first that fits has the line."""

    def __init__(self, context: JobContext, patterns: Sequence[LinePattern]) -> None:
        self.context = context
        self.patterns = patterns

    def parse(self, message: Message) -> Outcome:
        """The event of the line, if any pattern fits."""
        for pattern in self.patterns:
            outcome = pattern.read(self.context, message)
            if outcome is not None:
                return outcome
        return None

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()
