"""A job's log as its partition finds it: facts of the file, its content's fingerprint, how the job stands."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import dagster as dg

from rl_pipeline.addresses import address, as_path, is_elsewhere
from rl_pipeline.defs.job_index import RegisteredExperiment, RegisteredJob
from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.discovery import JobLog, JobState, Look, first_printed_time, job_state
from rl_pipeline.discovery.found import printable
from rl_pipeline.places import file_facts, on_disk
from rl_pipeline.reader import fingerprint

FINISHED_BY_TAG = "rl_pipeline/finished_by"  # a sensor saw the job finish, by this evidence
EVIDENCE_LIMIT = 300  # characters
AS_OF_TAG = "rl_pipeline/as_of"  # a sensor asked for the tables of a job that is still running


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLog:
    """A log as it was when the step looked."""

    log: JobLog
    version: LogVersion
    state: JobState


def job_log(registered: RegisteredJob) -> JobLog:
    """The registered log with the facts its file has now.

    Raises:
        OSError: it is not there.
    """
    path = as_path(registered.path)
    size_bytes, mtime_ns = _facts(path)
    return JobLog(
        experiment=registered.experiment,
        experiment_key=registered.experiment_key,
        job=registered.job,
        job_key=registered.job_key,
        path=path,
        size_bytes=size_bytes,
        mtime_ns=mtime_ns,
    )


def _facts(path: Path) -> tuple[int, int]:
    """Size and time of a log.

    Raises:
        OSError: it is not there, or its place does not answer.
    """
    if not is_elsewhere(path):
        facts = path.stat()
        return facts.st_size, facts.st_mtime_ns
    found = file_facts(path)
    if found is None:
        raise FileNotFoundError(2, "No such file or directory", address(path))
    return found.size_bytes, found.mtime_ns


def look_at(
    registered: RegisteredJob, experiment: RegisteredExperiment, tags: Mapping[str, str], *, quiet_minutes: float
) -> SeenLog:
    """Look at a log: its facts first, then its content, so that a change in between is found later.

    Args:
        registered: the job.
        experiment: its experiment, whose later jobs tell that this one is over.
        tags: tags of the run; a sensor may know more than one look can tell.
        quiet_minutes: silence after which a log without an end line is finished.
    """
    log = job_log(registered)
    look = Look(
        now=time.time(), quiet_period_s=60 * quiet_minutes, successor_starts=_later_starts(registered, experiment)
    )
    state = told_by_sensor(job_state(log, look), tags)
    with on_disk(log.path) as file:
        content = fingerprint(file)
    version = LogVersion(fingerprint=content, size_bytes=log.size_bytes, mtime_ns=log.mtime_ns, is_final=state.finished)
    return SeenLog(log=log, version=version, state=state)


def told_by_sensor(state: JobState, tags: Mapping[str, str]) -> JobState:
    """The state with what the sensor that asked for the run knew: it has looked more than once."""
    if state.finished or not tags.get(FINISHED_BY_TAG):
        return state
    return replace(state, state="unknown", finished=True, by=tags[FINISHED_BY_TAG], evidence="seen over several looks")


def _later_starts(job: RegisteredJob, experiment: RegisteredExperiment) -> tuple[datetime, ...]:
    keys = [member.job_key for member in experiment.jobs]
    later = experiment.jobs[keys.index(job.job_key) + 1 :][:3] if job.job_key in keys else ()
    starts = (first_printed_time(as_path(member.path)) for member in later)
    return tuple(start for start in starts if start is not None)


def log_metadata(seen: SeenLog) -> dict[str, dg.MetadataValue]:
    """What the page of `raw_log` shows."""
    state = seen.state
    return {
        "path": dg.MetadataValue.path(printable(seen.log.path)),
        "size_bytes": dg.MetadataValue.int(seen.log.size_bytes),
        "written_at": dg.MetadataValue.timestamp(seen.log.mtime_ns / 1e9),
        "fingerprint": dg.MetadataValue.text(seen.version.fingerprint),
        "state": dg.MetadataValue.text(state.state if state.finished else f"{state.state}, as of this run"),
        "evidence": dg.MetadataValue.text(f"{state.by}: {state.evidence}"[:EVIDENCE_LIMIT]),
        "experiment": dg.MetadataValue.text(seen.log.experiment),
    }
