"""One line over an experiment, from its findings.

- *stop recommended*: reward has collapsed (R27 of critical severity), or entropy and a second sign of a broken
  policy stand in the same steps. A recommendation with its evidence; nothing is ever stopped by this package.
- *not enough evidence*: too few steps to judge, and nothing critical found.
- *needs attention*: any finding of critical or high severity.
- *healthy with notes*: findings of medium or low severity only.
- *healthy*: none but information.
"""

from __future__ import annotations

from collections.abc import Sequence

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.finding import (
    CRITICAL,
    FIRED,
    HEALTHY,
    HIGH,
    LOW,
    MEDIUM,
    NEEDS_ATTENTION,
    NOT_ENOUGH,
    NOT_MEASURABLE,
    STOP_RECOMMENDED,
    WITH_NOTES,
    Finding,
    Verdict,
)
from rl_pipeline.wording import plural

COLLAPSE = "R27"
ENTROPY = "R6"
SECOND_SIGNS = ("R7", "R8", "R9")
# Without most of these nothing can be said about how the run learns.
CORE = ("R6", "R7", "R25", "R26", "R27")
CORE_NEEDED = 2


def verdict(findings: Sequence[Finding], context: RunContext) -> Verdict:
    """The status and why, worst first."""
    found = [finding for finding in findings if finding.status == FIRED]
    stop = _stop_reasons({finding.id: finding for finding in found})
    if stop:
        return Verdict(status=STOP_RECOMMENDED, reasons=(*stop, *_reasons(found, CRITICAL, HIGH, but=COLLAPSE)))
    if any(finding.severity in (CRITICAL, HIGH) for finding in found):
        return Verdict(status=NEEDS_ATTENTION, reasons=_reasons(found, CRITICAL, HIGH))
    missing = _not_enough(findings, context)
    if missing:
        return Verdict(status=NOT_ENOUGH, reasons=(missing, *_reasons(found, MEDIUM, LOW)))
    notes = _reasons(found, MEDIUM, LOW)
    if notes:
        return Verdict(status=WITH_NOTES, reasons=notes)
    measured = sum(finding.status != NOT_MEASURABLE for finding in findings)
    return Verdict(
        status=HEALTHY, reasons=(f"{measured} of {len(findings)} rules could be judged; none but information.",)
    )


def _reasons(found: Sequence[Finding], *severities: str, but: str = "") -> tuple[str, ...]:
    chosen = [finding for finding in found if finding.severity in severities and finding.id != but]
    chosen.sort(key=lambda finding: (severities.index(finding.severity), int(finding.id[1:])))
    return tuple(f"{finding.id} {finding.title}: {finding.summary}" for finding in chosen)


def _stop_reasons(found: dict[str, Finding]) -> tuple[str, ...]:
    reasons = []
    if COLLAPSE in found and found[COLLAPSE].severity == CRITICAL:
        reasons.append(f"{COLLAPSE} {found[COLLAPSE].title}: {found[COLLAPSE].summary}")
    if ENTROPY in found:
        for other in SECOND_SIGNS:
            if other in found and _same_steps(found[ENTROPY], found[other]):
                reasons.append(
                    f"{ENTROPY} and {other} in the same steps: {found[ENTROPY].summary} {found[other].summary}"
                )
    return tuple(reasons)


def _same_steps(first: Finding, second: Finding) -> bool:
    """Whether evidence of both, apart from the first (the overview of all steps), shares a step."""
    return any(
        a.step_range is not None
        and b.step_range is not None
        and a.step_range[0] <= b.step_range[1]
        and b.step_range[0] <= a.step_range[1]
        for a in first.evidence[1:]
        for b in second.evidence[1:] or second.evidence
    )


def _not_enough(findings: Sequence[Finding], context: RunContext) -> str:
    measured = {finding.id for finding in findings if finding.status != NOT_MEASURABLE}
    judged = [rule for rule in CORE if rule in measured]
    if len(judged) >= CORE_NEEDED:
        return ""
    seen = f"{plural(len(context.steps), 'canonical step')} and {plural(len(context.trials), 'trial')}"
    return f"{seen}: only {len(judged)} of the {len(CORE)} rules on learning and stability could be judged."
