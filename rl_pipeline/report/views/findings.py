"""Findings first: the verdict, what fired with its evidence, then what could not be judged and what is clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rl_pipeline.analysis.findings.finding import (
    CLEAR,
    FIRED,
    NOT_MEASURABLE,
    SEVERITIES,
    Evidence,
    Finding,
    Verdict,
)
from rl_pipeline.report.formatting import thousands
from rl_pipeline.report.views.section import sentence
from rl_pipeline.report.views.table import TableView, table


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredView:
    """One finding that fired."""

    title: str
    severity: str
    summary: str
    population: str
    evidence: tuple[str, ...]
    threshold: str
    action: str
    overturned_by: str
    notes: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsView:
    """The whole section."""

    verdict: str
    reasons: tuple[str, ...]
    overview: TableView | None
    fired: tuple[FiredView, ...]
    not_measurable: TableView | None
    clear: TableView | None


def findings_view(findings: Sequence[Finding] | None, verdict: Verdict | None) -> FindingsView | None:
    """None when no rule was asked."""
    if not findings:
        return None
    fired = sorted((finding for finding in findings if finding.status == FIRED), key=_urgency)
    unknown = [finding for finding in findings if finding.status == NOT_MEASURABLE]
    clear = [finding for finding in findings if finding.status == CLEAR]
    return FindingsView(
        verdict=verdict.status if verdict else "no verdict",
        reasons=tuple(sentence(reason) for reason in verdict.reasons) if verdict else (),
        overview=table("Severity | Rule | Finding", ((f.severity, f.id, f.title) for f in fired), words=3)
        if fired
        else None,
        fired=tuple(_fired(finding) for finding in fired),
        not_measurable=_listed("What is missing", unknown),
        clear=_listed("What was seen", clear),
    )


def _urgency(finding: Finding) -> tuple[int, int]:
    number = "".join(filter(str.isdigit, finding.id))
    return SEVERITIES.index(finding.severity), int(number or 0)


def _fired(finding: Finding) -> FiredView:
    return FiredView(
        title=f"{finding.id} {finding.title}",
        severity=finding.severity,
        summary=sentence(finding.summary),
        population=f"n = {thousands(finding.n)} {finding.population}".rstrip(),
        evidence=tuple(evidence_text(entry) for entry in finding.evidence),
        threshold=f"{finding.threshold.text} ({finding.threshold.source})",
        action=sentence(finding.action),
        overturned_by=sentence(finding.overturned_by),
        notes=tuple(sentence(note) for note in finding.notes),
        missing=tuple(sentence(item) for item in finding.missing),
    )


def evidence_text(entry: Evidence) -> str:
    """The fact and where to look it up."""
    first, last = entry.step_range or (None, None)
    steps = None if first is None else f"step {first}" if first == last else f"steps {first}–{last}"
    where = [part for part in (entry.job, entry.file, steps, entry.key) if part]
    if entry.line is not None:
        where.append(f"line {entry.line}")
    return f"{entry.text} ({', '.join(where)})" if where else entry.text


def _listed(title: str, findings: Sequence[Finding]) -> TableView | None:
    """Rules that did not fire, one row each."""
    if not findings:
        return None
    return table(
        f"Rule | Question | {title}",
        ((f.id, f.title, "; ".join(f.missing) if f.missing and not f.summary else f.summary) for f in findings),
        words=3,
    )
