"""Thresholds: the defaults, what a deployment may change, and what it is told when it errs."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.findings import rules
from rl_pipeline.analysis.thresholds import SHARED, default_thresholds, thresholds_from_text
from rl_pipeline.errors import ConfigurationError


def refused(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        thresholds_from_text(text, where="site.yaml")
    return str(caught.value)


def test_every_default_lies_in_its_own_range_and_says_what_it_means():
    wrong = [
        threshold
        for threshold in default_thresholds().values()
        if not (threshold.minimum <= threshold.value <= threshold.maximum and threshold.meaning and threshold.source)
    ]

    assert wrong == []


def test_every_threshold_belongs_to_a_rule_that_prints_it():
    printed = {
        (threshold.rule, threshold.name) for rule in rules() for threshold in rule.thresholds(default_thresholds())
    }
    silent = [key for key in default_thresholds() if key[0] != SHARED and key not in printed]

    assert silent == []


def test_an_override_changes_the_number_and_names_its_file():
    changed = thresholds_from_text("R1: {wait_share_high: 0.5}\n", where="site.yaml")

    assert changed.value("R1", "wait_share_high") == 0.5
    assert changed["R1", "wait_share_high"].source == "site.yaml (default 40 %)"
    assert [(t.rule, t.name) for t in changed.overridden()] == [("R1", "wait_share_high")]
    assert default_thresholds().value("R1", "wait_share_high") == 0.4


def test_an_override_may_give_its_reason():
    changed = thresholds_from_text("R1:\n  wait_share_warn: {value: 0.3, source: measured in May}\n", where="site.yaml")

    assert changed["R1", "wait_share_warn"].source == "measured in May; site.yaml (default 20 %)"


def test_an_empty_file_changes_nothing():
    assert dict(thresholds_from_text("", where="site.yaml")) == dict(default_thresholds())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("R1: {wait_share_high: 1.5}", "R1.wait_share_high: expected 0 to 1, found 1.5"),
        ("R1: {wait_share: 0.5}", "R1.wait_share: no such threshold; R1 has wait_share_warn, wait_share_high"),
        ("R77: {a: 1}", "R77: no such rule with thresholds"),
        ("R7: {consecutive_steps: 2.5}", "expected a whole number of steps, found 2.5"),
        ("R1: {wait_share_high: high}", "expected a number, found 'high'"),
        ("R1: {wait_share_high: true}", "expected a number, found True"),
        ("R1: {wait_share_high: .nan}", "expected a number, found nan"),
        ("R1: {wait_share_high: {source: us}}", "expected value and source"),
        ("R1: 0.5", "'R1': expected names and values, found 0.5"),
        ("[1, 2]", "The thresholds file is not a mapping"),
        ("R1: {wait_share_high: 0.5, wait_share_high: 0.6}", "given twice: wait_share_high"),
        ("R1: {", "The thresholds file is not valid YAML"),
        ("a: &a [*a]", "The thresholds file is not valid YAML"),
        ("R1: !!python/object/apply:os.system [ls]", "The thresholds file is not valid YAML"),
    ],
)
def test_a_mistake_is_refused_with_its_place(text: str, words: str):
    message = refused(text)

    assert words in message
    assert "site.yaml" in message


def test_all_mistakes_are_told_together():
    message = refused("R1: {wait_share_high: 2}\nR99: {x: 1}\n")

    assert "R1.wait_share_high" in message
    assert "R99" in message


@given(st.text(max_size=200))
def test_any_text_is_either_thresholds_or_a_refusal(text: str):
    with suppress(ConfigurationError):
        assert len(thresholds_from_text(text, where="site.yaml")) == len(default_thresholds())


def test_a_mistake_in_yaml_is_told_on_one_line_with_its_place():
    with pytest.raises(ConfigurationError) as raised:
        thresholds_from_text("R1:\n  a: [1\nR2: {}\n", where="t.yaml")

    # The list of line 2 was not closed when line 3 went on with a mapping.
    assert "line 3, column 3: expected ',' or ']', but got ':'" in str(raised.value)
    assert "<unicode string>" not in str(raised.value)
