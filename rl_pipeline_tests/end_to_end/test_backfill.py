"""An archive is read by one command, which may be killed at any moment and goes on where it was."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.services import BIN, clean_environment, service, until

pytestmark = pytest.mark.dagster
EXPERIMENTS = 3


def archive(folder: Path) -> tuple[Lab, list[str], dict[str, str]]:
    """A laboratory with an archive, and the command that fills its store, with its environment."""
    lab = Lab(folder)
    for number in range(EXPERIMENTS):
        lab.write_job(f"exp{number}", 101, end=TIME_LIMIT)
    return lab, [str(BIN / "rl-pipeline"), "backfill", str(lab.root)], {**lab.environment(), "HOME": str(folder)}


def test_a_backfill_that_was_killed_goes_on_where_it_was(tmp_path: Path):
    lab, command, environment = archive(tmp_path)

    with service(command, environment, folder=tmp_path, log=tmp_path / "first.log") as first:
        until("the first report", lambda: list(lab.settings.reports.glob("*/report.json")))
        first.kill()
    second = subprocess.run(
        command, env=clean_environment(environment), cwd=tmp_path, capture_output=True, text=True, check=False
    )

    told = re.search(r"(\d+) made, (\d+) current already, (\d+) failed", second.stdout)
    assert told is not None, second.stderr[-2000:]
    made, current, failed = map(int, told.groups())
    assert (second.returncode, failed) == (0, 0)
    assert made + current == 2 * EXPERIMENTS
    assert current >= 1
    assert all((lab.settings.reports / f"exp{number}" / "report.json").is_file() for number in range(EXPERIMENTS))


def test_an_interrupted_backfill_stops(tmp_path: Path):
    lab, command, environment = archive(tmp_path)

    with service(command, environment, folder=tmp_path, log=tmp_path / "first.log") as first:
        until("the first report", lambda: list(lab.settings.reports.glob("*/report.json")))
        first.process.send_signal(signal.SIGINT)
        status = first.process.wait(timeout=120)

    assert status not in {0, None}
    assert len(list(lab.settings.reports.glob("*/report.json"))) < EXPERIMENTS
    assert "Traceback" not in (tmp_path / "first.log").read_text()
