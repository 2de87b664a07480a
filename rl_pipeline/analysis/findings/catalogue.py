"""The catalogue of rules as a page: what each reads and needs, its thresholds, its action.

Made from the rules themselves, so that the page cannot say anything else than the program does.
"""

from __future__ import annotations

import inspect

from rl_pipeline.analysis.findings.rulebook import Rule, rules
from rl_pipeline.analysis.thresholds import SHARED, Threshold, default_thresholds

HEAD = """# Findings

Every experiment is judged by forty rules.
Each answers *fired*, *clear* or *not measurable*; missing evidence never reads as clear.
A finding tells its evidence (file, line or step), n, the threshold and where it comes from,
what to do, and what would overturn it.

All numbers below stand in one file, `thresholds.yaml`.
A deployment changes them by a YAML of the same two levels, for example `R1: {wait_share_high: 0.5}`.
A changed number is printed with the name of that file as its source.

The verdict is one line, the first of these that holds:

- *stop recommended*: R27 at critical severity, or R6 together with R7, R8 or R9 in the same steps
- *needs attention*: a finding of critical or high severity
- *not enough evidence*: too few of the rules on learning and stability could be judged
- *healthy with notes*: a finding of medium or low severity
- *healthy*: none but information

Nothing is ever stopped by a finding.
"""


def catalogue_markdown() -> str:
    """The page, in the order of the rules."""
    parts = [HEAD, "## Shared numbers\n", _table(default_thresholds().of(SHARED))]
    for entry in rules():
        parts += [_section(entry)]
    return "\n".join(parts).rstrip() + "\n"


def _section(entry: Rule) -> str:
    thresholds = default_thresholds()
    doc = " ".join((inspect.getdoc(entry.judge) or "").split())
    lines = [
        f"## {entry.id} {entry.title}\n",
        f"`{entry.slug}` · severity {entry.severity}\n",
        doc + "\n",
        f"- Fires when: {entry.shown_threshold(thresholds).text}.",
        f"- Do: {entry.action}",
        f"- Overturned by: {entry.overturned_by}\n",
    ]
    own = thresholds.of(entry.id)
    return "\n".join([*lines, _table(own)] if own else lines)


def _table(thresholds: tuple[Threshold, ...]) -> str:
    rows = ["| name | value | source | meaning |", "|---|---|---|---|"]
    rows += [f"| {t.name} | {t.text} | {t.source} | {t.meaning} |" for t in thresholds]
    return "\n".join(rows) + "\n"
