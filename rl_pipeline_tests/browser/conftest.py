"""One browser and one bundle of the sample for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from rl_pipeline import pipeline
from rl_pipeline.discovery import discover
from rl_pipeline_tests.helpers.browser import chromium

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Path:
    """A folder of reports with the sample's bundle and the index over it."""
    folder = tmp_path_factory.mktemp("reports")
    experiment = discover([SAMPLE]).only()
    jobs = [pipeline.parse_job(log) for log in experiment.jobs]
    trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs)
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    pipeline.render_report(pipeline.analyse_experiment(frames), frames, folder / experiment.key)
    pipeline.write_index(folder)
    return folder


@pytest.fixture(scope="session")
def report(reports: Path) -> Path:
    """The sample's page."""
    return next(reports.glob("*/report.html"))
