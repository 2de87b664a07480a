"""What was read and what could not be read, as tables and sentences."""

from __future__ import annotations

from dataclasses import dataclass

from rl_pipeline.analysis.provenance import LogInput, Provenance
from rl_pipeline.report.formatting import ABSENT, count, size, thousands
from rl_pipeline.report.views.table import TableView, table
from rl_pipeline.wording import plural

DIGEST_SHOWN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsView:
    """The section on inputs."""

    logs: TableView
    notes: tuple[str, ...]
    unparsed: TableView | None
    skipped: TableView | None


def inputs_view(provenance: Provenance) -> InputsView:
    """Tables of inputs; those of troubles only where there are any."""
    return InputsView(
        logs=table(
            "Log | File | Fingerprint | Size | Lines | Lines Printed | Blocks | Broken Blocks | Damage",
            (_log(log) for log in provenance.logs),
            words=3,
        ),
        notes=tuple(_notes(provenance)),
        unparsed=table(
            "Format | What is wrong | Messages | First in | Line | Begins with",
            (
                (kind.dialect, kind.reason, count(kind.count), kind.job, count(kind.line), kind.excerpt)
                for kind in provenance.unparsed
            ),
            words=2,
        )
        if provenance.unparsed
        else None,
        skipped=table(
            "Why | Folders | For example",
            ((kind.reason, count(kind.count), kind.example) for kind in provenance.skipped),
        )
        if provenance.skipped
        else None,
    )


def _log(log: LogInput) -> tuple[str, ...]:
    return (
        log.job,
        log.file,
        log.fingerprint[:DIGEST_SHOWN],
        size(log.size_bytes),
        count(log.lines),
        count(log.printed_lines),
        count(log.blocks),
        count(log.broken_blocks),
        _damage(log),
    )


def _damage(log: LogInput) -> str:
    found = [f"reading stopped: {log.read_error}"] if log.read_error else []
    found += [f"{thousands(log.nul_bytes)} NUL bytes"] if log.nul_bytes else []
    found += [f"{thousands(log.undecodable_bytes)} bytes not UTF-8"] if log.undecodable_bytes else []
    found += ["last line cut"] if log.cut_tail else []
    return ", ".join(found) or ABSENT


def _notes(provenance: Provenance) -> list[str]:
    notes = [
        f"{plural(provenance.trials, 'trial')} read; "
        f"{thousands(provenance.trials_with_job)} of them ran in the time window of a job."
    ]
    if provenance.evaluation_blocks:
        notes.append(
            f"{plural(provenance.evaluation_blocks, 'evaluation block')} of metrics: in none of the published tables."
        )
    if provenance.partial_blocks:
        notes.append(f"{plural(provenance.partial_blocks, 'metric block')} cut short: in none of the published tables.")
    if provenance.secrets_redacted:
        notes.append(
            f"{plural(provenance.secrets_redacted, 'credential')} found in trial files; neither stored nor shown. "
            "They were readable there: replace them."
        )
    if not provenance.unparsed_total:
        notes.append("No recognised message was broken.")
    return notes
