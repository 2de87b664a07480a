"""Materializing without a daemon: everything that is not current, one run per partition, in this process.

For the demo, for CI and for the backfill of an archive. Runs are ordinary runs of the shared instance:
they show in the UI and carry checks. What is current already is left alone, so that a backfill that
was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from rl_pipeline.defs.factory import build_definitions
from rl_pipeline.defs.job_index import JobIndex
from rl_pipeline.defs.origins import LOCATION_TAG, name_location
from rl_pipeline.defs.partitions import EXPERIMENT_TAG
from rl_pipeline.defs.run_records import failure_words, was_interrupted
from rl_pipeline.defs.runs import INDEX, READ_LOG, REPORT
from rl_pipeline.defs.versions import REPORT_ASSET, complete_jobs, current_experiment_version, recorded_versions
from rl_pipeline.discovery import ExperimentOnDisk
from rl_pipeline.settings import Settings

MADE, CURRENT, FAILED = "made", "current", "failed"
JOB, EXPERIMENT = "job", "experiment"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}  # outcomes are told instead

TAGS = {**LOCATION_TAG, "dagster/max_retries": "0"}  # never restarted by the daemon: the run is of this process


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one partition: made, current (nothing to do), or failed and why."""

    kind: str
    key: str
    outcome: str
    reason: str = ""


def materialize_experiments(
    found: Sequence[ExperimentOnDisk],
    *,
    settings: Settings,
    instance: dg.DagsterInstance,
    force: bool = False,
    tell: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Materialize jobs, then the experiment, one experiment after another.

    Args:
        found: registered experiments, as discovery found them on disk.
        settings: the deployment.
        instance: holds the partitions; the runs are recorded there.
        force: make also what is current.
        tell: told each outcome as it happens.

    A partition that fails does not stop the others; an experiment is made from the jobs that have tables.
    The index of all experiments follows, once; it is among the outcomes only when it failed.
    """
    runner = Runner(settings, instance)
    outcomes: list[Outcome] = []
    for experiment in found:
        for outcome in _experiment(experiment, runner, force=force):
            tell(outcome)
            outcomes.append(outcome)
    if any(outcome.kind == EXPERIMENT and outcome.outcome == MADE for outcome in outcomes):
        index = runner.run_index()
        outcomes += [index] if index.outcome == FAILED else []
    return outcomes


class Runner:
    """Runs the Dagster jobs of a deployment in this process, quietly."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.index = JobIndex(settings.store)
        self._definitions = build_definitions(settings)

    def run(self, dagster_job: str, key: str, experiment_key: str) -> Outcome:
        """One run on one partition; a failure is an outcome.

        Raises:
            KeyboardInterrupt: the run was interrupted.
        """
        result = self._definitions.resolve_job_def(dagster_job).execute_in_process(
            partition_key=key,
            instance=self.instance,
            tags={EXPERIMENT_TAG: experiment_key, **TAGS},
            run_config=QUIET,
            raise_on_error=False,
        )
        self._end(result)
        kind = JOB if dagster_job == READ_LOG else EXPERIMENT
        return (
            Outcome(kind, key, MADE) if result.success else Outcome(kind, key, FAILED, failure_words(result.all_events))
        )

    def run_index(self) -> Outcome:
        """The page of all experiments."""
        result = self._definitions.resolve_job_def(INDEX).execute_in_process(
            instance=self.instance, tags=TAGS, run_config=QUIET, raise_on_error=False
        )
        self._end(result)
        words = "" if result.success else failure_words(result.all_events)
        return Outcome("index", "experiment_index", MADE if result.success else FAILED, words)

    def _end(self, result: dg.ExecuteInProcessResult) -> None:
        """Give the run its place in the UI; go no further when it was interrupted."""
        name_location(self.instance, result.run_id)
        if not result.success and was_interrupted(result.all_events):
            raise KeyboardInterrupt


def _experiment(found: ExperimentOnDisk, runner: Runner, *, force: bool) -> Iterator[Outcome]:
    keys = [job.job_key for job in found.jobs]
    complete = {} if force else complete_jobs(runner.instance, keys)
    for job in found.jobs:
        version = complete.get(job.job_key)
        if version is not None and version.is_final and version.same_file(job.size_bytes, job.mtime_ns):
            yield Outcome(JOB, job.job_key, CURRENT)
        else:
            yield runner.run(READ_LOG, job.job_key, found.key)
    members = [job.job_key for job in runner.index.experiment(found.key).jobs]
    wanted = current_experiment_version(runner.instance, members)
    if not force and recorded_versions(runner.instance, REPORT_ASSET, [found.key]).get(found.key) == wanted:
        yield Outcome(EXPERIMENT, found.key, CURRENT)
    else:
        yield runner.run(REPORT, found.key, found.key)


def report_of(settings: Settings, experiment_key: str) -> Path:
    """Where the report of an experiment lies once it is made."""
    return settings.reports / experiment_key / "metrics_report.md"
