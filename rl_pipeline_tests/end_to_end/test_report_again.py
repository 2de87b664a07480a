"""The report command once more into the same folder: nothing is done without a reason, and nothing is missed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rl_pipeline.commands.report_state import program_state
from rl_pipeline.sample import sample_path
from rl_pipeline_tests.end_to_end.test_report_command import DONE, digests, run

CURRENT = "nothing changed since"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sample")
    shutil.copytree(sample_path(), target, dirs_exist_ok=True)
    return next(path for path in target.iterdir() if (path / "logs").is_dir())


def test_a_report_is_made_again_only_when_something_changed(sample: Path, tmp_path: Path):
    out, program = tmp_path / "out", program_state()
    assert CURRENT not in run("report", sample, out, home=tmp_path).stderr

    again = run("report", sample, out, home=tmp_path)
    assert (again.returncode, again.stdout) == (DONE, "")
    assert CURRENT in again.stderr

    (out / "report.html").unlink()
    assert CURRENT not in run("report", sample, out, home=tmp_path).stderr
    assert (out / "report.html").exists()

    last = sorted((sample / "logs").iterdir())[-1]
    with last.open("ab") as log:
        log.write(b"slurmstepd: error: *** JOB 410244 ON n1 CANCELLED AT 2026-01-12T00:00:00 DUE TO TIME LIMIT ***\n")
    shutil.rmtree(sorted(sample.rglob("result.json"))[0].parent)
    told = run("report", sample, out, home=tmp_path).stderr
    assert CURRENT not in told
    assert program_state() == program, "the program was changed while this ran, so nothing was as it was"
    assert told.count("is as it was") == 2

    run("report", sample, tmp_path / "fresh", "--force", home=tmp_path)
    assert digests(out) == digests(tmp_path / "fresh")
