"""What an instance says happened: runs, ticks, and whether every job and experiment is as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import dagster as dg

from rl_pipeline.defs.runs import READ_LOG, REPORT
from rl_pipeline.defs.versions import (
    REPORT_ASSET,
    complete_jobs,
    current_experiment_version,
    index_version,
    recorded_index,
    recorded_versions,
)
from rl_pipeline_tests.helpers.lab import Lab

SUCCESS = dg.DagsterRunStatus.SUCCESS


def runs(
    instance: dg.DagsterInstance, job_name: str, *statuses: dg.DagsterRunStatus, partition: str | None = None
) -> Sequence[dg.DagsterRun]:
    """Runs of a Dagster job with one of the statuses (all when none is given), latest first."""
    tags = {"dagster/partition": partition} if partition else {}
    return instance.get_runs(dg.RunsFilter(job_name=job_name, statuses=list(statuses), tags=tags))


def made_of_what_is_on_disk(instance: dg.DagsterInstance, lab: Lab, *, running: Sequence[str] = ()) -> bool:
    """Whether each job is made of its log, each report of its jobs, the index of reports, and all is quiet."""
    complete = complete_jobs(instance)
    reports = recorded_versions(instance, REPORT_ASSET)
    for experiment in lab.discovered().experiments:
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


def repeated_contents(instance: dg.DagsterInstance) -> dict[str, int]:
    """Run keys (a job and its content, an experiment and its version) with more than one successful run."""
    succeeded = [*runs(instance, READ_LOG, SUCCESS), *runs(instance, REPORT, SUCCESS)]
    counts = Counter(run.tags["dagster/run_key"].partition("#")[0] for run in succeeded)
    return {key: count for key, count in counts.items() if count > 1}


def ticks(instance: dg.DagsterInstance, sensor: str, *statuses: str) -> int:
    """How often a sensor has looked, by the tick's status (all when none is given)."""
    return len(tick_list(instance, sensor, *statuses))


def tick_list(instance: dg.DagsterInstance, sensor: str, *statuses: str):
    """The ticks of a sensor, latest first."""
    states = [state for state in instance.all_instigator_state() if state.instigator_name == sensor]
    found = [tick for state in states for tick in instance.get_ticks(state.instigator_origin_id, state.selector_id)]
    return [tick for tick in found if not statuses or tick.status.value in statuses]


def several_looks_later(instance: dg.DagsterInstance, sensor: str, looks: int = 3):
    """A question for `until`: has the sensor looked so many times more than at the time of asking first?"""
    wanted = ticks(instance, sensor, "SKIPPED", "SUCCESS") + looks
    return lambda: ticks(instance, sensor, "SKIPPED", "SUCCESS") >= wanted


def counts(instance: dg.DagsterInstance) -> dict[str, int]:
    """The numbers of an instance: runs by kind and outcome, ticks by sensor."""
    told = Counter(f"{run.job_name} {run.status.value}" for run in instance.get_runs())
    for sensor in ("finished_jobs", "finished_experiments", "running_jobs", "notifications"):
        told[f"ticks of {sensor}"] = ticks(instance, sensor)
    return dict(sorted(told.items()))
