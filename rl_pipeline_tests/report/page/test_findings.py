"""Findings on the page: every rule once, worst first, with places to go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.findings.rulebook import rules
from rl_pipeline.report.page.findings import SECTION_OF, finding_groups, metric_anchor
from rl_pipeline_tests.helpers.reference_result import reference_result


def test_every_rule_has_one_place_where_its_subject_is_drawn():
    placed = [rule for section in SECTION_OF.values() for rule in section]

    assert sorted(placed) == sorted(rule.id for rule in rules())


def test_groups_hold_every_finding_once_worst_first():
    result = reference_result()
    groups = finding_groups(result.findings, {"timing/step"}, ["time", "reward"])

    every = [*groups.fired, *groups.not_measurable, *groups.clear]
    assert sorted(view.id for view in every) == sorted(finding.id for finding in result.findings)
    assert [view.severity for view in groups.fired][:3] == ["high", "high", "high"]
    assert dict(groups.counts)["high"] == 3


def test_evidence_points_to_metrics_that_the_page_lists_and_to_no_other():
    result = reference_result()
    key = "timing/wait_for_generation_buffer"
    with_metric = finding_groups(result.findings, {key}, ["time"]).fired[0]
    without = finding_groups(result.findings, set(), []).fired[0]

    assert key in [entry.metric for entry in with_metric.evidence]
    assert (with_metric.section, without.section) == ("time", None)
    assert {entry.metric for entry in without.evidence} == {None}


@given(st.text(), st.text())
def test_anchors_of_different_metrics_differ(a: str, b: str):
    def told_apart(text: str) -> str:
        return text.replace("/", "-")

    assert (metric_anchor(a) == metric_anchor(b)) <= (told_apart(a) == told_apart(b) or "_" in a + b)
    assert set(metric_anchor(a)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
