"""The index of jobs: which log a job partition reads, and which jobs make up an experiment.

A partition key says neither, so both stand here, beside the tables:

    <store>/index/experiments/<experiment key>.json   name, trial folders, all jobs
    <store>/index/jobs/<job key>.json                 the same record of one job, found by its key

Registering adds and corrects, and never forgets: a job whose log is gone keeps its tables and stays
a member. Files are replaced in one step; a job's file is written before its experiment's, so an
experiment never names a job that cannot be found. Of two writers at once the later wins, and the
next registration (a sensor tick) brings back what was lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rl_pipeline.addresses import address, as_path
from rl_pipeline.discovery import ExperimentOnDisk, JobLog
from rl_pipeline.discovery.grouping import natural
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.places import is_folder
from rl_pipeline.tables.store_files import StoreFiles

VERSION = 1
JOBS, EXPERIMENTS = "index/jobs", "index/experiments"
RECORD = re.compile(r"[A-Za-z0-9][^/]*\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredJob:
    """One job: its names and where its log lies."""

    experiment: str
    experiment_key: str
    job: str
    job_key: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredExperiment:
    """One experiment: its name, its jobs and the folders of its trials."""

    experiment: str
    key: str
    trial_roots: tuple[str, ...]
    jobs: tuple[RegisteredJob, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What one registration found: every key it was given, and which records it wrote."""

    job_keys: tuple[str, ...]
    experiment_keys: tuple[str, ...]
    written_jobs: tuple[str, ...]
    written_experiments: tuple[str, ...]


class JobIndex:
    """Reads and writes the index below the URL of a store."""

    def __init__(self, store_url: str) -> None:
        self._url = store_url
        self._files = StoreFiles(store_url)

    def register(self, experiments: Sequence[ExperimentOnDisk]) -> Registration:
        """Add what was found on disk; records that are already right are not written again."""
        written_jobs: list[str] = []
        written_experiments: list[str] = []
        for found in experiments:
            known = self.find_experiment(found.key)
            wanted = _merged(known, found)
            if wanted == known:
                continue
            old = {job.job_key: job for job in known.jobs} if known else {}
            for job in wanted.jobs:
                if old.get(job.job_key) != job:
                    self._write(self._job_file(job.job_key), asdict(job))
                    written_jobs.append(job.job_key)
            self._write(self._experiment_file(wanted.key), asdict(wanted))
            written_experiments.append(wanted.key)
        return Registration(
            job_keys=tuple(job.job_key for found in experiments for job in found.jobs),
            experiment_keys=tuple(found.key for found in experiments),
            written_jobs=tuple(written_jobs),
            written_experiments=tuple(written_experiments),
        )

    def find_job(self, job_key: str) -> RegisteredJob | None:
        """The record of a job, or None when nobody registered it."""
        record = self._read(self._job_file(job_key))
        return _job(record) if record else None

    def find_experiment(self, key: str) -> RegisteredExperiment | None:
        """The record of an experiment, or None when nobody registered it."""
        record = self._read(self._experiment_file(key))
        return _experiment(record) if record else None

    def job(self, job_key: str) -> RegisteredJob:
        """The record of a job; an unknown key says what to do."""
        found = self.find_job(job_key)
        if found is None:
            raise self._unknown("job", job_key)
        return found

    def experiment(self, key: str) -> RegisteredExperiment:
        """The record of an experiment; an unknown key says what to do."""
        found = self.find_experiment(key)
        if found is None:
            raise self._unknown("experiment", key)
        return found

    def experiments(self) -> Iterator[RegisteredExperiment]:
        """All experiments, by key."""
        names = [name for name in self._files.names(EXPERIMENTS) if RECORD.fullmatch(name)]
        found = self._files.read_many([f"{EXPERIMENTS}/{name}" for name in names])
        records = (_record(found.get(f"{EXPERIMENTS}/{name}")) for name in names)
        yield from (_experiment(record) for record in records if record)

    def _unknown(self, what: str, key: str) -> ConfigurationError:
        return ConfigurationError(
            f"no {what} is registered under the partition key {key!r}",
            where=f"{self._url.rstrip('/')}/index",
            expected="a key that registering has written there",
            do="rl-pipeline discover ROOT --register, with the folder that holds the experiments",
            slug="unknown-partition",
        )

    def _job_file(self, key: str) -> str:
        return f"{JOBS}/{key}.json"

    def _experiment_file(self, key: str) -> str:
        return f"{EXPERIMENTS}/{key}.json"

    def _read(self, file: str) -> Mapping[str, Any] | None:
        return _record(self._files.read(file))

    def _write(self, file: str, record: Mapping[str, Any]) -> None:
        self._files.replace(file, json.dumps({"version": VERSION, **record}, indent=1).encode())


def _record(content: bytes | None) -> Mapping[str, Any] | None:
    """What a file holds; None when it is missing, or damaged by hand: registering writes it anew."""
    try:
        record = json.loads(content or b"")
    except ValueError:
        return None
    return record if isinstance(record, dict) and record.get("version") == VERSION else None


def _merged(known: RegisteredExperiment | None, found: ExperimentOnDisk) -> RegisteredExperiment:
    jobs = {job.job_key: job for job in known.jobs} if known else {}
    jobs |= {job.job_key: registered(job) for job in found.jobs}
    roots = [address(root) for root in found.trial_roots]
    roots += [root for root in (known.trial_roots if known else ()) if root not in roots and is_folder(as_path(root))]
    return RegisteredExperiment(
        experiment=found.experiment,
        key=found.key,
        trial_roots=tuple(roots),
        jobs=tuple(jobs[key] for key in sorted(jobs, key=natural)),  # the order of their ids
    )


def registered(job: JobLog) -> RegisteredJob:
    """The record of a log found on disk; its path is made absolute, since runs start anywhere."""
    return RegisteredJob(
        experiment=job.experiment,
        experiment_key=job.experiment_key,
        job=job.job,
        job_key=job.job_key,
        path=address(job.path.absolute()),
    )


def _job(record: Mapping[str, Any]) -> RegisteredJob:
    return RegisteredJob(**{name: str(record[name]) for name in RegisteredJob.__slots__})


def _experiment(record: Mapping[str, Any]) -> RegisteredExperiment:
    return RegisteredExperiment(
        experiment=str(record["experiment"]),
        key=str(record["key"]),
        trial_roots=tuple(str(root) for root in record["trial_roots"]),
        jobs=tuple(_job(job) for job in record["jobs"]),
    )
