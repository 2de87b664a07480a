"""The full reference run, from bytes to the report: every published number is right.

Writes 250 MB into a temporary folder and takes a minute or two, so it runs only when asked for
(`pytest -m reference`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rl_pipeline import pipeline
from rl_pipeline.discovery import discover

pytestmark = pytest.mark.reference
REFERENCE = Path(__file__).resolve().parents[1] / "reference"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference_run")
    script = [sys.executable, str(REFERENCE / "make_reference_run.py"), str(folder), "--trials", "all"]
    subprocess.run(script, check=True, capture_output=True)
    return folder


def test_every_published_number_comes_out_of_the_logs(run_folder: Path, tmp_path: Path):
    (experiment,) = discover([run_folder]).experiments
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    pipeline.render_report(pipeline.analyse_experiment(frames), frames, tmp_path)
    check = [sys.executable, str(REFERENCE / "check_report.py"), str(tmp_path / "metrics_report.md")]
    checked = subprocess.run(
        [*check, str(REFERENCE / "expected_report.json")], check=False, capture_output=True, text=True
    )

    assert checked.stdout == "matched 1219 of 1219 numbers\n"
    assert checked.returncode == 0
