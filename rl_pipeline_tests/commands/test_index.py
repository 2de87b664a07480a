"""`rl-pipeline index` on folders that hold no report."""

from __future__ import annotations

from click.testing import CliRunner

from rl_pipeline.cli import main


def test_a_folder_that_is_not_there_is_told_and_not_made(tmp_path):
    result = CliRunner().invoke(main, ["index", str(tmp_path / "nope")])

    assert result.exit_code == 2
    assert "no such folder of reports" in result.output
    assert not (tmp_path / "nope").exists()


def test_a_folder_without_reports_is_told(tmp_path):
    result = CliRunner().invoke(main, ["index", str(tmp_path)])

    assert result.exit_code == 0
    assert f"no report lies below {tmp_path}" in result.output
