"""The string through the rooms: order of jobs, checkpoints beside logs, logs that go away."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline import pipeline
from rl_pipeline.discovery import discover
from rl_pipeline.errors import ConfigurationError, DataError
from rl_pipeline.sample import sample_path


def test_jobs_stand_in_chain_order_whatever_the_order_given():
    logs = discover([sample_path()]).only().jobs
    parsed = [pipeline.parse_job(log) for log in reversed(logs)]

    ordered = pipeline.chain_order([job.tables for job in parsed])

    names = [tables["jobs"].column("job")[0].as_py() for tables in ordered]
    assert names == ["job_410231", "job_410236", "job_410244"]


def test_a_log_that_went_away_is_told_with_what_to_do(tmp_path: Path):
    log = tmp_path / "run_1.out"
    log.write_text("2026-01-09 11:22:33.444 | INFO     | a.b:c:1 - Training done!\n", encoding="utf-8")
    found = discover([log]).only().jobs[0]
    log.unlink()

    with pytest.raises(DataError, match="cannot be read") as raised:
        pipeline.parse_job(found)

    assert str(log) in str(raised.value)


def test_checkpoints_beside_the_logs_are_found_and_a_cut_one_does_not_count(tmp_path: Path):
    checkpoints = tmp_path / "exp" / "run" / "checkpoints"
    for step in (5, 10, 15):
        (checkpoints / f"global_step_{step}" / "policy").mkdir(parents=True)
    (checkpoints / "latest_ckpt_global_step.txt").write_text("10", encoding="utf-8")

    found = pipeline.checkpoint_steps([tmp_path / "exp" / "logs" / "exp_1.out"])

    assert found == frozenset({5, 10})
    assert pipeline.checkpoint_steps([tmp_path / "other" / "logs" / "other_1.out"]) is None


def test_a_thresholds_file_that_is_no_text_is_told(tmp_path: Path):
    file = tmp_path / "thresholds.yaml"
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigurationError, match="thresholds file"):
        pipeline.load_thresholds(file)
