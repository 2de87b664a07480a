"""The published run: what has to be said about it, with its numbers.

Source of every number: the published report's step tables, recomputed; the engine part of the report is told by
lines that these tables do not hold (it is judged on the logs, in the end-to-end tests).
"""

from __future__ import annotations

from functools import cache

import pytest

from rl_pipeline.analysis.findings import Finding, RunContext, build_context, evaluate, rules, verdict
from rl_pipeline_tests.helpers.reference_frames import reference_frames


@cache
def context() -> RunContext:
    return build_context(reference_frames())


@cache
def findings() -> dict[str, Finding]:
    return {finding.id: finding for finding in evaluate(context(), strict=True)}


def everything_in(finding: Finding) -> str:
    """All text of a finding, as a reader sees it."""
    return " | ".join([finding.summary, *(item.text for item in finding.evidence), *finding.notes, *finding.missing])


# Without clocks, engine lines, task names and ends of jobs, what needs them cannot be judged.
EXPECTED = {
    "R1": ("fired", "high"), "R2": ("not_measurable", "high"), "R3": ("not_measurable", "medium"),
    "R4": ("not_measurable", "medium"), "R5": ("clear", "info"), "R6": ("clear", "high"),
    "R7": ("clear", "medium"), "R8": ("not_measurable", "high"), "R9": ("not_measurable", "medium"),
    "R10": ("fired", "medium"), "R11": ("clear", "medium"), "R12": ("fired", "medium"), "R13": ("fired", "medium"),
    "R14": ("fired", "medium"), "R15": ("fired", "medium"), "R16": ("clear", "medium"),
    "R17": ("not_measurable", "low"), "R18": ("clear", "medium"), "R19": ("fired", "high"),
    "R20": ("fired", "medium"), "R21": ("not_measurable", "high"), "R22": ("fired", "low"),
    "R23": ("clear", "medium"), "R24": ("not_measurable", "critical"), "R25": ("fired", "low"),
    "R26": ("fired", "high"), "R27": ("clear", "critical"), "R28": ("fired", "medium"), "R29": ("fired", "info"),
    "R30": ("not_measurable", "high"), "R31": ("fired", "info"), "R32": ("fired", "info"),
    "R33": ("fired", "medium"), "R34": ("fired", "info"), "R35": ("clear", "info"),
    "R36": ("not_measurable", "medium"), "R37": ("fired", "info"), "R38": ("fired", "low"),
    "R39": ("clear", "critical"), "R40": ("not_measurable", "low"),
}  # fmt: skip


def test_every_rule_answers_once_in_order():
    assert [finding.id for finding in evaluate(context(), strict=True)] == [f"R{number}" for number in range(1, 41)]


@pytest.mark.parametrize("rule", EXPECTED, ids=str)
def test_a_rule_has_its_status_and_severity(rule: str):
    found = findings()[rule]

    assert (found.status, found.severity) == EXPECTED[rule]


MUST_CONTAIN = {
    "R1": ["58.2 %", "2.39 ×", "r = 0.996", "Cause not measured"],
    "R19": ["16.3 %", "0.367", "0.438", "0.437", "0.363–0.532", "5 % and 26 %", "25–134", "6,421 of 39,472"],
    "R26": [
        "+0.0060 per 10 steps [+0.0004, +0.0107]", "p = 0.033", "74 settled steps", "+0.0038 per 10 steps", "p = 0.18",
        "corrected 0.069", "≥ 0.056", "0.0513", "0.064 between two 10-step "
                                                "windows", "0.045 between two 20-step windows",
    ],
    "R28": ["9 (35/63)", "51 (33/53)", "30/54", "25/45", "≥ 1 repeats", "≥ 11 repeats", "79 of 81"],
    "R14": ["5,235 s", "687.8 s", "6,207 s", "8.8 %", "972.0 s",
        "2,866.6 s", "2,368.8 s", "+0.103", "2 of 3 links", "0.026"],
    "R20": ["RewardFileNotFoundError 2,794 (6.3 %)", "130 others", "6.57 %", "44,526"],
    "R15": ["3,811 of 44,526", "8.6 %", "unscored", "16.4 turns"],
    "R16": ["2,128 of 44,526", "4.8 %"],
    "R13": ["+7.8 s per step", "p = 2.4e-05", "falls back at 1 of 1 "
                                              "restart between long links", "486 s before, 299 s after", "p = 0.0046"],
    "R12": ["≥ 47.7 %", "≈ 30 % mixed", "a = 0.125", "b = 0.215", "22.5 %", "19 of 64"],
    "R37": ["Step 70", "0.3934", "SE 0.0229", "60, 10, 35, 80",
        "0.4259", "0.3832", "0.3782", "0.3756", "0.3662", "0.3359"],
    "R29": ["81 step rows, 80 distinct", "step 9", "687.8 s", "0.2812", "0.3418", "3,374.2 s", "512 samples"],
    "R22": ["step 4 took 396.8 s", "17 × the mean", "927.3 s", "102.1 s"],
    "R25": ["38, 41", "+619 s", "+1,204 s"],
    "R10": ["2.52", "largest 8", "92.1 %", "no importance-correction metric (tis/*"],
    "R33": ["100.0 % of steps", "6,220", "7,428", "5,945", "8,000", "longer"],
    "R7": ["0.0640", "z 7.8", "one step only"],
    "R6": ["0.112–0.155", "CV 7.3 %"],
    "R34": ["39,472", "88.6 %", "41,472", "95.2 %"],
    "R38": ["3,054", "6.9 %", "3,566", "8.0 %"],
    "R32": ["policy/policy_kl", "tis/*"],
    "R31": ["policy/final_loss", "71 of 81"],
    "R18": ["1.07 %", "476"],
    "R11": ["0 of 5,120"],
    "R8": ["KL is not logged", "by construction"],
    "R9": ["one update per batch clips nothing"],
    "R23": ["12.4 → 17.9 GiB"],
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in MUST_CONTAIN.items() for text in texts])
def test_a_finding_tells_its_numbers(rule: str, text: str):
    assert text in everything_in(findings()[rule])


def test_what_can_not_be_measured_is_named():
    missing = {
        rule: " ".join(finding.missing) for rule, finding in findings().items() if finding.status == "not_measurable"
    }

    assert {
        "engine lines": "statistics lines" in missing["R2"] and "statistics lines" in missing["R4"],
        "clocks": "end times" in missing["R17"] and "times of the metric blocks" in missing["R36"],
        "ends": "job_567548, job_567550, job_567551 ended" in missing["R30"],
        "ratios": "log_ratio_abs_mean is 0" in missing["R8"],
    } == dict.fromkeys(["engine lines", "clocks", "ends", "ratios"], True)


def test_the_verdict_names_the_findings_of_high_severity():
    line = verdict(tuple(findings().values()), context())

    assert line.status == "needs attention"
    assert [reason.split()[0] for reason in line.reasons] == ["R1", "R19", "R26"]


def test_every_finding_can_be_checked():
    for finding in findings().values():
        assert finding.summary, finding.id
        assert finding.threshold.text, finding.id
        assert finding.threshold.source, finding.id
        assert finding.action, finding.id
        assert finding.overturned_by, finding.id
        assert finding.status != "not_measurable" or finding.missing, finding.id
        assert finding.status != "fired" or (finding.evidence and finding.n > 0 and finding.population), finding.id


def test_evidence_of_steps_points_into_a_log():
    pointed = [item for item in findings()["R25"].evidence if item.step_range is not None]

    assert [(item.job, item.file, item.line, item.step_range, item.key) for item in pointed] == [
        ("job_567550", "job_567550.out", 30000, (38, 38), "timing/step"),
        ("job_567550", "job_567550.out", 33000, (41, 41), "timing/step"),
    ]


def test_thresholds_are_printed_with_their_numbers():
    shown = {rule.id: rule.shown_threshold(context().thresholds) for rule in rules()}

    assert "≥ 20 % medium, ≥ 40 % high" in shown["R1"].text
    assert shown["R1"].source == "proposal"
    assert all("{" not in threshold.text for threshold in shown.values())
