"""A running job in which nothing moves is seen; one that moves, and one too young to tell, are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline import pipeline
from rl_pipeline.analysis.thresholds import default_thresholds
from rl_pipeline.defs.stalls import find_stalls
from rl_pipeline_tests.helpers.lab import NO_END, Lab

STEP_SECONDS = 360.0  # of the lab's logs


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A running job of twelve steps whose tables were made."""
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, steps=range(1, 13), end=NO_END)
    [job] = lab.discovered().experiments[0].jobs
    parsed = pipeline.parse_job(job)
    lab.store().write_job("demo_101", parsed.tables, parsed.provenance)
    return lab


def stalls(lab: Lab, silence: float, *, limit: float = 0.0, key: str = "demo_101") -> list[str]:
    found = find_stalls(lab.store(), {key: silence}, default_thresholds(), limit_seconds=limit)
    return [stall.text for stall in found]


def test_a_silence_of_many_steps_is_a_stall(lab: Lab):
    [text] = stalls(lab, 20 * STEP_SECONDS)

    assert text.startswith("job_101: 7,200 s of silence after step 12")


def test_a_silence_of_one_step_is_none(lab: Lab):
    assert stalls(lab, STEP_SECONDS) == []


def test_a_job_without_tables_is_told_when_its_log_stands_still_for_the_configured_time(lab: Lab):
    assert stalls(lab, 3000.0, limit=2700.0, key="demo_102") == ["nothing was written to the log for 3000 s"]
    assert stalls(lab, 2000.0, limit=2700.0, key="demo_102") == []
    assert stalls(lab, 1e6, limit=0.0, key="demo_102") == []
