"""Is it learning? In words, for every state of the rules behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rl_pipeline.analysis.findings.finding import Finding
from rl_pipeline.report.views.learning import learning_view
from rl_pipeline_tests.helpers.reference_result import reference_result

RESULT = reference_result()
ENDS = (0.352, 0.377, 10)


def with_rule(rule: str, **changes: object) -> list[Finding]:
    """The published run's findings, one of them changed."""
    return [replace(f, **changes) if f.id == rule else f for f in RESULT.findings]  # type: ignore[arg-type]


def test_the_published_run_shows_no_gain_and_says_what_it_could_not_have_seen():
    found = learning_view(RESULT.findings, RESULT.trend.reward, ENDS)

    # source: recomputed from the published step table
    assert (found.answer, found.rule) == ("Not shown", "R26")
    assert "+0.0060 per 10 steps (95 % +0.0004 to +0.0107, 74 settled steps)" in found.text
    assert "from 0.352 in the first 10 settled steps to 0.377 in the last 10" in found.text
    assert "over all 80 steps -0.0018 to +0.009" in found.text
    assert found.text.endswith("A gain below 0.056 over the run could not have been seen.")


@pytest.mark.parametrize(
    ("rule", "changes", "answer"),
    [
        ("R26", {"status": "clear"}, "Yes"),
        ("R26", {"title": "Reward declines"}, "No, it declines"),
        ("R26", {"status": "not_measurable", "missing": ("30 settled steps",)}, "Too early to say"),
        ("R27", {"status": "fired"}, "No"),
    ],
)
def test_the_answer_is_that_of_the_rules(rule: str, changes: dict[str, object], answer: str):
    assert learning_view(with_rule(rule, **changes), RESULT.trend.reward, ENDS).answer == answer


def test_a_short_run_tells_its_ends_and_what_is_missing():
    findings = with_rule("R26", status="not_measurable", missing=("30 settled steps; there are 18",))

    assert learning_view(findings, RESULT.trend.reward, ENDS).text == (
        "A trend needs 30 settled steps; there are 18. So far: mean reward 0.352 in the first 10 settled steps, "
        "0.377 in the last 10."
    )


def test_without_a_reward_nothing_can_be_said():
    assert learning_view(RESULT.findings, None).answer == "Cannot be said"
