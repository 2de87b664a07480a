"""Python tracebacks, of any program.

The interpreter prints `Traceback (most recent call last):`, two lines per frame, and the exception on a line that is
not indented; chained causes are tracebacks of their own, the root cause first. Most tracebacks in a log are of
trials or workers and were handled. What tells two crashes alike is the exception type and the last frame of the
run's own code, so these go into the row: `name` is the type as printed, `detail` is
`{file}:{line} in {function} — {message}`. A driver without a prefix has the kind `driver_traceback`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import event
from rl_pipeline.reader.message import Message
from rl_pipeline.redaction import redact
from rl_pipeline.schema import JobEvent, JobRow

NAME = "tracebacks"
NEEDLES = (b"Traceback (most recent call last)",)
HEADED = False

TRACEBACK_HEAD = re.compile(r"Traceback \(most recent call last\):\s*$")
HEAD = re.compile(r"Traceback \(most recent call last\):\s*(?:\n|\Z)")
FRAME = re.compile(r"^\s+File \"([^\"\n]{1,500})\", line (\d{1,9})(?:, in (\S[^\n]{0,200}))?$", re.MULTILINE)
EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,150}(?:\([\w.]{1,100}\))?)(?::\s?(.*))?\Z", re.DOTALL)
PATTERNS = (HEAD, FRAME, EXCEPTION)

# Paths of installed packages and of Python itself: not the run's own code.
FOREIGN = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", "<string>")
PATH_PARTS = 3  # of a frame's path, from the right: enough to know the module, no machine's folders


class Tracebacks:
    """Reads tracebacks one by one."""

    def __init__(self, context: JobContext) -> None:
        self.context = context

    def parse(self, message: Message) -> Outcome:
        """One event for the traceback."""
        head = HEAD.match(message.payload)
        if head is None:
            return None
        body, _, last = message.payload.rstrip().rpartition("\n")
        exception = None if last[:1].isspace() else EXCEPTION.match(last)
        if not body or exception is None:
            return Broken("traceback without the exception at its end")
        if not message.complete:
            return Broken("traceback cut")
        frame = own_frame(body)
        text = (exception.group(2) or "").strip()
        detail = f"{frame} — {text}" if frame and text else frame or text
        source = message.source
        kind = "driver_traceback" if source.actor is None and source.process is None else "traceback"
        return (event(self.context, message, kind, name=exception.group(1), detail=detail),)

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def own_frame(body: str) -> str:
    """The last frame outside installed packages, else the last of all, else nothing."""
    frames = FRAME.findall(body)
    own = [frame for frame in frames if not any(part in frame[0] for part in FOREIGN)]
    if not frames:
        return ""
    path, line, function = (own or frames)[-1]
    path, function = redact(path).text, redact(function).text  # while what tells a credential is still there
    place = "/".join(PurePosixPath(path).parts[-PATH_PARTS:]).lstrip("/")
    return f"{place}:{line} in {function}" if function else f"{place}:{line}"


def parser(context: JobContext) -> Tracebacks:
    """A fresh parser for one job."""
    return Tracebacks(context)


SAMPLES = (
    Sample(
        "Traceback (most recent call last):\n"
        '  File "/opt/app/skyrl_train/trainer.py", line 812, in train\n    self.step(batch)\n'
        '  File "/opt/venv/lib/python3.11/site-packages/torch/nn/module.py", line 99, in forward\n    return f(x)\n'
        "ValueError: shapes do not match",
        (
            JobEvent(
                job="job_1",
                line=1,
                byte_offset=0,
                kind="driver_traceback",
                name="ValueError",
                detail="app/skyrl_train/trainer.py:812 in train — shapes do not match",
            ),
        ),
        bare=True,
    ),
    Sample(
        'Traceback (most recent call last):\n  File "/opt/app/run.py", line 3, in <module>\n    main()\n  File "/opt/a',
        (),
        broken=True,
        complete=False,
        bare=True,
    ),
)
