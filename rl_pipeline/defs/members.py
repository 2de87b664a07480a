"""The jobs of an experiment, and what of theirs lies in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rl_pipeline import pipeline
from rl_pipeline.addresses import as_path
from rl_pipeline.defs.job_index import RegisteredExperiment, RegisteredJob
from rl_pipeline.defs.resources import Store
from rl_pipeline.discovery import first_printed_time
from rl_pipeline.discovery.job_state import last_printed_time
from rl_pipeline.discovery.tail import read_tail
from rl_pipeline.errors import DataError
from rl_pipeline.places import is_folder
from rl_pipeline.schema import Job
from rl_pipeline.tables.quality import Violation
from rl_pipeline.tables.row_tables import to_arrow

BROKEN_RULES = "broken_rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """An experiment, the keys of its jobs with tables that can be believed, and of those without (yet)."""

    experiment: RegisteredExperiment
    present: tuple[str, ...]
    missing: tuple[str, ...]

    def some(self) -> tuple[str, ...]:
        """The keys with tables.

        Raises:
            DataError: there is none, so nothing can be said about the experiment.
        """
        if not self.present:
            raise DataError(
                f"no job of the experiment {self.experiment.experiment} has tables yet",
                where=", ".join(self.missing[:5]) or "the experiment has no job",
                expected="at least one job whose assets were materialized",
                do="materialize the group `jobs` for these partitions first",
                slug="no-job-tables",
            )
        return self.present

    def logs(self) -> list[Path]:
        """The logs of all jobs, whether or not they are still there."""
        return [as_path(job.path) for job in self.experiment.jobs]

    def trial_roots(self) -> list[Path]:
        """The folders of trials that exist now."""
        return [root for root in map(as_path, self.experiment.trial_roots) if is_folder(root)]


def with_verdict(parsed: pipeline.JobTables, broken: Sequence[Violation]) -> dict[str, Any]:
    """A job's provenance with the blocking rules that its tables break; such tables enter no experiment."""
    rules = {violation.rule for violation in broken if violation.blocking}
    rules |= set() if parsed.recognised else {"nothing-recognised"}
    return {**parsed.provenance, BROKEN_RULES: sorted(rules)}


def members_of(store: Store, experiment_key: str) -> Members:
    """Look the experiment up in the index, and each of its jobs in the store."""
    experiment, tables = store.index().experiment(experiment_key), store.tables()
    keys = [job.job_key for job in experiment.jobs]
    present = [key for key in keys if _can_be_believed(tables.job_provenance(key))]
    missing = [key for key in keys if key not in present]
    return Members(experiment=experiment, present=tuple(present), missing=tuple(missing))


def _can_be_believed(provenance: Mapping[str, Any] | None) -> bool:
    return provenance is not None and not provenance.get(BROKEN_RULES)


def time_windows(store: Store, members: Members) -> list[pipeline.JobTables]:
    """The `jobs` rows alone, by which trials find their job.

    A job whose tables are not made yet is there with the first and last time printed in its log, so that
    its trials are not given to another job meanwhile.
    """
    tables = store.tables()
    made = [tables.read_job_table(key, Job.TABLE) for key in members.present]
    logs = [job for job in members.experiment.jobs if job.job_key in members.missing]
    rows = [*made, *(to_arrow([row], Job) for row in map(_window_of_log, logs) if row is not None)]
    return [pipeline.JobTables(tables={Job.TABLE: row}, provenance={}) for row in rows]


def _window_of_log(job: RegisteredJob) -> Job | None:
    """A `jobs` row of which only the window counts; None when the log is gone or prints no time."""
    path = as_path(job.path)
    try:
        first, last = first_printed_time(path), last_printed_time(read_tail(path).data)
    except OSError:
        return None
    if first is None or last is None:
        return None
    return Job(
        experiment=job.experiment, job=job.job, job_key=job.job_key, path=path.name, size_bytes=0, fingerprint="",
        first_logged_at=first, last_logged_at=last, lines=0, printed_lines=0, blocks=0, broken_blocks=0,
        dialect_lines={},
    )  # fmt: skip


def experiment_trials(store: Store, members: Members) -> pipeline.TrialTables:
    """All trials of the experiment with their jobs; what the ledger knows is not read again."""
    return pipeline.read_experiment_trials(
        members.trial_roots(),
        time_windows(store, members),
        ledger=store.tables().ledger_url(members.experiment.key),
    )
