"""The catalogue of rules: registration, composition of a finding, evaluation in order, the verdict.

A rule is a small function from `RunContext` to `Answer`. The decorator `rule` keeps what does not depend
on the run. The text of a threshold is a template over the rule's entries of `thresholds.yaml`, so that
the printed number is the one that judged.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.finding import Answer, Finding, ShownThreshold, not_measurable
from rl_pipeline.analysis.thresholds import SHARED, Threshold, Thresholds

RULE_COUNT = 40
NO_THRESHOLD = "definition"

RuleFunction = Callable[[RunContext], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One entry of the catalogue."""

    id: str
    slug: str
    severity: str
    title: str
    threshold: str
    action: str
    overturned_by: str
    judge: RuleFunction

    @property
    def number(self) -> int:
        """R7 → 7."""
        return int(self.id[1:])

    def thresholds(self, thresholds: Thresholds) -> tuple[Threshold, ...]:
        """The entries that the threshold's text names, the rule's own first."""
        names = [name for _, name, _, _ in string.Formatter().parse(self.threshold) if name]
        return tuple(_entry(thresholds, self.id, name) for name in dict.fromkeys(names))

    def shown_threshold(self, thresholds: Thresholds) -> ShownThreshold:
        """The text with its numbers, and their sources without repeats."""
        used = self.thresholds(thresholds)
        text = self.threshold.format(**{threshold.name: threshold.text for threshold in used})
        sources = dict.fromkeys(threshold.source for threshold in used)
        return ShownThreshold(text=text, source=", ".join(sources) or NO_THRESHOLD)


_RULES: dict[str, Rule] = {}


def rule(
    rule_id: str, slug: str, *, severity: str, title: str, threshold: str, action: str, overturned_by: str
) -> Callable[[RuleFunction], RuleFunction]:
    """Enter a function into the catalogue."""

    def enter(judge: RuleFunction) -> RuleFunction:
        assert rule_id not in _RULES, rule_id
        _RULES[rule_id] = Rule(
            id=rule_id,
            slug=slug,
            severity=severity,
            title=title,
            threshold=threshold,
            action=action,
            overturned_by=overturned_by,
            judge=judge,
        )
        return judge

    return enter


def rules() -> tuple[Rule, ...]:
    """The catalogue in order."""
    return tuple(sorted(_RULES.values(), key=lambda entry: entry.number))


def rules_by_id() -> Mapping[str, Rule]:
    """The catalogue by id."""
    return {entry.id: entry for entry in rules()}


def evaluate(context: RunContext, *, strict: bool = False) -> tuple[Finding, ...]:
    """One finding per rule, in order.

    Args:
        context: everything the rules read.
        strict: let an exception of a rule rise (tests); else it becomes *not measurable*, so that one
            mistake here does not hide thirty-nine answers.
    """
    return tuple(_finding(entry, _answer(entry, context, strict=strict), context.thresholds) for entry in rules())


def _answer(entry: Rule, context: RunContext, *, strict: bool) -> Answer:
    try:
        return entry.judge(context)
    except Exception as error:
        if strict:
            raise
        return not_measurable(f"internal error in this rule ({type(error).__name__}); the inputs were not judged")


def _finding(entry: Rule, answer: Answer, thresholds: Thresholds) -> Finding:
    return Finding(
        id=entry.id,
        slug=entry.slug,
        status=answer.status,
        severity=answer.severity or entry.severity,
        title=answer.title or entry.title,
        summary=answer.summary,
        evidence=answer.evidence,
        n=answer.n,
        population=answer.population,
        threshold=entry.shown_threshold(thresholds),
        action=entry.action,
        missing=answer.missing,
        overturned_by=entry.overturned_by,
        notes=answer.notes,
    )


def _entry(thresholds: Thresholds, rule_id: str, name: str) -> Threshold:
    return thresholds[rule_id, name] if (rule_id, name) in thresholds else thresholds[SHARED, name]
