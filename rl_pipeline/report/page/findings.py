"""Findings on the page: by severity, each unfolding to evidence, threshold, action, what would overturn it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rl_pipeline.analysis.findings.finding import CLEAR, FIRED, NOT_MEASURABLE, SEVERITIES, Evidence, Finding
from rl_pipeline.report.formatting import thousands, typographic
from rl_pipeline.report.views.section import sentence

# Where on the page a rule's subject is drawn.
SECTION_OF = {
    "timeline": ("R14", "R24", "R29", "R30"),
    "reward": ("R12", "R19", "R26", "R27", "R28"),
    "time": ("R1", "R5", "R13", "R22", "R25", "R36"),
    "engines": ("R2", "R3", "R4", "R40"),
    "trials": ("R11", "R15", "R16", "R17", "R18", "R20", "R21", "R38"),
    "stability": ("R6", "R7", "R8", "R9", "R10"),
    "checkpoints": ("R37",),
    "metrics": ("R23", "R31", "R32", "R33"),
    "provenance": ("R34", "R35", "R39"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceView:
    """One fact, where it stands, and the metric it is about when the page lists it."""

    text: str
    where: str
    metric: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView:
    """One finding; `section` is where its subject is drawn."""

    id: str
    severity: str
    title: str
    summary: str
    population: str
    evidence: tuple[EvidenceView, ...]
    threshold: str
    source: str
    action: str
    overturned_by: str
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    section: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroups:
    """Those that fired, worst first; those that could not be judged; those that are clear."""

    fired: tuple[FindingView, ...]
    counts: tuple[tuple[str, int], ...]
    not_measurable: tuple[FindingView, ...]
    clear: tuple[FindingView, ...]


def finding_groups(findings: Sequence[Finding], metrics: Collection[str], sections: Collection[str]) -> FindingGroups:
    """All findings.

    Args:
        findings: of every rule.
        metrics: names that the page lists, so that evidence can point to them.
        sections: ids of the page's sections.
    """
    order = sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), int(f.id[1:])))
    views = {status: tuple(_view(f, metrics, sections) for f in order if f.status == status) for status in
             (FIRED, NOT_MEASURABLE, CLEAR)}  # fmt: skip
    counts = tuple(
        (severity, number)
        for severity in SEVERITIES
        if (number := sum(view.severity == severity for view in views[FIRED]))
    )
    return FindingGroups(fired=views[FIRED], counts=counts, not_measurable=views[NOT_MEASURABLE], clear=views[CLEAR])


def metric_anchor(metric: str) -> str:
    """The id of a metric's row; distinct names that would collide are told apart by their odd characters.

    >>> metric_anchor("timing/step")
    'metric-timing-step'
    """
    return "metric-" + re.sub(r"[^0-9A-Za-z_.-]", lambda c: "-" if c.group() == "/" else f"_{ord(c.group()):x}", metric)


def _view(finding: Finding, metrics: Collection[str], sections: Collection[str]) -> FindingView:
    section = next((name for name, rules in SECTION_OF.items() if finding.id in rules and name in sections), None)
    return FindingView(
        id=finding.id,
        severity=finding.severity,
        title=finding.title,
        summary=_text(finding.summary),
        population=f"n = {thousands(finding.n)} {finding.population}".rstrip(),
        evidence=tuple(_evidence(entry, metrics) for entry in finding.evidence),
        threshold=typographic(finding.threshold.text),
        source=finding.threshold.source,
        action=_text(finding.action),
        overturned_by=_text(finding.overturned_by),
        notes=tuple(_text(note) for note in finding.notes),
        missing=tuple(_text(item) for item in finding.missing),
        section=section,
    )


def _text(text: str) -> str:
    return typographic(sentence(text))


def _evidence(entry: Evidence, metrics: Collection[str]) -> EvidenceView:
    first, last = entry.step_range or (None, None)
    steps = None if first is None else f"step {first}" if first == last else f"steps {first}–{last}"
    line = f"line {thousands(entry.line)}" if entry.line is not None else None
    where = [part for part in (entry.file or entry.job, line, steps) if part]
    return EvidenceView(
        text=typographic(entry.text),
        where=" · ".join(where),
        metric=entry.key if entry.key in metrics else None,
    )
