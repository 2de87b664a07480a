"""Is it learning? One plain sentence under the verdict, from the rules on reward and the trend beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rl_pipeline.analysis.findings.finding import CLEAR, FIRED, Finding
from rl_pipeline.analysis.training_trends import MetricTrend
from rl_pipeline.analysis.trends import Trend
from rl_pipeline.report.formatting import fixed, signed
from rl_pipeline.wording import plural

TREND_RULE, COLLAPSE_RULE = "R26", "R27"
PER_STEPS = 10  # steps of the slope that is told


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningView:
    """The answer.

    Attributes:
        answer: in a word or two.
        text: what it rests on, one or two sentences.
        rule: the rule that gave it; None where no rule looked.
    """

    answer: str
    text: str
    rule: str | None


def learning_view(
    findings: Sequence[Finding], reward: MetricTrend | None, ends: tuple[float | None, float | None, int] | None = None
) -> LearningView:
    """What the reward of training says.

    Args:
        findings: of every rule.
        reward: how the mean reward moves; None when it is not logged.
        ends: mean reward of the first and of the last settled steps, and how many these are.
    """
    rules = {finding.id: finding for finding in findings}
    trend_rule, collapse = rules.get(TREND_RULE), rules.get(COLLAPSE_RULE)
    if reward is None:
        return LearningView(answer="Cannot be said", text="No mean reward is logged.", rule=None)
    if collapse is not None and collapse.status == FIRED:
        return LearningView(answer="No", text=collapse.summary, rule=COLLAPSE_RULE)
    if trend_rule is None or trend_rule.status not in {CLEAR, FIRED}:
        missing = "; ".join(trend_rule.missing) if trend_rule else "no rule looked at the reward"
        text = f"A trend needs {missing}." if trend_rule else f"{missing}."
        return LearningView(answer="Too early to say", text=f"{text}{_ends(ends)}", rule=TREND_RULE)
    moves = f"The mean reward moves by {_slope(reward.settled)}{_ends(ends, separator=', ')}"
    if trend_rule.status == CLEAR:
        return LearningView(answer="Yes", text=f"{moves}.", rule=TREND_RULE)
    if "declines" in trend_rule.title:
        return LearningView(answer="No, it declines", text=f"{moves}.", rule=TREND_RULE)
    return LearningView(answer="Not shown", text=f"{moves}; {_beside(reward)}.{_blind(reward)}", rule=TREND_RULE)


def _slope(found: Trend) -> str:
    slope = found.slope
    if slope.value is None or slope.lower is None or slope.upper is None:
        return "an unknown amount"
    value, low, high = (signed(PER_STEPS * part, 4) for part in (slope.value, slope.lower, slope.upper))
    return f"{value} per {PER_STEPS} steps (95 % {low} to {high}, {found.test.n} settled steps)"


def _beside(reward: MetricTrend) -> str:
    """Why it is not shown: by all steps, or by the settled ones themselves."""
    found = reward.all_steps
    slope = found.slope
    if slope.value is None or slope.lower is None or slope.upper is None:
        return "its interval or its test holds no gain"
    low, high = (signed(PER_STEPS * part, 4) for part in (slope.lower, slope.upper))
    return f"over all {plural(found.test.n, 'step')} {low} to {high}; a gain counts when both lie above 0 with p < 0.05"


def _blind(reward: MetricTrend) -> str:
    gain = reward.detectable.over_run
    return "" if gain is None else f" A gain below {fixed(gain, 3)} over the run could not have been seen."


def _ends(ends: tuple[float | None, float | None, int] | None, *, separator: str = " ") -> str:
    if ends is None or not ends[2]:
        return ""
    early, late, window = fixed(ends[0], 3), fixed(ends[1], 3), ends[2]
    if separator == " ":
        return f" So far: mean reward {early} in the first {window} settled steps, {late} in the last {window}."
    return f"{separator}from {early} in the first {window} settled steps to {late} in the last {window}"
