"""One row of `jobs` from everything that was read in one log.

The rows of a log pass by once, in file order; what matters for the summary is remembered, so memory
does not grow with the log. How the job ended is decided by rank of evidence, and only by evidence
that stands after the last training block: an earlier failure was survived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from rl_pipeline.discovery.found import printable
from rl_pipeline.metric_block import MetricBlock
from rl_pipeline.reader import ReadReport
from rl_pipeline.schema import (
    CONSOLE,
    END_STATES,
    JSONL,
    MIRROR,
    PARTIAL,
    SUMMARY,
    TRAIN,
    Job,
    JobEvent,
    Row,
    StepMetric,
    Unparsed,
)

# Evidence of an end, strongest first. A training loop that ended by itself stays ended whatever the
# teardown does afterwards; a scheduler knows more than a traceback. `None`: the event's name is the state.
END_EVIDENCE: tuple[tuple[str, str | None], ...] = (
    ("end", "completed"),
    ("slurm_job", None),
    ("slurm_step", None),
    ("out_of_memory", "out_of_memory"),
    ("failure", "failed"),
    ("driver_traceback", "failed"),
    ("slurm_task", None),
    ("killed", "failed"),
)
END_KINDS = dict(END_EVIDENCE)
BLOCK_DIALECTS = {"step_block", "wandb_mirror"}


class NamedLog(Protocol):
    """What the summary needs to know of the log beside its content."""

    @property
    def experiment(self) -> str: ...  # noqa: D102
    @property
    def job(self) -> str: ...  # noqa: D102
    @property
    def job_key(self) -> str: ...  # noqa: D102
    @property
    def path(self) -> Path: ...  # noqa: D102


class JobCourse:
    """Watches the rows of one job and says at the end what the job was."""

    def __init__(self) -> None:
        self.first_step: int | None = None
        self.last_step: int | None = None
        self.resumed_from: int | None = None
        self.blocks: dict[str, set[int]] = {CONSOLE: set(), MIRROR: set(), JSONL: set()}
        self.partial_blocks: set[int] = set()
        self.broken_lines: set[int] = set()
        self.partial_lines: set[int] = set()
        self.ends: dict[str, JobEvent] = {}

    def observe(self, rows: Iterable[Row]) -> None:
        """Take note of rows; called with all of them, in file order."""
        if isinstance(rows, MetricBlock):
            rows = rows[:1]  # they are of one block
        for row in rows:
            if isinstance(row, StepMetric):
                self._block(row)
            elif isinstance(row, JobEvent):
                self._event(row)
            elif isinstance(row, Unparsed) and row.dialect in BLOCK_DIALECTS:
                self.broken_lines.add(row.line)

    def _block(self, row: StepMetric) -> None:
        if row.source == SUMMARY:
            return  # a line with numbers, no block
        if row.block in self.blocks[row.source] or row.block in self.partial_blocks:
            return
        if row.kind == PARTIAL:
            self.partial_blocks.add(row.block)
            self.partial_lines.add(row.line)
            return
        self.blocks[row.source].add(row.block)
        if row.kind != TRAIN or row.global_step is None:
            return
        self.ends = {kind: event for kind, event in self.ends.items() if event.line > row.line}
        self.first_step = row.global_step if self.first_step is None else min(self.first_step, row.global_step)
        self.last_step = row.global_step if self.last_step is None else max(self.last_step, row.global_step)

    def _event(self, event: JobEvent) -> None:
        if event.kind in END_KINDS:
            self.ends[event.kind] = event
        elif event.kind in {"resume", "checkpoint_loaded"} and event.step and self.resumed_from is None:
            self.resumed_from = event.step

    @property
    def complete_blocks(self) -> int:
        """Blocks of the console logger; a mirror line repeats its block, so it counts only where it stands alone."""
        return next((len(blocks) for blocks in self.blocks.values() if blocks), 0)

    def end(self) -> tuple[str, JobEvent | None]:
        """State and the event that shows it."""
        for kind, state in END_EVIDENCE:
            event = self.ends.get(kind)
            named = state or (event.name if event else None)
            if event and named in END_STATES:
                return named, event
        return "unknown", None

    def summarise(self, log: NamedLog, report: ReadReport, recognised: Mapping[str, int]) -> Job:
        """The row of `jobs`.

        Args:
            log: its names.
            report: what reading it was like; complete only after the last message.
            recognised: messages by dialect.
        """
        state, evidence = self.end()
        return Job(
            experiment=log.experiment,
            job=log.job,
            job_key=log.job_key,
            path=printable(log.path.name),
            size_bytes=report.size_bytes,
            fingerprint=report.fingerprint,
            compression=report.compression,
            first_logged_at=report.first_logged_at,
            last_logged_at=report.last_logged_at,
            zone=report.zone,
            resumed_from_step=self.resumed_from,
            first_step=self.first_step,
            last_step=self.last_step,
            end_state=state,
            end_evidence=evidence.detail if evidence else None,
            end_line=evidence.line if evidence else None,
            end_byte=evidence.byte_offset if evidence else None,
            lines=report.lines,
            printed_lines=report.lines + report.folded_lines,
            blocks=self.complete_blocks,
            broken_blocks=len(self.partial_blocks) + len(self.broken_lines - self.partial_lines),
            nul_bytes=report.nul_bytes,
            undecodable_bytes=report.undecodable_bytes,
            cut_tail=report.cut_tail,
            read_error=report.read_error,
            dialect_lines=dict(sorted(recognised.items())),
        )
