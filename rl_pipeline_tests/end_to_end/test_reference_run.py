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
from rl_pipeline_tests.end_to_end.conftest import REFERENCE

pytestmark = pytest.mark.reference


def test_every_published_number_comes_out_of_the_logs(reference_frames: pipeline.ExperimentFrames, tmp_path: Path):
    pipeline.render_report(pipeline.analyse_experiment(reference_frames), reference_frames, tmp_path)
    check = [sys.executable, str(REFERENCE / "check_report.py"), str(tmp_path / "metrics_report.md")]
    checked = subprocess.run(
        [*check, str(REFERENCE / "expected_report.json")], check=False, capture_output=True, text=True
    )

    assert checked.stdout == "matched 1219 of 1219 numbers\n"
    assert checked.returncode == 0
