"""One object with everything: whole on the published run, silent on nothing."""

from __future__ import annotations

from dataclasses import fields

from rl_pipeline.analysis.summary import ExperimentResult, analyse_experiment
from rl_pipeline_tests.helpers.frames import experiment_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


def test_the_published_run_has_every_part():
    result = reference_result()

    missing = [field.name for field in fields(ExperimentResult) if getattr(result, field.name) is None]

    assert missing == ["as_of"]
    assert [finding.id for finding in result.findings] == [f"R{number}" for number in range(1, 41)]
    assert result.verdict.status == "needs attention"
    assert result.checkpoints.step == 70  # source: the published repository's name ends in -70


def test_an_experiment_without_any_row_is_not_enough_evidence():
    result = analyse_experiment(experiment_frames("nothing"))

    assert result.verdict.status == "not enough evidence"
    assert not [finding.id for finding in result.findings if finding.status == "fired"]
    assert result.checkpoints.step is None
