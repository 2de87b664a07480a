"""Failed trials by class: from trial files, or, without them, from the exception breakdowns of batch lines.

A breakdown is a lower bound: exceptions that were passed through are not in it, and lines that Ray folded
away are lost. Names in breakdowns have no class in the tables, so they are sorted by their words.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.schema import AGENT_LIMIT, CONTEXT, INFRASTRUCTURE, OTHER, VERIFIER

WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (CONTEXT, re.compile(r"ContextLength|ContextWindow|OutputLength|OutputToken")),
    (VERIFIER, re.compile(r"Verifier|RewardFile|AddTests")),
    (
        INFRASTRUCTURE,
        re.compile(
            r"AgentSetup|Daytona|Environment|Sandbox|Network|Connection|RateLimit|Healthcheck|GKE|^Api|^API|"
            r"ServiceUnavailable|InternalServer"
        ),
    ),
    (AGENT_LIMIT, re.compile(r"AgentTimeout|NonZeroAgentExit|SafetyRefusal")),
)
TRIALS, BATCH_LINES = "trial files", "exception breakdowns in the logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Exceptions of one kind: counts by type, out of so many trials; `is_bound` when the log is the source."""

    by_type: tuple[tuple[str, int], ...]
    trials: int
    source: str

    @property
    def count(self) -> int:
        """Trials with such an exception."""
        return sum(count for _, count in self.by_type)

    @property
    def share(self) -> float | None:
        """Of all trials; null without any."""
        return self.count / self.trials if self.trials else None

    @property
    def is_bound(self) -> bool:
        """Whether the true share may be higher."""
        return self.source == BATCH_LINES

    @property
    def text(self) -> str:
        """Types with their counts, most frequent first."""
        return ", ".join(f"{name} {count:,}" for name, count in self.by_type)


def failures_of(context: RunContext, *classes: str, timeouts_only: bool = False) -> Failures:
    """Exceptions of the given classes, from trial files where there are any."""
    if len(context.trials):
        failed = context.failed_trials
        chosen = failed["exception_type"][failed["exception_class"].isin(classes)].astype(str)
        if timeouts_only:
            chosen = chosen[chosen.str.contains("Timeout")]
        return Failures(by_type=_ordered(Counter(chosen)), trials=len(context.trials), source=TRIALS)
    counts: Counter[str] = Counter()
    for breakdown in context.batches["exceptions"]:
        counts.update(breakdown or {})
    kept = {
        name: count
        for name, count in counts.items()
        if class_by_words(name) in classes and (not timeouts_only or "Timeout" in name)
    }
    total = context.batches["total"].sum()
    return Failures(by_type=_ordered(Counter(kept)), trials=int(total) if pd.notna(total) else 0, source=BATCH_LINES)


def class_by_words(name: str) -> str:
    """Class of an exception by the words of its name."""
    return next((kind for kind, pattern in WORDS if pattern.search(name)), OTHER)


def _ordered(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(
        sorted(((name, int(count)) for name, count in counts.items() if count), key=lambda item: (-item[1], item[0]))
    )
