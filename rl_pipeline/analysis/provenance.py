"""What was read, what could not be read, and what the log never held: the report's provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.schema import EVAL, PARTIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class LogInput:
    """One job log as it was read.

    Attributes:
        job: short name.
        file: name of the file.
        size_bytes: as stored.
        fingerprint: digest of the stored bytes, hex: BLAKE3 of the BLAKE3 digests of each 4 MiB.
        compression: gzip or zstd; None for plain text.
        lines: lines in the file.
        printed_lines: lines the processes printed, those that Ray folded away included.
        blocks: complete metric blocks.
        broken_blocks: blocks that were cut or could not be read.
        nul_bytes: NUL bytes met.
        undecodable_bytes: bytes that are not UTF-8.
        cut_tail: the last line has no end.
        read_error: why reading stopped early; None if it did not.
        recognised: messages that each dialect recognised.
    """

    job: str
    file: str
    size_bytes: int
    fingerprint: str
    compression: str | None
    lines: int
    printed_lines: int
    blocks: int
    broken_blocks: int
    nul_bytes: int
    undecodable_bytes: int
    cut_tail: bool
    read_error: str | None
    recognised: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnparsedKind:
    """Messages that are ours but broken, of one dialect and reason.

    Attributes:
        dialect: format that claims them.
        reason: what is wrong.
        count: messages.
        job: job of the first one.
        line: its first line.
        excerpt: its beginning, redacted.
    """

    dialect: str
    reason: str
    count: int
    job: str
    line: int
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedKind:
    """Folders or files that were not read as trials, by reason.

    Attributes:
        reason: what they are instead.
        count: folders.
        example: the first path in alphabetical order.
    """

    reason: str
    count: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Inputs of the report.

    Attributes:
        logs: job logs in chain order.
        rows: rows of each table.
        trials: trials read.
        trials_with_job: trials that ran in the time window of a known job.
        secrets_redacted: credentials found in trial files and not stored.
        skipped: folders that are no trial.
        unparsed: broken messages, most frequent first.
        unparsed_total: all of them.
        partial_blocks: metric blocks cut by the end of a job.
        evaluation_blocks: blocks of evaluations; they are in no published table.
    """

    logs: tuple[LogInput, ...]
    rows: dict[str, int]
    trials: int
    trials_with_job: int
    secrets_redacted: int
    skipped: tuple[SkippedKind, ...]
    unparsed: tuple[UnparsedKind, ...]
    unparsed_total: int
    partial_blocks: int
    evaluation_blocks: int


def provenance_of(frames: ExperimentFrames) -> Provenance:
    """Count the inputs of one experiment."""
    tables = [name for name in frames.__slots__ if name != "experiment"]
    return Provenance(
        logs=tuple(_log_input(row) for row in frames.jobs.to_dict("records")),
        rows={name: len(getattr(frames, name)) for name in tables},
        trials=len(frames.trials),
        trials_with_job=int(frames.trials["job"].notna().sum()),
        secrets_redacted=int(frames.trials["secrets_redacted"].sum()),
        skipped=_skipped(frames.skipped_trials),
        unparsed=_unparsed(frames.unparsed),
        unparsed_total=len(frames.unparsed),
        partial_blocks=_blocks(frames.step_metrics, PARTIAL),
        evaluation_blocks=_blocks(frames.step_metrics, EVAL),
    )


def _blocks(step_metrics: pd.DataFrame, kind: str) -> int:
    return len(step_metrics[step_metrics["kind"] == kind].drop_duplicates(["job", "block"]))


def _log_input(row: Mapping[Any, Any]) -> LogInput:
    numbers = ("size_bytes", "lines", "printed_lines", "blocks", "broken_blocks", "nul_bytes", "undecodable_bytes")
    recognised = row["dialect_lines"]
    return LogInput(
        job=str(row["job"]),
        file=str(row["path"]),
        fingerprint=str(row["fingerprint"]),
        compression=_text(row["compression"]),
        cut_tail=bool(row["cut_tail"]),
        read_error=_text(row["read_error"]),
        recognised=dict(sorted(recognised.items())) if isinstance(recognised, dict) else {},
        **{name: int(str(row[name])) if row[name] is not None else 0 for name in numbers},
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _skipped(skipped: pd.DataFrame) -> tuple[SkippedKind, ...]:
    kinds = [
        SkippedKind(reason=str(reason), count=len(part), example=str(part["path"].min()))
        for reason, part in skipped.groupby("reason", sort=True)
    ]
    return tuple(sorted(kinds, key=lambda kind: (-kind.count, kind.reason)))


def _unparsed(unparsed: pd.DataFrame) -> tuple[UnparsedKind, ...]:
    kinds = []
    for (dialect, reason), part in unparsed.groupby(["dialect", "reason"], sort=True):
        first = part.iloc[0]
        kinds.append(
            UnparsedKind(
                dialect=str(dialect),
                reason=str(reason),
                count=len(part),
                job=str(first["job"]),
                line=int(first["line"]),
                excerpt=str(first["excerpt"]),
            )
        )
    return tuple(sorted(kinds, key=lambda kind: (-kind.count, kind.dialect, kind.reason)))
