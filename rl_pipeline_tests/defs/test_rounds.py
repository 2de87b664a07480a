"""Rounds of `finished_jobs`: each content of a log is asked for once, whatever happens to files, memory and clocks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.failures import SURROUNDINGS_TAG
from rl_pipeline.defs.memory import Memory
from rl_pipeline.defs.rounds import Asked, Watched, finished_jobs_round
from rl_pipeline.defs.runs import READ_LOG
from rl_pipeline.defs.scheduler import ask_nobody
from rl_pipeline.discovery import SacctState
from rl_pipeline_tests.helpers.lab import NO_END, TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.recorded import record_made, record_run

LONG_AFTER = 10_000_000_000.0  # seconds since 1970: later than any file
QUIET = 3600.0


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def watched(lab: Lab, **changes: object) -> Watched:
    usual = Watched(
        roots=(lab.root,),
        patterns=(),
        quiet_period_s=QUIET,
        index=lab.resources()["store"].index(),
        memory=Memory(lab.settings.home / "sensors"),
        most_runs=50,
        sacct=ask_nobody,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def asked_keys(asked: Asked) -> list[str]:
    return [want.log.job_key for _, want in asked.wanted]


def make_all(lab: Lab, instance: dg.DagsterInstance) -> None:
    for experiment in lab.discovered().experiments:
        for job in experiment.jobs:
            record_made(instance, job)


def test_a_finished_job_is_asked_for_with_its_partitions(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, end=TIME_LIMIT)

    asked = finished_jobs_round(watched(lab), instance)

    [(run_key, want)] = asked.wanted
    facts = lab.log_path("demo", 101).stat()
    assert run_key == f"demo_101:{facts.st_size}:{facts.st_mtime_ns}:final:p1"
    assert (want.state.state, want.state.by) == ("time_limit", "scheduler_tail")
    assert (asked.job_keys, asked.experiment_keys) == (("demo_101",), ("demo",))
    assert lab.resources()["store"].index().job("demo_101").path == str(lab.log_path("demo", 101))


def test_a_job_that_runs_is_known_and_not_asked_for(lab: Lab, instance: dg.DagsterInstance):
    path = lab.write_job("demo", 101, end=NO_END)

    asked = finished_jobs_round(watched(lab), instance)

    assert asked.wanted == ()
    assert asked.job_keys == ("demo_101",)
    assert asked.standing.running == {"demo_101": path.stat().st_mtime_ns}


def test_what_was_made_is_not_asked_for_again_also_when_the_memory_is_lost(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    finished_jobs_round(watched(lab), instance)
    make_all(lab, instance)

    again = finished_jobs_round(watched(lab), instance)
    shutil.rmtree(lab.settings.home / "sensors")
    after_loss = finished_jobs_round(watched(lab), instance)

    assert again.wanted == after_loss.wanted == ()


def test_a_touched_log_is_looked_into_once_and_not_asked_for(lab: Lab, instance: dg.DagsterInstance):
    path = lab.write_job("demo", 101)
    make_all(lab, instance)
    os.utime(path, ns=(1, 2_000_000_000))

    asked = finished_jobs_round(watched(lab), instance)
    again = finished_jobs_round(watched(lab), instance)

    assert asked.wanted == again.wanted == ()
    assert asked.standing.unchanged == {"demo_101": (path.stat().st_size, 2_000_000_000)}
    assert again.standing.unchanged == asked.standing.unchanged


def test_a_log_of_the_same_size_with_other_content_is_asked_for(lab: Lab, instance: dg.DagsterInstance):
    path = lab.write_job("demo", 101)
    make_all(lab, instance)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"0.1100", b"0.9900"))
    os.utime(path, ns=(1, 2_000_000_000))

    asked = finished_jobs_round(watched(lab), instance)

    assert len(path.read_bytes()) == len(content)
    assert asked_keys(asked) == ["demo_101"]


def test_a_log_that_grows_after_it_was_finished_is_asked_for_when_it_has_ended_again(
    lab: Lab, instance: dg.DagsterInstance
):
    path = lab.write_job("demo", 101, end=TIME_LIMIT)
    finished_jobs_round(watched(lab), instance)
    make_all(lab, instance)
    with path.open("a") as log:
        log.write("2026-01-09 15:00:00.000 | INFO     | a:b:1 - requeued, going on\n" * 400)

    growing = finished_jobs_round(watched(lab), instance)
    with path.open("a") as log:
        log.write("2026-01-09 16:00:00.000 | INFO     | a:b:1 - Training done!\n")
    ended = finished_jobs_round(watched(lab), instance)

    assert growing.wanted == ()
    assert list(growing.standing.running) == ["demo_101"]
    assert asked_keys(ended) == ["demo_101"]


def test_a_log_that_was_truncated_and_written_anew_is_asked_for(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, steps=(1, 2, 3))
    finished_jobs_round(watched(lab), instance)
    make_all(lab, instance)
    lab.write_job("demo", 101, steps=(1,))

    assert asked_keys(finished_jobs_round(watched(lab), instance)) == ["demo_101"]


def test_a_deleted_job_is_asked_for_no_more_and_stays_a_member(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, steps=(1,))
    lab.write_job("demo", 102, steps=(2,))
    finished_jobs_round(watched(lab), instance)
    lab.log_path("demo", 101).unlink()

    asked = finished_jobs_round(watched(lab), instance)

    assert asked_keys(asked) == ["demo_102"]
    assert [job.job_key for job in lab.resources()["store"].index().experiment("demo").jobs] == ["demo_101", "demo_102"]


def test_a_moved_experiment_is_found_at_its_new_place_and_not_made_again(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    finished_jobs_round(watched(lab), instance)
    make_all(lab, instance)
    archive = lab.folder / "archive"
    archive.mkdir()
    shutil.move(lab.root / "demo", archive / "demo")

    asked = finished_jobs_round(watched(lab, roots=(lab.root, archive)), instance)

    assert asked.wanted == ()
    assert lab.resources()["store"].index().job("demo_101").path == str(archive / "demo" / "logs" / "demo_101.out")


def test_a_run_on_its_way_is_waited_for(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    record_run(instance, READ_LOG, dg.DagsterRunStatus.STARTED, {"dagster/partition": "demo_101"})

    asked = finished_jobs_round(watched(lab), instance)

    assert asked.wanted == ()
    assert asked.standing.waiting == {"demo": ("demo_101",)}


def test_a_run_that_failed_is_not_repeated_until_the_content_changes(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    [(run_key, _)] = finished_jobs_round(watched(lab), instance).wanted
    tags = {"dagster/partition": "demo_101", "dagster/run_key": run_key}
    record_run(instance, READ_LOG, dg.DagsterRunStatus.FAILURE, tags)

    failed = finished_jobs_round(watched(lab), instance)
    lab.write_job("demo", 101, steps=(1, 2, 3))
    changed = finished_jobs_round(watched(lab), instance)

    assert failed.wanted == ()
    assert (failed.standing.failed, failed.standing.waiting) == (("demo_101",), {})
    assert asked_keys(changed) == ["demo_101"]


def test_a_run_that_its_surroundings_made_fail_is_asked_for_again_after_a_while(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    [(run_key, _)] = finished_jobs_round(watched(lab), instance).wanted
    tags = {"dagster/partition": "demo_101", "dagster/run_key": run_key, SURROUNDINGS_TAG: "true"}
    record_run(instance, READ_LOG, dg.DagsterRunStatus.FAILURE, tags)

    at_once = finished_jobs_round(watched(lab), instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rl_pipeline.defs.run_records.AGAIN_AFTER", timedelta(0))
        later = finished_jobs_round(watched(lab), instance)

    assert (at_once.wanted, at_once.standing.waiting) == ((), {"demo": ("demo_101",)})
    assert [key for key, _ in later.wanted] == [f"{run_key}#2"]


def test_assets_that_were_wiped_are_made_again_a_few_times(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    keys = []
    for _ in range(6):
        asked = finished_jobs_round(watched(lab), instance)
        keys += [run_key.rpartition(":")[2] for run_key, _ in asked.wanted]
        for run_key, _ in asked.wanted:
            tags = {"dagster/partition": "demo_101", "dagster/run_key": run_key}
            record_run(instance, READ_LOG, dg.DagsterRunStatus.SUCCESS, tags)

    assert keys == ["p1", "p1#2", "p1#3", "p1#4", "p1#5"]


def test_silence_finishes_a_job_also_when_the_clock_of_its_files_is_ahead(lab: Lab, instance: dg.DagsterInstance):
    path = lab.write_job("demo", 101, end=NO_END)
    os.utime(path, (LONG_AFTER + 1e6, LONG_AFTER + 1e6))

    first = finished_jobs_round(watched(lab), instance, now=LONG_AFTER)
    before_the_end = finished_jobs_round(watched(lab), instance, now=LONG_AFTER + QUIET - 1)
    after = finished_jobs_round(watched(lab), instance, now=LONG_AFTER + QUIET)

    assert (first.wanted, before_the_end.wanted) == ((), ())
    assert [want.state.by for _, want in after.wanted] == ["quiet"]


def test_a_clock_that_goes_back_finishes_nothing(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, end=NO_END)
    now = lab.log_path("demo", 101).stat().st_mtime

    finished_jobs_round(watched(lab), instance, now=now + 60)
    back = finished_jobs_round(watched(lab), instance, now=now - 1_000_000)

    assert back.wanted == ()


def test_a_successor_that_started_finishes_a_silent_job(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, end=NO_END)
    lab.write_job("demo", 102, end=NO_END, hours=3.0)

    asked = finished_jobs_round(watched(lab), instance)

    assert [(want.log.job_key, want.state.by) for _, want in asked.wanted] == [("demo_101", "successor")]


def test_the_scheduler_is_asked_for_the_jobs_that_are_open(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, end=NO_END)
    questions: list[list[str]] = []

    def sacct(job_ids):
        questions.append(list(job_ids))
        return {"101": SacctState("node_failure", "NODE_FAIL")}

    asked = finished_jobs_round(watched(lab, sacct=sacct), instance)

    assert questions == [["101"]]
    assert [(want.state.state, want.state.by) for _, want in asked.wanted] == [("node_failure", "sacct")]


def test_a_round_asks_for_a_limited_number_and_the_latest_first(lab: Lab, instance: dg.DagsterInstance):
    for number in range(5):
        path = lab.write_job("demo", 101 + number, end=TIME_LIMIT)
        os.utime(path, (1_000 + number, 1_000 + number))

    asked = finished_jobs_round(watched(lab, most_runs=2), instance)

    assert asked_keys(asked) == ["demo_105", "demo_104"]
    assert len(asked.standing.waiting["demo"]) == 5


def test_a_file_that_is_no_log_and_a_second_copy_are_left_out(lab: Lab, instance: dg.DagsterInstance):
    path = lab.write_job("demo", 101)
    shutil.copy(path, lab.log_path("demo", 102))
    lab.log_path("demo", 103).write_bytes(b"\x7fELF" + bytes(range(256)) * 8)

    asked = finished_jobs_round(watched(lab), instance)
    again = finished_jobs_round(watched(lab), instance)

    assert asked_keys(asked) == asked_keys(again) == ["demo_101"]
    assert sorted(asked.standing.left_out) == sorted(again.standing.left_out) == ["demo_102", "demo_103"]
    assert asked.standing.waiting == {"demo": ("demo_101",)}


def test_a_second_copy_is_read_when_the_first_is_gone(lab: Lab, instance: dg.DagsterInstance):
    shutil.copy(lab.write_job("demo", 101), lab.log_path("demo", 102))
    finished_jobs_round(watched(lab), instance)
    lab.log_path("demo", 101).unlink()

    assert asked_keys(finished_jobs_round(watched(lab), instance)) == ["demo_102"]


def test_many_new_experiments_are_registered_over_several_looks(lab: Lab, instance: dg.DagsterInstance):
    for number in range(50):
        lab.write_job(f"exp{number:02d}", 101, end=NO_END)

    first = finished_jobs_round(watched(lab), instance)
    second = finished_jobs_round(watched(lab), instance)
    third = finished_jobs_round(watched(lab), instance)

    assert [len(asked.experiment_keys) for asked in (first, second, third)] == [40, 10, 0]
    assert len(first.standing.unregistered) == 10
    assert len(list(lab.resources()["store"].index().experiments())) == 50


def test_a_root_that_is_away_makes_nothing_look_deleted(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    finished_jobs_round(watched(lab), instance)
    make_all(lab, instance)
    hidden = lab.folder / "away"
    lab.root.rename(hidden)

    away = finished_jobs_round(watched(lab), instance)
    hidden.rename(lab.root)
    back = finished_jobs_round(watched(lab), instance)

    assert away.wanted == back.wanted == ()
