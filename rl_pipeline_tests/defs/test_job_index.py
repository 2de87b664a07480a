"""The index says which log a partition reads, adds without forgetting, and survives damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.defs.job_index import JobIndex, RegisteredJob
from rl_pipeline.discovery import ExperimentOnDisk, JobLog
from rl_pipeline.errors import ConfigurationError


def job(number: int, folder: Path, experiment: str = "demo") -> JobLog:
    return JobLog(
        experiment=experiment,
        experiment_key=experiment,
        job=f"job_{number}",
        job_key=f"{experiment}_{number}",
        path=folder / f"{experiment}_{number}.out",
        size_bytes=10,
        mtime_ns=1,
        job_id=str(number),
    )


def on_disk(*jobs: JobLog, roots: tuple[Path, ...] = ()) -> ExperimentOnDisk:
    return ExperimentOnDisk(experiment="demo", key="demo", jobs=jobs, trial_roots=roots)


def test_a_registered_job_is_found_by_its_key(tmp_path: Path):
    index = JobIndex(str(tmp_path / "store"))

    index.register([on_disk(job(1, tmp_path))])

    assert index.job("demo_1") == RegisteredJob(
        experiment="demo", experiment_key="demo", job="job_1", job_key="demo_1", path=str(tmp_path / "demo_1.out")
    )


def test_registering_again_writes_nothing(tmp_path: Path):
    index = JobIndex(str(tmp_path / "store"))
    first = index.register([on_disk(job(1, tmp_path), job(2, tmp_path))])

    again = index.register([on_disk(job(1, tmp_path), job(2, tmp_path))])

    assert first.written_jobs == ("demo_1", "demo_2")
    assert (again.written_jobs, again.written_experiments) == ((), ())
    assert again.job_keys == ("demo_1", "demo_2")


def test_a_new_job_joins_and_a_deleted_one_stays_a_member(tmp_path: Path):
    index = JobIndex(str(tmp_path / "store"))
    index.register([on_disk(job(1, tmp_path))])

    index.register([on_disk(job(2, tmp_path))])

    assert [member.job_key for member in index.experiment("demo").jobs] == ["demo_1", "demo_2"]


def test_a_moved_log_is_read_at_its_new_place(tmp_path: Path):
    index = JobIndex(str(tmp_path / "store"))
    index.register([on_disk(job(1, tmp_path / "old"))])

    registration = index.register([on_disk(job(1, tmp_path / "new"))])

    assert registration.written_jobs == ("demo_1",)
    assert index.job("demo_1").path == str(tmp_path / "new" / "demo_1.out")
    assert index.experiment("demo").jobs[0].path == str(tmp_path / "new" / "demo_1.out")


def test_trial_folders_that_are_gone_are_forgotten_and_those_of_other_roots_kept(tmp_path: Path):
    kept, gone, new = tmp_path / "a" / "trace_jobs", tmp_path / "b" / "trace_jobs", tmp_path / "c" / "trace_jobs"
    kept.mkdir(parents=True)
    index = JobIndex(str(tmp_path / "store"))
    index.register([on_disk(job(1, tmp_path), roots=(kept, gone))])

    index.register([on_disk(job(1, tmp_path), roots=(new,))])

    assert index.experiment("demo").trial_roots == (str(new), str(kept))


def test_an_unknown_key_says_what_to_do(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="discover ROOT --register"):
        JobIndex(str(tmp_path)).job("demo_9")


def test_a_damaged_record_is_written_anew(tmp_path: Path):
    index = JobIndex(str(tmp_path / "store"))
    index.register([on_disk(job(1, tmp_path))])
    for file in (tmp_path / "store" / "index").rglob("*.json"):
        file.write_text("{half")

    index.register([on_disk(job(1, tmp_path))])

    assert index.job("demo_1").job == "job_1"


def test_all_experiments_are_listed_and_no_temporary_file_is_left(tmp_path: Path):
    index = JobIndex(str(tmp_path / "store"))

    index.register([on_disk(job(1, tmp_path))])

    assert [experiment.key for experiment in index.experiments()] == ["demo"]
    assert sorted(path.name for path in (tmp_path / "store").rglob("*") if path.is_file()) == [
        "demo.json",
        "demo_1.json",
    ]


def test_the_index_lies_wherever_the_store_does():
    index = JobIndex("memory://job-index-test/store")

    index.register([on_disk(job(1, Path("/logs")))])

    assert index.job("demo_1").path == "/logs/demo_1.out"
