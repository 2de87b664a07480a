"""The real daemon on a small laboratory: whatever happens to logs, each content is read once and reported once.

The tests wait for what the instance records, never for time. `SIGKILL` goes to the daemon, its code
server and the running step at once, as a power cut would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.runs import READ_LOG, REPORT
from rl_pipeline.defs.versions import LOG_ASSET, recorded_versions
from rl_pipeline_tests.helpers.lab import NO_END, TIME_LIMIT, Lab, job_writer
from rl_pipeline_tests.helpers.ledger_of_runs import (
    counts,
    made_of_what_is_on_disk,
    repeated_contents,
    runs,
    several_looks_later,
    tick_list,
    unfinished,
)
from rl_pipeline_tests.helpers.services import daemon, until

pytestmark = [pytest.mark.dagster, pytest.mark.daemon]
STARTED, SUCCESS = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS
PATIENCE = 600.0  # a run that was killed is noticed, marked as failed and started again within two minutes


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.root.mkdir()
    return lab


@pytest.fixture
def instance(lab: Lab, record_property: Callable[[str, object], None]) -> Iterator[dg.DagsterInstance]:
    """The lab's instance; how many runs and looks there were goes into the test report (`--junitxml`)."""
    with open_instance(lab.settings) as instance:
        yield instance
        for name, count in counts(instance).items():
            record_property(name, count)


def environment(lab: Lab, **more: str) -> dict[str, str]:
    return {**lab.environment(), "HOME": str(lab.folder), **more}


def everything_made(instance: dg.DagsterInstance, lab: Lab, *, running: tuple[str, ...] = ()) -> None:
    until(
        "every job and report is made of what is on disk",
        lambda: made_of_what_is_on_disk(instance, lab, running=running),
        patience=PATIENCE,
    )


def assert_nothing_twice_and_nothing_half(instance: dg.DagsterInstance, lab: Lab) -> None:
    """One successful run per content, no partition twice, every set of tables readable, no file half-written."""
    for partitions in ("rl_jobs", "rl_experiments"):
        keys = instance.get_dynamic_partitions(partitions)
        assert len(keys) == len(set(keys))
    assert repeated_contents(instance) == {}
    store = lab.store()
    for experiment in lab.discovered().experiments:
        assert all(store.read_job(job.job_key)["jobs"].num_rows == 1 for job in experiment.jobs)
        assert store.read_experiment(experiment.key, "trials") is not None
        assert (lab.settings.reports / experiment.key / "report.json").is_file()
    bundles = [path.name for path in lab.settings.reports.iterdir() if path.is_dir()]
    assert sorted(bundles) == sorted(experiment.key for experiment in lab.discovered().experiments)


def test_logs_that_end_in_every_way_are_made_once_and_reported_once(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101, steps=(1, 2), end=TIME_LIMIT)
    lab.write_job("demo", 102, steps=(2, 3), end=NO_END, hours=2.0)  # finished by its successor
    lab.write_job("demo", 103, steps=(3, 4), hours=4.0)
    lab.write_job("silent", 201, end=NO_END)  # finished by silence
    lab.write_trials("demo", 4)

    with daemon(environment(lab, RL_PIPELINE_QUIET_MINUTES="0.5"), lab.folder):
        everything_made(instance, lab)
        until("three more looks", several_looks_later(instance, "finished_experiments"))

    assert_nothing_twice_and_nothing_half(instance, lab)
    by = {
        run.tags["dagster/partition"]: run.tags["rl_pipeline/finished_by"] for run in runs(instance, READ_LOG, SUCCESS)
    }
    assert by == {
        "demo_101": "scheduler_tail", "demo_102": "successor", "demo_103": "end_line", "silent_201": "quiet",
    }  # fmt: skip
    assert len(runs(instance, REPORT, SUCCESS, partition="demo")) == 1


def test_a_log_that_grows_and_one_that_is_written_anew_are_followed(lab: Lab, instance: dg.DagsterInstance):
    growing = lab.write_job("demo", 101, steps=(1, 2), end=NO_END)
    lab.write_job("other", 201, steps=(1, 2, 3))

    with daemon(environment(lab, RL_PIPELINE_RUNNING_MINUTES="0.1"), lab.folder):
        until(
            "tables of the running job",
            lambda: recorded_versions(instance, LOG_ASSET).get("demo_101", "").endswith("open"),
        )
        until("the other experiment", lambda: runs(instance, REPORT, SUCCESS, partition="other"))
        growing.write_text(job_writer(101, steps=(1, 2, 3, 4), end=TIME_LIMIT).text())
        lab.write_job("other", 201, steps=(1,))
        everything_made(instance, lab)
        until("three more looks", several_looks_later(instance, "finished_experiments"))

    assert_nothing_twice_and_nothing_half(instance, lab)
    assert lab.store().read_job("demo_101")["jobs"].to_pylist()[0]["last_step"] == 4
    assert lab.store().read_job("other_201")["jobs"].to_pylist()[0]["last_step"] == 1
    assert len(runs(instance, REPORT, SUCCESS, partition="other")) == 2


def test_a_daemon_killed_in_the_middle_of_a_look_asks_for_each_job_once(lab: Lab, instance: dg.DagsterInstance):
    for number in range(6):
        lab.write_job("demo", 101 + number, end=TIME_LIMIT, hours=2.0 * number)

    with daemon(environment(lab), lab.folder) as first:
        until("some runs are asked for and the look is not over", lambda: _in_the_middle(instance))
        first.kill()
    asked_before = len(instance.get_runs())
    with daemon(environment(lab), lab.folder):
        everything_made(instance, lab)
        until("three more looks", several_looks_later(instance, "finished_jobs"))

    assert asked_before > 0
    assert_nothing_twice_and_nothing_half(instance, lab)
    assert sorted(run.tags["dagster/partition"] for run in runs(instance, READ_LOG, SUCCESS)) == [
        f"demo_{101 + number}" for number in range(6)
    ]


def _in_the_middle(instance: dg.DagsterInstance) -> bool:
    return bool(tick_list(instance, "finished_jobs", "STARTED")) and len(instance.get_runs()) >= 1


@pytest.mark.parametrize("job_name", [READ_LOG, REPORT])
def test_a_run_killed_in_the_middle_is_started_again_and_leaves_one_set(
    lab: Lab, instance: dg.DagsterInstance, job_name: str
):
    lab.write_job("demo", 101, end=TIME_LIMIT)
    lab.write_trials("demo", 4)

    with daemon(environment(lab), lab.folder) as first:
        until("the run has started", lambda: runs(instance, job_name, STARTED), patience=PATIENCE)
        first.kill()
    cut = runs(instance, job_name, STARTED)
    with daemon(environment(lab), lab.folder):
        everything_made(instance, lab)
        until("three more looks", several_looks_later(instance, "finished_experiments"))

    assert len(cut) == 1
    assert_nothing_twice_and_nothing_half(instance, lab)
    assert {run.status.value for run in runs(instance, job_name)} == {"FAILURE", "SUCCESS"}
    assert not unfinished(instance)
    assert counts(instance)[f"{job_name} SUCCESS"] == 1
