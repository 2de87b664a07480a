"""The bundle on disk: complete, the same every time, and never half."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.summary import analyse_experiment
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report.bundle import Bundle, write_bundle
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row


def small_run(steps: int = 4, **metrics: float) -> ExperimentFrames:
    rows = [
        row
        for step in range(1, steps + 1)
        for row in block_rows("job_1", step, step, {"reward/avg_raw_reward": step / 10, "timing/step": 9.0, **metrics})
    ]
    return experiment_frames("small", jobs=[job_row("job_1")], step_metrics=rows)


def write(frames: ExperimentFrames, folder: Path) -> Bundle:
    return write_bundle(analyse_experiment(frames), frames, folder)


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_bundle_has_pages_charts_with_their_numbers_and_tables(tmp_path: Path):
    bundle = write(small_run(), tmp_path / "out")

    assert {"metrics_report.md", "report.json", "charts/reward.png", "charts/reward.csv"} <= set(bundle.files)
    assert {"tables/step_metrics.parquet", "tables/metrics_table.csv"} <= set(bundle.files)
    assert set(bundle.files) == {name for name in digests(bundle.folder) if not name.startswith(".")}


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path):
    write(small_run(), tmp_path / "a")
    write(small_run(), tmp_path / "b")

    assert digests(tmp_path / "a") == digests(tmp_path / "b")


def test_a_chart_that_no_longer_exists_goes_and_a_foreign_file_stays(tmp_path: Path):
    write(small_run(), tmp_path)
    (tmp_path / "charts" / "mine.png").write_bytes(b"mine")

    write(experiment_frames("small", jobs=[job_row("job_1")]), tmp_path)

    assert [path.name for path in (tmp_path / "charts").iterdir()] == ["mine.png"]


def test_an_output_that_takes_no_files_is_refused_before_any_work(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    frames = small_run()
    result = analyse_experiment(frames)

    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_bundle(result, frames, tmp_path / "file" / "out")


def test_a_failure_while_writing_leaves_the_earlier_bundle(tmp_path: Path):
    write(small_run(), tmp_path)
    (tmp_path / "report.json").unlink()
    (tmp_path / "report.json").mkdir()
    before = digests(tmp_path)

    with pytest.raises(ConfigurationError):
        write(small_run(5), tmp_path)

    assert digests(tmp_path) == before
