"""Findings: forty rules over one experiment, each fired, clear or not measurable, and one verdict line."""

from rl_pipeline.analysis.findings import (
    continuity,
    gaps,
    generation,
    infrastructure,
    inputs,
    learning,
    off_policy,
    resources,
    rewards,
    stability,
    trials,
)
from rl_pipeline.analysis.findings.context import RunContext, build_context
from rl_pipeline.analysis.findings.finding import (
    SEVERITIES,
    STATUSES,
    VERDICTS,
    Evidence,
    Finding,
    ShownThreshold,
    Verdict,
)
from rl_pipeline.analysis.findings.rulebook import RULE_COUNT, Rule, evaluate, rules
from rl_pipeline.analysis.findings.verdict import verdict

# Importing a module enters its rules into the catalogue.
RULE_MODULES = (
    generation,
    stability,
    off_policy,
    rewards,
    learning,
    trials,
    infrastructure,
    continuity,
    gaps,
    resources,
    inputs,
)

__all__ = [
    "RULE_COUNT",
    "RULE_MODULES",
    "SEVERITIES",
    "STATUSES",
    "VERDICTS",
    "Evidence",
    "Finding",
    "Rule",
    "RunContext",
    "ShownThreshold",
    "Verdict",
    "build_context",
    "evaluate",
    "rules",
    "verdict",
]
