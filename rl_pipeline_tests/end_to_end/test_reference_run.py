"""The full reference run, from bytes to the report: every published number is right, and every rule answers.

Engine lines, clocks and ends of jobs are in the logs only, so some rules answer here and not on the published tables.
The run is written and read once (250 MB, a minute or two), and only when asked for (`pytest -m reference`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rl_pipeline import pipeline
from rl_pipeline.analysis.findings import Finding, build_context, evaluate, verdict
from rl_pipeline.discovery import discover

pytestmark = pytest.mark.reference
REFERENCE = Path(__file__).resolve().parents[1] / "reference"

FIRED = {
    "R1", "R2", "R10", "R12", "R13", "R14", "R15", "R19", "R20", "R22", "R25", "R26", "R28", "R29", "R31", "R32", "R33",
    "R34", "R37", "R38",
}  # fmt: skip
NOT_MEASURABLE = {"R8", "R9", "R21", "R40"}


@pytest.fixture(scope="module")
def reference_frames(tmp_path_factory: pytest.TempPathFactory) -> pipeline.ExperimentFrames:
    """All tables of the reference run, from its logs and trial files."""
    folder = tmp_path_factory.mktemp("reference_run")
    script = [sys.executable, str(REFERENCE / "make_reference_run.py"), str(folder), "--trials", "all"]
    subprocess.run(script, check=True, capture_output=True)
    (experiment,) = discover([folder]).experiments
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    return pipeline.load_frames(experiment.experiment, jobs, trials)


@pytest.fixture(scope="module")
def findings(reference_frames: pipeline.ExperimentFrames) -> tuple[dict[str, Finding], tuple[str, ...]]:
    context = build_context(reference_frames)
    found = evaluate(context, strict=True)
    line = verdict(found, context)
    return {finding.id: finding for finding in found}, (line.status, *line.reasons)


def everything_in(finding: Finding) -> str:
    return " | ".join([finding.summary, *(item.text for item in finding.evidence), *finding.notes, *finding.missing])


def test_every_published_number_comes_out_of_the_logs(reference_frames: pipeline.ExperimentFrames, tmp_path: Path):
    pipeline.render_report(pipeline.analyse_experiment(reference_frames), reference_frames, tmp_path)
    check = [sys.executable, str(REFERENCE / "check_report.py"), str(tmp_path / "metrics_report.md")]
    checked = subprocess.run(
        [*check, str(REFERENCE / "expected_report.json")], check=False, capture_output=True, text=True
    )

    assert checked.stdout == "matched 1219 of 1219 numbers\n"
    assert checked.returncode == 0


def test_every_rule_has_its_status(findings: tuple[dict[str, Finding], tuple[str, ...]]):
    found = findings[0]

    assert {rule for rule, finding in found.items() if finding.status == "fired"} == FIRED
    assert {rule for rule, finding in found.items() if finding.status == "not_measurable"} == NOT_MEASURABLE


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        ("R1", ["58.2 %", "2.39 ×", "r = 0.996"]),
        ("R2", ["queue empty in 99.7 %", "own 99th percentile", "largest 24", "Cause not measured", "under-fed"]),
        ("R4", ["preemptions are not printed"]),
        ("R12", ["≥ 47.7 %", "≈ 30 % mixed", "not the groups that were trained"]),
        ("R19", ["16.3 %", "0.367", "0.437", "0.363–0.532", "25–134"]),
        ("R24", ["No stall"]),
        ("R30", ["job_567548: time_limit", "job_567551: completed"]),
        ("R33", ["7,428", "8,000"]),
        ("R34", ["40,560", "91.3 %", "39,472", "88.6 %"]),
        ("R36", ["No gap"]),
        ("R40", ["70 % of the engine lines were folded away"]),
    ],
)
def test_a_finding_tells_its_numbers(findings: tuple[dict[str, Finding], tuple[str, ...]], rule: str, texts: list[str]):
    text = everything_in(findings[0][rule])

    assert [part for part in texts if part not in text] == []


def test_the_verdict_names_what_needs_attention(findings: tuple[dict[str, Finding], tuple[str, ...]]):
    status, *reasons = findings[1]

    assert status == "needs attention"
    assert [reason.split()[0] for reason in reasons] == ["R1", "R2", "R19", "R26"]
