"""The table store: all tables of a job, or of an experiment, visible at once; on a disk or in a bucket.

    <store>/jobs/<job key>/…               the tables of one log
    <store>/experiments/<experiment key>/… its trials
    <store>/job_trials/<job key>/…         those of them that ran in one job
    <store>/comparisons/<experiment key>/… its jobs side by side
    <store>/trial_ledgers/<experiment key> what the trial ledger has read (trial_ledger.py)

How a set stays whole is told in shelf.py. The row of `jobs` also stands in the manifest, so that the
index of all jobs opens no table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from rl_pipeline.schema import Job, Trial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.row_tables import to_arrow, to_rows
from rl_pipeline.tables.shelf import Clock, Shelf, Tables, utc_now
from rl_pipeline.tables.store_files import StoreFiles

COMPARISON = "cross_log_comparison"
READING = "reading"


class TableStore:
    """Tables by partition key, below one fsspec URL or path."""

    def __init__(self, url: str, *, clock: Clock = utc_now) -> None:
        self.url = str(url)
        files = StoreFiles(self.url)
        self._jobs = Shelf(files, "jobs", clock=clock)
        self._experiments = Shelf(files, "experiments", clock=clock)
        self._job_trials = Shelf(files, "job_trials", clock=clock)
        self._comparisons = Shelf(files, "comparisons", clock=clock)

    def write_job(
        self, job_key: str, tables: Tables, provenance: Mapping[str, Any], *, state: bytes | None = None
    ) -> str:
        """Make these the current tables of a job; gives the version, a digest of the content.

        Args:
            job_key: partition key of the job.
            tables: all tables of the job by name, Arrow tables or streams of batches.
            provenance: what they were made from (fingerprint of the log, parser's version).
            state: how the reading of the log can be gone on with; see `growing_log`.

        Raises:
            ConfigurationError: the store cannot be written, or the key is none.
            DataError: a table is not what the schema promises.
        """
        beside = {} if state is None else {READING: state}
        return self._jobs.write(job_key, tables, provenance, _job_summary(tables.get(Job.TABLE)), beside)

    def earlier_reading(self, job_key: str) -> tuple[bytes, Callable[[str], pa.Table], str] | None:
        """What was kept of the reading of a job's log, its tables, and the name of their set; None: nothing."""
        return self._jobs.earlier(job_key, READING)

    def read_job(self, job_key: str) -> dict[str, pa.Table]:
        """All tables of a job, of one version.

        Raises:
            DataError: there are none, or they are damaged or of another version of the schema.
        """
        return self._jobs.read(job_key)

    def read_job_table(self, job_key: str, table: str, columns: list[str] | None = None) -> pa.Table:
        """One table of a job, or some of its columns; raises as `read_job` does."""
        return self._jobs.read_table(job_key, table, columns)

    def job_provenance(self, job_key: str) -> dict[str, Any] | None:
        """What the job's current tables were made from; None when they must be made (anew).

        Raises:
            DataError: they were written by a newer version of this program.
        """
        return self._jobs.provenance(job_key)

    def list_jobs(self) -> list[str]:
        """Keys of all jobs with tables, sorted."""
        return self._jobs.keys()

    def job_index(self) -> pa.Table:
        """The `jobs` rows of all jobs, sorted by key; read from the manifests alone."""
        summaries = self._jobs.summaries().values()
        return to_arrow([_job_of(summary) for summary in summaries if summary], Job)

    def write_experiment(self, key: str, tables: Tables, provenance: Mapping[str, Any]) -> str:
        """Make these the current tables of an experiment; as `write_job`."""
        return self._experiments.write(key, tables, provenance, {})

    def read_experiment(self, key: str, table: str, columns: list[str] | None = None) -> pa.Table:
        """One table of an experiment; raises as `read_job` does."""
        return self._experiments.read_table(key, table, columns)

    def experiment_provenance(self, key: str) -> dict[str, Any] | None:
        """As `job_provenance`."""
        return self._experiments.provenance(key)

    def list_experiments(self) -> list[str]:
        """Keys of all experiments with tables, sorted."""
        return self._experiments.keys()

    def write_job_trials(self, job_key: str, trials: pa.Table, provenance: Mapping[str, Any]) -> str:
        """Make this the current table of the trials that ran in a job; as `write_job`."""
        return self._job_trials.write(job_key, {Trial.TABLE: trials}, provenance, {})

    def read_job_trials(self, job_key: str, columns: list[str] | None = None) -> pa.Table:
        """The trials that ran in a job; raises as `read_job` does."""
        return self._job_trials.read_table(job_key, Trial.TABLE, columns)

    def write_comparison(self, experiment_key: str, rows: pa.Table, provenance: Mapping[str, Any]) -> str:
        """Make this the current comparison of the jobs of an experiment; as `write_job`."""
        return self._comparisons.write(experiment_key, {COMPARISON: rows}, provenance, {})

    def read_comparison(self, experiment_key: str) -> pa.Table:
        """The comparison of the jobs of an experiment; raises as `read_job` does."""
        return self._comparisons.read_table(experiment_key, COMPARISON)

    def ledger_url(self, experiment_key: str) -> str:
        """Where the experiment's trial ledger lies."""
        return f"{self.url.rstrip('/')}/trial_ledgers/{experiment_key}"


def _job_summary(jobs: Any) -> dict[str, Any]:  # noqa: ANN401 - pyarrow has no types
    """The one row of `jobs` as JSON can hold it; nothing when the set has none."""
    if not isinstance(jobs, pa.Table) or jobs.num_rows != 1 or jobs.schema.names != arrow_schema(Job).names:
        return {}
    row = to_rows(jobs, Job)[0]
    values = {name: getattr(row, name) for name in arrow_schema(Job).names}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _job_of(summary: Mapping[str, Any]) -> Job:
    values: dict[str, Any] = dict(summary)
    for name in ("first_logged_at", "last_logged_at"):
        values[name] = datetime.fromisoformat(values[name]) if values[name] else None
    return Job(**values)
