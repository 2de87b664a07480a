"""What the command refuses before it looks at anything."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import pytest

from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report import ReportRequest, chosen_experiment, run, tell_unfinished
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, job_writer


@pytest.mark.parametrize("out", ["run", "run/../run", "link", "trials"])
def test_no_report_is_written_into_a_folder_of_inputs(out: str, tmp_path: Path):
    for name in ("run", "trials"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "run")
    request = ReportRequest(logs=(tmp_path / "run",), out=tmp_path / out, trace_jobs=(tmp_path / "trials",))

    with pytest.raises(ConfigurationError, match="among its inputs"):
        run(request)

    assert not any((tmp_path / "run").iterdir())


@pytest.mark.parametrize(
    ("out", "advice"),
    [
        ("a/logs", "a/logs/report"),
        ("a/trace_jobs", "a/report"),
        ("a/trace_jobs/inner/report", "a/report"),
        ("link/x", "a/report"),
    ],
)
def test_no_report_is_written_among_inputs_that_were_found(out: str, advice: str, tmp_path: Path):
    job_writer(1, steps=range(1, 4), end=TIME_LIMIT).write(tmp_path / "a" / "logs" / "a_1.out")
    (tmp_path / "a" / "trace_jobs" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "trace_jobs")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(ConfigurationError, match="among its inputs") as refused:
        run(ReportRequest(logs=(tmp_path / "a",), out=tmp_path / out, quiet=True))

    assert refused.value.do == f"name another one, such as {tmp_path / advice}"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_log_that_was_given_twice_leaves_no_folder_to_write_to(tmp_path: Path):
    log = job_writer(1, steps=range(1, 4), end=TIME_LIMIT).write(tmp_path / "a_1.out")

    with pytest.raises(ConfigurationError, match="among its inputs") as refused:
        run(ReportRequest(logs=(log,), out=log))

    assert refused.value.do == f"name another one, such as {tmp_path / 'report'}"


def two_experiments(root: Path) -> Path:
    for name, number in (("a", 1), ("b", 2)):
        job_writer(number, steps=range(1, 4), end=TIME_LIMIT).write(root / name / "logs" / f"{name}_{number}.out")
    return root


def test_a_name_that_none_of_several_experiments_has_is_refused(tmp_path: Path):
    request = ReportRequest(logs=(two_experiments(tmp_path / "runs"),), out=tmp_path / "out", experiment="zz")

    with pytest.raises(ConfigurationError, match="No experiment is called") as refused:
        run(request)

    assert refused.value.expected == "one of: a, b"
    assert not (tmp_path / "out").exists()


def test_logs_that_are_named_one_by_one_may_be_given_any_name(tmp_path: Path):
    root = two_experiments(tmp_path / "runs")
    logs = tuple(sorted(root.rglob("*.out")))

    chosen = chosen_experiment(
        ReportRequest(logs=logs, out=tmp_path / "out", experiment="zz"),
        Settings.from_environment({}),
        Progress(quiet=True),
    )

    assert (chosen.experiment, len(chosen.jobs)) == ("zz", 2)


@pytest.mark.parametrize(
    ("end", "age_s", "told"),
    [(TIME_LIMIT, 0.0, 0), ("", 0.0, 1), ("", 90.0 * 60, 0)],
    ids=["ended", "young", "old"],
)
def test_a_log_that_is_being_written_is_told(end: str, age_s: float, told: int, tmp_path: Path):
    log = job_writer(1, steps=range(1, 4), end=end).write(tmp_path / "a" / "logs" / "a_1.out")
    os.utime(log, (time.time() - age_s,) * 2)
    settings, said = Settings.from_environment({}), io.StringIO()
    chosen = chosen_experiment(ReportRequest(logs=(tmp_path / "a",), out=tmp_path / "out"), settings, Progress())

    tell_unfinished(chosen, settings, Progress(stream=said))

    assert said.getvalue().count("a_1.out has not finished (last written") == told
    assert bool(said.getvalue()) == bool(told)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a system without such files")
def test_a_log_that_only_this_process_knows_by_its_path_is_one_for_all(tmp_path: Path):
    log = job_writer(1, steps=range(1, 4), end=TIME_LIMIT).write(tmp_path / "a_1.out")

    with log.open("rb") as opened:
        request = ReportRequest(logs=(Path(f"/dev/fd/{opened.fileno()}"),), out=tmp_path / "out")
        found = chosen_experiment(request, Settings.from_environment({}), Progress(quiet=True))

    assert [job.path for job in found.jobs] == [log]
