"""What a rule says: evidence, finding, verdict, and the short answers that rules are written in.

A rule returns an `Answer`; the rule book adds what never depends on the run (title, action, thresholds,
what would overturn it) and makes the `Finding`. Status is one of three: a rule whose evidence is missing
is *not measurable*, never *clear*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FIRED, CLEAR, NOT_MEASURABLE = "fired", "clear", "not_measurable"
STATUSES = (FIRED, CLEAR, NOT_MEASURABLE)

CRITICAL, HIGH, MEDIUM, LOW, INFO = "critical", "high", "medium", "low", "info"
SEVERITIES = (CRITICAL, HIGH, MEDIUM, LOW, INFO)

HEALTHY, WITH_NOTES = "healthy", "healthy with notes"
NEEDS_ATTENTION, STOP_RECOMMENDED = "needs attention", "stop recommended"
NOT_ENOUGH = "not enough evidence"
VERDICTS = (HEALTHY, WITH_NOTES, NEEDS_ATTENTION, STOP_RECOMMENDED, NOT_ENOUGH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One fact behind a finding, and where to look it up."""

    text: str
    job: str | None = None
    file: str | None = None
    line: int | None = None
    step_range: tuple[int, int] | None = None
    key: str | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownThreshold:
    """The numbers a finding was judged by, as text, and where they come from."""

    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's answer on one experiment.

    `n` counts the units named by `population`; it is 0 when nothing could be looked at. `missing` says what
    the inputs lack: for a rule that could not be judged, why; for one that could, which part was left out.
    """

    id: str
    slug: str
    status: str
    severity: str
    title: str
    summary: str
    evidence: tuple[Evidence, ...]
    n: int
    population: str
    threshold: ShownThreshold
    action: str
    missing: tuple[str, ...]
    overturned_by: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The one line over an experiment."""

    status: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a rule found; severity and title only where they depend on the run."""

    status: str
    summary: str
    evidence: tuple[Evidence, ...] = ()
    n: int = 0
    population: str = ""
    severity: str | None = None
    title: str | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def fired(
    summary: str,
    evidence: Sequence[Evidence],
    *,
    n: int,
    population: str,
    severity: str | None = None,
    title: str | None = None,
    missing: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Answer:
    """The condition holds."""
    return Answer(
        status=FIRED,
        summary=summary,
        evidence=tuple(evidence),
        n=n,
        population=population,
        severity=severity,
        title=title,
        missing=tuple(missing),
        notes=tuple(notes),
    )


def clear(
    summary: str,
    evidence: Sequence[Evidence] = (),
    *,
    n: int,
    population: str,
    missing: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Answer:
    """The condition does not hold, whatever a missing part might say."""
    return Answer(
        status=CLEAR,
        summary=summary,
        evidence=tuple(evidence),
        n=n,
        population=population,
        missing=tuple(missing),
        notes=tuple(notes),
    )


def not_measurable(
    *missing: str,
    summary: str = "",
    evidence: Sequence[Evidence] = (),
    n: int = 0,
    population: str = "",
    notes: Sequence[str] = (),
) -> Answer:
    """The inputs cannot say; `missing` names what would be needed."""
    text = summary or f"Not measurable: {'; '.join(missing)}."
    return Answer(
        status=NOT_MEASURABLE,
        summary=text,
        evidence=tuple(evidence),
        n=n,
        population=population,
        missing=missing,
        notes=tuple(notes),
    )
