"""The verdict line, and the rule book around the rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rl_pipeline.analysis.findings import build_context, evaluate, rulebook, rules, verdict
from rl_pipeline.analysis.findings.finding import STATUSES
from rl_pipeline_tests.helpers.frames import experiment_frames
from rl_pipeline_tests.helpers.small_runs import blocks, event, frames_of, trial_rows

REWARD, STEP = "reward/avg_raw_reward", "timing/step"
RISING = [0.3 + 0.005 * place for place in range(60)]
ENTROPY = [0.3 + 0.01 * (place % 3) for place in range(60)]
STEADY = {REWARD: RISING, "policy/policy_entropy": ENTROPY, STEP: [100.0 + place % 5 for place in range(60)]}


def line(**tables: object) -> tuple[str, tuple[str, ...]]:
    context = build_context(frames_of(**tables))
    found = verdict(evaluate(context, strict=True), context)
    return found.status, found.reasons


def test_a_run_that_rises_steadily_is_healthy():
    assert line(step_metrics=blocks(STEADY))[0] == "healthy"


def test_a_straggler_makes_it_healthy_with_notes():
    slow = [*STEADY[STEP][:30], 300.0, *STEADY[STEP][31:]]

    status, reasons = line(step_metrics=blocks({**STEADY, STEP: slow}))

    assert status == "healthy with notes"
    assert reasons[0].startswith("R25 Straggler steps: ")


def test_a_finding_of_high_severity_needs_attention():
    status, reasons = line(step_metrics=blocks(STEADY), trials=trial_rows([None, 1.0, 0.0, 1.0] * 50))

    assert status == "needs attention"
    assert reasons[0].startswith("R19 ")


def test_a_secret_needs_attention_and_stops_nothing():
    assert (
        line(step_metrics=blocks(STEADY), job_events=[event("secret", name="token", value=1.0)])[0] == "needs attention"
    )


def test_a_collapse_of_reward_recommends_to_stop():
    fallen = [*RISING[:40], *([0.0] * 20)]

    assert line(step_metrics=blocks({**STEADY, REWARD: fallen}))[0] == "stop recommended"


def test_entropy_and_gradient_breaking_in_the_same_steps_recommend_to_stop():
    entropy = [*ENTROPY[:40], *([0.1] * 5), *ENTROPY[45:]]
    gradient = [*([0.1] * 41), 0.9, 0.9, *([0.1] * 17)]

    status, reasons = line(
        step_metrics=blocks({**STEADY, "policy/policy_entropy": entropy, "policy/raw_grad_norm": gradient})
    )

    assert status == "stop recommended"
    assert reasons[0].startswith("R6 and R7 in the same steps")


def test_entropy_alone_needs_attention():
    entropy = [*ENTROPY[:40], *([0.1] * 5), *ENTROPY[45:]]

    assert line(step_metrics=blocks({**STEADY, "policy/policy_entropy": entropy}))[0] == "needs attention"


def test_three_steps_are_not_enough_evidence():
    status, reasons = line(step_metrics=blocks({name: values[:3] for name, values in STEADY.items()}))

    assert status == "not enough evidence"
    assert "3 canonical steps" in reasons[0]


def test_nothing_at_all_is_not_enough_evidence_and_nothing_is_clear():
    context = build_context(experiment_frames())
    found = evaluate(context, strict=True)

    assert verdict(found, context).status == "not enough evidence"
    assert {finding.status for finding in found} == {"not_measurable"}


def test_a_rule_that_fails_is_told_and_hides_no_other(monkeypatch: pytest.MonkeyPatch):
    def broken(context: object) -> None:
        raise ZeroDivisionError

    table = {entry.id: entry for entry in rules()}
    table["R6"] = replace(table["R6"], judge=broken)  # type: ignore[arg-type]
    monkeypatch.setattr(rulebook, "_RULES", table)
    context = build_context(frames_of(step_metrics=blocks(STEADY)))

    found = {finding.id: finding for finding in evaluate(context)}

    assert found["R6"].status == "not_measurable"
    assert "internal error" in found["R6"].missing[0]
    assert found["R26"].status == "clear"
    with pytest.raises(ZeroDivisionError):
        evaluate(context, strict=True)


def test_the_catalogue_is_complete_and_every_rule_explains_itself():
    table = rules()

    assert [entry.id for entry in table] == [f"R{number}" for number in range(1, 41)]
    assert len({entry.slug for entry in table}) == 40
    assert [entry.id for entry in table if len(entry.judge.__doc__ or "") < 100] == []


def test_an_answer_has_one_of_three_states():
    context = build_context(frames_of(step_metrics=blocks(STEADY)))

    assert {finding.status for finding in evaluate(context, strict=True)} <= set(STATUSES)
