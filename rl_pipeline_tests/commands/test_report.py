"""What the command refuses before it looks at anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.commands.report import ReportRequest, run
from rl_pipeline.errors import ConfigurationError


@pytest.mark.parametrize("out", ["run", "run/../run", "link", "trials"])
def test_no_report_is_written_into_a_folder_of_inputs(out: str, tmp_path: Path):
    for name in ("run", "trials"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "run")
    request = ReportRequest(logs=(tmp_path / "run",), out=tmp_path / out, trace_jobs=(tmp_path / "trials",))

    with pytest.raises(ConfigurationError, match="among its inputs"):
        run(request)

    assert not any((tmp_path / "run").iterdir())
