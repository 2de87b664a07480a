"""The full reference run, written and read once for all tests that look at it (250 MB, a minute or two)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rl_pipeline import pipeline
from rl_pipeline.discovery import discover

REFERENCE = Path(__file__).resolve().parents[1] / "reference"


@pytest.fixture(scope="session")
def reference_frames(tmp_path_factory: pytest.TempPathFactory) -> pipeline.ExperimentFrames:
    """All tables of the reference run, from its logs and trial files."""
    folder = tmp_path_factory.mktemp("reference_run")
    script = [sys.executable, str(REFERENCE / "make_reference_run.py"), str(folder), "--trials", "all"]
    subprocess.run(script, check=True, capture_output=True)
    (experiment,) = discover([folder]).experiments
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    return pipeline.load_frames(experiment.experiment, jobs, trials)
