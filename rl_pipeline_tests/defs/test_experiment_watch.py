"""An experiment is due when its finished jobs are made and its report is of other content; once, not several times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rl_pipeline.defs.experiment_watch import Due, due_experiments, steady
from rl_pipeline.defs.job_index import JobIndex
from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.defs.memory import Standing
from rl_pipeline.defs.versions import experiment_version
from rl_pipeline.discovery import ExperimentOnDisk, JobLog

A = LogVersion(fingerprint="aa", size_bytes=1, mtime_ns=1, is_final=True)
B = LogVersion(fingerprint="bb", size_bytes=2, mtime_ns=2, is_final=True)


def log(number: int) -> JobLog:
    return JobLog(
        experiment="demo", experiment_key="demo", job=f"job_{number}", job_key=f"demo_{number}",
        path=Path(f"/logs/demo_{number}.out"), size_bytes=1, mtime_ns=1,
    )  # fmt: skip


DEMO = ExperimentOnDisk(experiment="demo", key="demo", jobs=(log(1), log(2)))


@pytest.fixture
def index(tmp_path: Path) -> JobIndex:
    index = JobIndex(str(tmp_path))
    index.register([DEMO])
    return index


def due(index: JobIndex, complete: dict[str, LogVersion], *, recorded: str = "", waiting: tuple[str, ...] = (),
        on_disk: ExperimentOnDisk = DEMO) -> list[Due]:  # fmt: skip
    return due_experiments(
        [on_disk],
        standing=Standing(waiting={"demo": waiting} if waiting else {}),
        complete=complete,
        recorded={"demo": recorded},
        index=index,
    )


def test_an_experiment_with_all_jobs_made_is_due(index: JobIndex):
    assert due(index, {"demo_1": A, "demo_2": B}) == [Due("demo", experiment_version({"demo_1": A, "demo_2": B}))]


def test_one_that_has_its_report_is_not(index: JobIndex):
    complete = {"demo_1": A, "demo_2": B}

    assert due(index, complete, recorded=experiment_version(complete)) == []


def test_one_that_still_waits_for_a_job_is_not(index: JobIndex):
    assert due(index, {"demo_1": A}, waiting=("demo_2",)) == []


def test_a_job_that_runs_does_not_hold_back_the_others_and_its_growth_asks_for_nothing(index: JobIndex):
    running = replace(B, is_final=False)
    first = due(index, {"demo_1": A})

    later = due(index, {"demo_1": A, "demo_2": running}, recorded=first[0].version)

    assert first == [Due("demo", experiment_version({"demo_1": A}))]
    assert later == []


def test_an_experiment_without_a_finished_job_is_not_due(index: JobIndex):
    assert due(index, {"demo_1": replace(A, is_final=False)}) == []


def test_a_job_whose_log_is_gone_still_counts(index: JobIndex):
    complete = {"demo_1": A, "demo_2": B}
    without_second = replace(DEMO, jobs=(log(1),))

    assert due(index, complete, recorded=experiment_version(complete), on_disk=without_second) == []


def test_the_version_does_not_depend_on_the_order_or_the_time_of_writing():
    touched = replace(A, mtime_ns=99)

    assert experiment_version({"demo_1": A, "demo_2": B}) == experiment_version({"demo_2": B, "demo_1": touched})


def test_jobs_that_finish_one_after_another_within_two_looks_give_one_report():
    first, second = Due("demo", "with one job"), Due("demo", "with both jobs")

    assert steady([first], {}) == []
    assert steady([second], {"demo": first.version}) == []
    assert steady([second], {"demo": second.version}) == [second]
