"""MarinSkyRL's line at the start of a fully-async training step (since March 2026).

`Step {N}: effective_batch={S} samples ({k}/{t} groups), discard_rate={x}%` stands before the step's block, when its
batch has been put together; the percentage is of groups. Other texts that begin with `Step` are not this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import event, integer
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import JobEvent, JobRow

NAME = "effective_batch"
NEEDLES = (b": effective_batch=",)
HEADED = True

LINE = re.compile(
    r"Step (\d+): effective_batch=(\d{1,15}) samples \((\d{1,15})/(\d{1,15}) groups\), "
    r"discard_rate=(\d{1,3}(?:\.\d{1,9})?|nan)%"
)
CLAIM = re.compile(r"Step \d+: effective_batch=")
PATTERNS = (LINE, CLAIM)


class StepMarkers:
    """Reads the markers and tells the other parsers of the job which step is being trained."""

    def __init__(self, context: JobContext) -> None:
        self.context = context

    def parse(self, message: Message) -> Outcome:
        """One event, with the samples of the batch as its value."""
        if CLAIM.match(message.payload) is None:
            return None
        found = LINE.match(message.payload)
        if found is None:
            return Broken("step marker cut, or in a form not known")
        step = integer(found.group(1))
        if step is not None:
            self.context.step_marker = step
        samples = float(found.group(2))
        return (event(self.context, message, "step_marker", step=step, name="effective_batch", value=samples),)

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def parser(context: JobContext) -> StepMarkers:
    """A fresh parser for one job."""
    return StepMarkers(context)


SAMPLES = (
    Sample(
        "Step 5: effective_batch=512 samples (64/80 groups), discard_rate=20.0%",
        (
            JobEvent(
                job="job_1",
                line=1,
                byte_offset=0,
                kind="step_marker",
                step=5,
                name="effective_batch",
                value=512.0,
                detail="Step 5: effective_batch=512 samples (64/80 groups), discard_rate=20.0%",
            ),
        ),
    ),
    Sample("Step 6: effective_batch=512 samples (64", (), broken=True, complete=False),
)
