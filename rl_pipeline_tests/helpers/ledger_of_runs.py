"""What an instance says happened: runs, ticks, and whether every job and experiment is as it should be."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence

import dagster as dg
from dagster._core.scheduler.instigation import InstigatorTick

from rl_pipeline.defs.runs import READ_LOG, REPORT
from rl_pipeline.defs.versions import (
    REPORT_ASSET,
    complete_jobs,
    current_experiment_version,
    index_version,
    recorded_index,
    recorded_versions,
)
from rl_pipeline.discovery import ExperimentOnDisk
from rl_pipeline_tests.helpers.lab import Lab

SUCCESS = dg.DagsterRunStatus.SUCCESS


def runs(
    instance: dg.DagsterInstance, job_name: str, *statuses: dg.DagsterRunStatus, partition: str | None = None
) -> Sequence[dg.DagsterRun]:
    """Runs of a Dagster job with one of the statuses (all when none is given), latest first."""
    tags = {"dagster/partition": partition} if partition else {}
    return instance.get_runs(dg.RunsFilter(job_name=job_name, statuses=list(statuses), tags=tags))


def made_of_what_is_on_disk(instance: dg.DagsterInstance, lab: Lab, *, running: Sequence[str] = ()) -> bool:
    """Whether each job is made of its log, each report of its jobs, the index of reports, and all is quiet.

    Jobs that are named as running, or as failed, are left out, and so are experiments that have no other.
    """
    complete = complete_jobs(instance)
    reports = recorded_versions(instance, REPORT_ASSET)
    for experiment in lab.discovered().experiments:
        if all(job.job_key in running for job in experiment.jobs):
            continue
        for job in experiment.jobs:
            version = complete.get(job.job_key)
            if job.job_key in running:
                continue
            if version is None or not version.is_final or not version.same_file(job.size_bytes, job.mtime_ns):
                return False
        wanted = current_experiment_version(instance, [job.job_key for job in experiment.jobs])
        if reports.get(experiment.key) != wanted:
            return False
    return recorded_index(instance) == index_version(reports) and not unfinished(instance)


def unfinished(instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Runs that are queued, starting or running."""
    statuses = [
        status for status in dg.DagsterRunStatus if status.value in {"QUEUED", "NOT_STARTED", "STARTING", "STARTED"}
    ]
    return instance.get_runs(dg.RunsFilter(statuses=statuses))


def most_at_once(instance: dg.DagsterInstance) -> int:
    """The largest number of runs that were at work at one moment."""
    spans = [(record.start_time, record.end_time) for record in instance.get_run_records()]
    known = [(start, end) for start, end in spans if start is not None and end is not None]
    return max((sum(start <= moment < end for start, end in known) for moment, _ in known), default=0)


def repeated_contents(instance: dg.DagsterInstance) -> dict[str, int]:
    """Run keys (a job and its content, an experiment and its version) with more than one successful run."""
    succeeded = [*runs(instance, READ_LOG, SUCCESS), *runs(instance, REPORT, SUCCESS)]
    counts = Counter(run.tags["dagster/run_key"].partition("#")[0] for run in succeeded)
    return {key: count for key, count in counts.items() if count > 1}


def assert_nothing_twice_and_nothing_half(
    instance: dg.DagsterInstance, lab: Lab, experiments: Sequence[ExperimentOnDisk]
) -> None:
    """One successful run per content, no partition twice, every set of tables readable, no file half-written."""
    for partitions in ("rl_jobs", "rl_experiments"):
        keys = instance.get_dynamic_partitions(partitions)
        assert len(keys) == len(set(keys))
    assert repeated_contents(instance) == {}
    store = lab.store()
    for experiment in experiments:
        assert all(store.read_job(job.job_key)["jobs"].num_rows == 1 for job in experiment.jobs)
        assert store.read_experiment(experiment.key, "trials") is not None
        assert (lab.settings.reports / experiment.key / "report.json").is_file()
    bundles = [path.name for path in lab.settings.reports.iterdir() if path.is_dir()]
    assert sorted(bundles) == sorted(experiment.key for experiment in experiments)


def ticks(instance: dg.DagsterInstance, sensor: str, *statuses: str) -> int:
    """How often a sensor has looked, by the tick's status (all when none is given)."""
    return len(tick_list(instance, sensor, *statuses))


def tick_list(
    instance: dg.DagsterInstance, sensor: str, *statuses: str, after: float | None = None
) -> list[InstigatorTick]:
    """The ticks of a sensor, latest first, those that began later than a time (seconds since 1970) if one is given."""
    states = [state for state in instance.all_instigator_state() if state.instigator_name == sensor]
    found = [
        tick
        for state in states
        for tick in instance.get_ticks(state.instigator_origin_id, state.selector_id, after=after)
    ]
    return [tick for tick in found if not statuses or tick.status.value in statuses]


def several_looks_later(instance: dg.DagsterInstance, *sensors: str, looks: int = 3) -> Callable[[], bool]:
    """A question for `until`: has each of the sensors begun and ended so many looks since this was called?"""
    start = time.time()
    return lambda: all(
        len(tick_list(instance, sensor, "SKIPPED", "SUCCESS", after=start)) >= looks for sensor in sensors
    )


def counts(instance: dg.DagsterInstance) -> dict[str, int]:
    """The numbers of an instance: runs by kind and outcome, ticks by sensor."""
    told = Counter(f"{run.job_name} {run.status.value}" for run in instance.get_runs())
    for sensor in ("finished_jobs", "finished_experiments", "running_jobs", "notifications"):
        told[f"ticks of {sensor}"] = ticks(instance, sensor)
    return dict(sorted(told.items()))
