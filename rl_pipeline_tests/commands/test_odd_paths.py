"""Paths that a person gave and that no file can have, or that no text can hold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rl_pipeline.commands.report_state import ReportState
from rl_pipeline.sample import sample_path

LONG = "a" * 300
DONE, WRONG_USE = 0, 2
PROGRAM = "from rl_pipeline.cli import main; main()"


def run(*arguments: Path | str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RL_PIPELINE_HOME": str(home), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The shortest log of the sample, below a folder and with a name that are not UTF-8."""
    target = tmp_path / "e5\udcff" / "logs" / "e\udcfe_12.out"
    target.parent.mkdir(parents=True)
    shutil.copy(min(sample_path().rglob("*.out"), key=lambda path: path.stat().st_size), target)
    return target


def test_a_path_that_is_not_utf8_is_reported_and_kept(log: Path, tmp_path: Path):
    out = tmp_path / "out\udcfd"
    (log.parent.parent / "trace_jobs").mkdir()

    done = run("report", log.parent.parent, out, home=tmp_path)
    again = run("report", log.parent.parent, out, home=tmp_path)

    assert (done.returncode, again.returncode) == (DONE, DONE), done.stderr
    assert "nothing changed" in again.stderr
    for file in out.rglob("*"):
        if file.suffix in {".html", ".md", ".json", ".csv"}:
            file.read_bytes().decode("utf-8")
    kept = list(Path(ReportState(out).tables_url).rglob("manifest.json"))
    assert [json.loads(file.read_bytes())["provenance"]["made_from"][3] for file in kept] == [str(log)]
    assert run("report", log, out, "--force", "--experiment", "name\udcff", home=tmp_path).returncode == DONE


def test_a_path_that_is_not_utf8_is_discovered(log: Path, tmp_path: Path):
    (log.parent.parent / "trace_jobs").mkdir()

    told, document = (run("discover", log.parents[2], *more, home=tmp_path) for more in ((), ("--json",)))

    assert (told.returncode, document.returncode) == (DONE, DONE), told.stderr + document.stderr
    assert "trials:" in told.stdout
    assert json.loads(document.stdout)["experiments"][0]["jobs"][0]["path"] == str(log)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", LONG, "out"],
        ["report", f"{LONG}/b.out", "out"],
        ["report", "logs", LONG],
        ["report", "logs", f"{LONG}/out"],
        ["report", "logs", "out", "--trace-jobs", LONG],
        ["report", "logs", "out", "--thresholds", LONG],
        ["discover", LONG],
        ["index", LONG],
        ["demo", LONG],
    ],
    ids=lambda arguments: " ".join(arguments).replace(LONG, "LONG"),
)
def test_a_name_that_is_too_long_is_told(arguments: list[str], log: Path, tmp_path: Path):
    given = [arguments[0], *(str(tmp_path / part) if not part.startswith("--") else part for part in arguments[1:])]
    log.parent.rename(tmp_path / "logs")

    done = run(*given, home=tmp_path / "home")

    assert done.returncode == WRONG_USE, done.stderr
    assert "File name too long" in done.stderr
    assert "do: " in done.stderr
    assert "Traceback" not in done.stderr


def test_thresholds_may_come_from_a_pipe(log: Path, tmp_path: Path):
    reader, writer = os.pipe()
    os.write(writer, b"R1: {wait_share_high: 0.51}")
    os.close(writer)
    environment = {**os.environ, "RL_PIPELINE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, "report", "--thresholds", "/dev/stdin", str(log), str(tmp_path / "out")]

    done = subprocess.run(command, env=environment, stdin=reader, capture_output=True, check=False, text=True)

    os.close(reader)
    assert done.returncode == DONE, done.stderr
    told = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert "/dev/stdin (default" in json.dumps(told)


@pytest.mark.skipif(os.name != "posix", reason="numbers of files")
def test_a_report_needs_no_standard_streams(log: Path, tmp_path: Path):
    def close() -> None:
        for number in range(3):
            os.close(number)

    command = [sys.executable, "-c", PROGRAM, "report", str(log), str(tmp_path / "out")]
    environment = {**os.environ, "RL_PIPELINE_HOME": str(tmp_path)}

    done = subprocess.run(command, env=environment, preexec_fn=close, check=False)

    assert done.returncode == DONE
    assert (tmp_path / "out" / "report.html").is_file()
