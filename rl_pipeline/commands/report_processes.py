"""The processes that every report needs, started before it is known what is in it.

Each begins with its imports, and meanwhile the command looks at what it was given. Little is imported here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from rl_pipeline.commands.other_process import PreparedProcess
from rl_pipeline.commands.state_names import STATE_FILE, STATE_FOLDER

PREPARE_READING = "rl_pipeline.commands.report_making:prepare"
PREPARE_EXPORTS = "rl_pipeline.commands.report_exporting:prepare"
PREPARE_ANALYSIS = "rl_pipeline.commands.report_analysing:prepare"
# Arrow imports pandas to ask whether a list is a series: a third of a second and 30 MB, and readers have none.
NO_FRAMES = ("pandas",)
# Arrow's own pools keep what they no longer need, and so do the system's when every thread has one.
MEMORY = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
# Large arrays are given back when they are done, and leave no holes among the small ones: the system's own threshold,
# which else grows with the first large array.
GIVEN_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072"}


class ReportProcesses:
    """One process that reads, one that analyses."""

    def __init__(self) -> None:
        for name, value in MEMORY.items():
            os.environ.setdefault(name, value)  # read by the processes that are started
        self.reader = another_reader()
        self.analyst = PreparedProcess(PREPARE_ANALYSIS, environment=GIVEN_BACK)

    def __enter__(self) -> ReportProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (self.reader, self.analyst):
            process.close(at_once=True)  # what is still at work here is not waited for


@contextmanager
def started_ahead(out: Path, *, force: bool) -> Iterator[ReportProcesses | None]:
    """The processes, where a report will surely be made; None where an earlier one may be current.

    Args:
        out: folder of the report.
        force: whether an earlier report counts as none.
    """
    if not force and os.path.exists(out / STATE_FOLDER / STATE_FILE):  # noqa: PTH110 - no error, whatever the name is like
        yield None
        return
    with ReportProcesses() as processes:
        yield processes


def an_exporter() -> PreparedProcess:
    """A process that writes the files beside the report."""
    return PreparedProcess(PREPARE_EXPORTS, without=NO_FRAMES, environment=GIVEN_BACK)


def another_reader() -> PreparedProcess:
    """A process that reads logs or trials."""
    return PreparedProcess(PREPARE_READING, without=NO_FRAMES)
