"""Headings of sections that hold several small pictures: what is seen in all of them, from findings and tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rl_pipeline.analysis.findings.finding import CLEAR, FIRED, Finding
from rl_pipeline.analysis.job_comparison import JobMeans

# What the rules on stability look at.
STABILITY_RULES = {
    "R6": "entropy",
    "R7": "gradient norm",
    "R8": "KL",
    "R9": "importance ratio",
    "R10": "staleness",
}
SIGNIFICANT = 0.05


def stability_heading(findings: Sequence[Finding]) -> str:
    """What fired; else what is in its range; and what nobody can say."""
    own = [finding for finding in findings if finding.id in STABILITY_RULES]
    fired = [finding.title for finding in own if finding.status == FIRED]
    clear = [STABILITY_RULES[finding.id] for finding in own if finding.status == CLEAR]
    parts = ["; ".join(fired)] if fired else []
    if clear:
        parts.append(f"{_listed(clear)} {'stays' if len(clear) == 1 else 'stay'} in {_range(len(clear))}")
    if not parts:
        return "Stability cannot be judged from what was logged"
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def _range(number: int) -> str:
    return "its range" if number == 1 else "their range"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def jobs_heading(compared: Sequence[JobMeans]) -> str | None:
    """How many of the quantities differ between some pair of jobs; None with nothing to compare."""
    names = {entry.quantity for entry in compared}
    chosen = [e for e in compared if e.differences and f"{e.quantity}, without warm-up" not in names]
    if not chosen:
        return None
    apart = [entry.quantity.partition(",")[0] for entry in chosen if _differs(entry)]
    if not apart:
        return "The jobs do not differ in anything compared here"
    text = _listed(apart)
    verb = "differs" if len(apart) == 1 else "differ"
    return f"{text[:1].upper()}{text[1:]} {verb} between the jobs, which may be training and not the job"


def _differs(entry: JobMeans) -> bool:
    return any(d.holm_p is not None and d.holm_p < SIGNIFICANT for d in entry.differences)
