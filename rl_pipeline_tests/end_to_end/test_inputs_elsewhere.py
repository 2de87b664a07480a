"""The same experiment from a disk, from a bucket and from an SSH server: the same tables, the same report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner

from rl_pipeline.addresses import as_path
from rl_pipeline.cli import main
from rl_pipeline.discovery import discover
from rl_pipeline.pipeline import parse_job, read_experiment_trials
from rl_pipeline.tables.store import TableStore
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.object_store import KEY, object_store
from rl_pipeline_tests.helpers.ssh_server import ssh_server


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """An experiment of two jobs with trials and a checkpoint."""
    monkeypatch.setenv("RL_PIPELINE_HOME", str(tmp_path / "home"))
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, end=TIME_LIMIT)
    lab.write_job("demo", 102, steps=(3, 4), hours=5)
    lab.write_trials("demo", 12)
    run = lab.root / "demo" / "run1"
    (run / "trace_jobs" / "task-9__abcdefg").mkdir()
    (run / "trace_jobs" / "task-9__abcdefg" / "trial.log").write_text("killed")
    (run / "checkpoints" / "global_step_2").mkdir(parents=True)
    (run / "checkpoints" / "global_step_2" / "model.pt").write_text("x")
    (run / "checkpoints" / "latest_ckpt_global_step.txt").write_text("2")
    return lab


@pytest.fixture
def bucket(lab: Lab) -> Iterator[Mapping[str, str]]:
    with object_store() as variables:
        fsspec.filesystem("s3").put(str(lab.root), "lab/experiments", recursive=True)
        yield variables


def called(*arguments: str) -> str:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == 0, done.output
    assert KEY not in done.output
    return done.output


def files_of(report: Path) -> dict[str, bytes]:
    found = (path for path in report.rglob("*") if path.is_file())
    return {
        path.relative_to(report).as_posix(): path.read_bytes()
        for path in found
        if ".rl_pipeline_state" not in path.parts
    }


def test_a_report_from_a_bucket_is_the_one_from_the_disk(lab: Lab, bucket: Mapping[str, str], tmp_path: Path):
    called("report", str(lab.root / "demo"), str(tmp_path / "here"))
    called("report", "s3://lab/experiments/demo", str(tmp_path / "there"))

    assert files_of(tmp_path / "there") == files_of(tmp_path / "here")
    assert "nothing changed" in called("report", "s3://lab/experiments/demo", str(tmp_path / "there"))


def test_tables_from_an_ssh_server_are_those_from_the_disk(lab: Lab, tmp_path: Path):
    folder = tmp_path / "ssh"
    folder.mkdir()
    here = discover([lab.root]).only()
    with ssh_server(folder) as server:
        there = discover([as_path(server.url(lab.root))]).only()
        ledger = str(tmp_path / "ledger")
        parsed = [parse_job(job) for job in there.jobs]
        trials = read_experiment_trials(there.trial_roots, parsed, ledger=ledger)
        again = read_experiment_trials(there.trial_roots, parsed, ledger=ledger)

    expected = [parse_job(job) for job in here.jobs]
    on_disk = read_experiment_trials(here.trial_roots, expected)
    assert [job.tables for job in parsed] == [job.tables for job in expected]
    assert trials.trials.equals(on_disk.trials)
    assert trials.skipped.equals(on_disk.skipped)
    assert again.trials.equals(on_disk.trials)
    assert (trials.trials.num_rows, trials.skipped.num_rows) == (12, 1)


def test_a_new_trial_in_a_bucket_joins_those_that_the_ledger_knows(lab: Lab, bucket: Mapping[str, str], tmp_path: Path):
    root, ledger = as_path("s3://lab/experiments/demo/run1/trace_jobs"), str(tmp_path / "ledger")
    first = read_experiment_trials([root], [], ledger=ledger)
    files = fsspec.filesystem("s3")
    source = "lab/experiments/demo/run1/trace_jobs/task-0__0000/result.json"
    new = files.cat_file(source).replace(b"task-0__0000", b"task-0__zzzz")
    files.pipe_file("lab/experiments/demo/run1/trace_jobs/task-0__zzzz/result.json", new)

    second = read_experiment_trials([root], [], ledger=ledger)

    assert (first.trials.num_rows, second.trials.num_rows) == (12, 13)
    assert "task-0__zzzz" in second.trials["trial"].to_pylist()


@pytest.mark.dagster
def test_dagster_reads_from_a_bucket_into_a_bucket(
    lab: Lab, bucket: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RL_PIPELINE_STORE", "s3://lab/store")

    first = called("backfill", "s3://lab/experiments")
    second = called("backfill", "s3://lab/experiments")

    assert "3 made, 0 current already, 0 failed" in first
    assert "0 made, 3 current already, 0 failed" in second
    assert TableStore("s3://lab/store").list_jobs() == ["demo_101", "demo_102"]
    assert (tmp_path / "home" / "reports" / "demo" / "report.html").is_file()
    stored = b"".join(fsspec.filesystem("s3").cat(fsspec.filesystem("s3").find("lab/store")).values())
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert KEY.encode() not in stored + kept


def test_a_report_cannot_be_written_to_a_bucket(lab: Lab):
    done = CliRunner().invoke(main, ["report", str(lab.root / "demo"), "s3://lab/reports"])

    assert done.exit_code == 2
    assert "a report is written to a folder of this machine" in done.output
