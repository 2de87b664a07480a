"""The first stages of a report, which may run in a process of their own: read logs and trials.

Everything heavy that reading needs is imported here or below.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from rl_pipeline import pipeline
from rl_pipeline.addresses import address
from rl_pipeline.commands.other_process import PreparedProcess
from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report_processes import another_reader
from rl_pipeline.commands.report_reading import WORTH_A_PROCESS
from rl_pipeline.commands.report_stages import Making
from rl_pipeline.commands.report_state import ReportState, log_state, program_state
from rl_pipeline.commands.stage_tables import read_tables, write_tables
from rl_pipeline.discovery import ExperimentOnDisk
from rl_pipeline.errors import DataError, PipelineError
from rl_pipeline.report.bundle_names import TABLES
from rl_pipeline.results import thresholds_of
from rl_pipeline.schema import Job, SkippedTrial, Trial
from rl_pipeline.tables.store import TableStore
from rl_pipeline.trial_files.seen import Seen
from rl_pipeline.wording import plural

PARSE = f"{__name__}:parse"


def prepare() -> None:
    """Nothing: what calling this needs, reading needs too, and it is imported now."""


def read_all_logs(making: Making, second: PreparedProcess | None) -> None:
    """Logs to tables.

    Args:
        making: what to make.
        second: another process, if one was started; else one is where that is worth it.

    Raises:
        ConfigurationError: the thresholds do not say what they must.
        DataError: nothing readable.
    """
    experiment, progress = making.experiment, Progress(quiet=making.quiet)
    thresholds_of(making.thresholds)  # told before any work
    kept = KeptTables(ReportState(making.out).tables_url)
    jobs = read_logs(experiment.jobs, kept, progress, force=making.force, second=second)
    require_metrics(experiment, jobs)
    kept.write()
    write_tables(pipeline.tables_of_jobs([job.tables for job in jobs]), making.work / TABLES)


def read_trial_tables(making: Making) -> str:
    """Trials to tables, when those of the logs are there; gives the digest of the files that were read."""
    experiment, progress = making.experiment, Progress(quiet=making.quiet)
    url = ReportState(making.out).tables_url
    ledger = None if making.force else TableStore(url).ledger_url(experiment.key)
    windows = read_tables(making.work / TABLES)[Job.TABLE]
    seen = Seen()
    below = ", ".join(address(root) for root in experiment.trial_roots)
    with progress.bar(f"reading trials below {below}" if below else "no trial folder", None, " trials") as advance:
        trials = pipeline.read_trials_of(
            windows, experiment.trial_roots, ledger=ledger, on_progress=advance, seen=seen
        )  # fmt: skip
    progress.say(f"{plural(trials.trials.num_rows, 'trial')} read, {plural(trials.skipped.num_rows, 'folder')} skipped")
    write_tables({Trial.TABLE: trials.trials, SkippedTrial.TABLE: trials.skipped}, making.work / TABLES)
    ReportState(making.out).leaves.write(seen.leaves)
    return seen.digest()


class KeptTables:
    """Tables of logs from one report to the next; a folder that takes none costs only the time to read again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._store = TableStore(url)
        self._program = program_state()
        self._new: list[tuple[pipeline.JobLog, pipeline.JobTables, list[Any]]] = []

    def tables_of(self, log: pipeline.JobLog) -> pipeline.JobTables | None:
        """The tables of a log that is as it was, made by this program; None when it must be read."""
        try:
            provenance = self._store.job_provenance(log.job_key)
            if provenance is None or provenance.get("made_from") != self._made_from(log):
                return None
            return pipeline.JobTables(tables=self._store.read_job(log.job_key), provenance=provenance)
        except (PipelineError, OSError):
            return None

    def keep(self, log: pipeline.JobLog, read: Callable[[], pipeline.JobTables]) -> pipeline.JobTables:
        """Read one log; its tables are kept when `write` is called."""
        made_from = self._made_from(log)  # before reading: what grows meanwhile is read again
        job = read()
        self._new.append((log, job, made_from))
        return job

    def write(self) -> None:
        """Keep what was read."""
        for log, job, made_from in self._new:
            with suppress(PipelineError, OSError):
                provenance = {**job.provenance, "made_from": made_from}
                self._store.write_job(log.job_key, job.tables, provenance, state=job.state)
        self._new.clear()

    def _made_from(self, log: pipeline.JobLog) -> list[Any]:
        return [log.experiment, log.experiment_key, log.job, str(log.path), log_state(log), self._program]


def read_logs(
    logs: Sequence[pipeline.JobLog],
    kept: KeptTables,
    progress: Progress,
    *,
    force: bool,
    second: PreparedProcess | None = None,
) -> list[pipeline.JobTables]:
    """The tables of all logs, kept ones where the log is as it was; many bytes are read by two processes."""
    known = {log.job_key: None if force else kept.tables_of(log) for log in logs}
    for log in logs:
        if known[log.job_key] is not None:
            progress.say(f"{log.path.name} is as it was")
    waiting = deque(sorted((log for log in logs if known[log.job_key] is None), key=lambda log: -log.size_bytes))
    read = {log.job_key: job for log, job in _read(waiting, kept, progress, second)} if waiting else {}
    return [known[log.job_key] or read[log.job_key] for log in logs]


def _read(
    waiting: deque[pipeline.JobLog], kept: KeptTables, progress: Progress, second: PreparedProcess | None
) -> list[tuple[pipeline.JobLog, pipeline.JobTables]]:
    names = ", ".join(sorted(log.path.name for log in waiting))
    with progress.bar(f"reading {names}", sum(log.size_bytes for log in waiting), "B") as advance:

        def here(log: pipeline.JobLog) -> pipeline.JobTables:
            return kept.keep(log, lambda: parse(log, kept.url, on_bytes=advance))

        if sum(log.size_bytes for log in waiting) - waiting[0].size_bytes < WORTH_A_PROCESS:
            return _taken(waiting, here)

        def there(log: pipeline.JobLog) -> pipeline.JobTables:
            job = kept.keep(log, lambda: other.process.call(PARSE, log, kept.url, gives=pipeline.JobTables))
            advance(log.size_bytes)
            return job

        with second or another_reader() as other:
            theirs = other.thread.submit(_taken, waiting, there)
            return _taken(waiting, here) + theirs.result()


def parse(log: pipeline.JobLog, kept_url: str, *, on_bytes: Callable[[int], None] | None = None) -> pipeline.JobTables:
    """Read one log, in whichever process this is."""
    earlier = pipeline.earlier_reading(TableStore(kept_url), log.job_key)
    return pipeline.parse_job(log, on_bytes=on_bytes, earlier=earlier)


def _taken(
    waiting: deque[pipeline.JobLog], read: Callable[[pipeline.JobLog], pipeline.JobTables]
) -> list[tuple[pipeline.JobLog, pipeline.JobTables]]:
    """Read logs until none waits."""
    return [(log, read(log)) for log in iter(partial(_next, waiting), None)]


def _next(waiting: deque[pipeline.JobLog]) -> pipeline.JobLog | None:
    with suppress(IndexError):  # another thread took the last one
        return waiting.popleft()
    return None


def require_metrics(experiment: ExperimentOnDisk, jobs: list[pipeline.JobTables]) -> None:
    """Refuse to write a report about nothing.

    Raises:
        DataError: no log holds a single recognised line, or none holds a metric block.
    """
    if any(job.tables["step_metrics"].num_rows for job in jobs):
        return
    require_whole(experiment, jobs)
    where = ", ".join(address(log.path) for log in experiment.jobs)
    if not any(job.recognised for job in jobs):
        raise DataError(
            "No recognised line in any log",
            where=where,
            expected="SkyRL, vLLM, Harbor or SLURM lines (text, gzip or zstd)",
            do="check that these are job logs and not other files; `rl-pipeline discover` shows what was seen",
            slug="no-recognised-line",
        )
    raise DataError(
        "No metric block in any log",
        where=where,
        expected="`Step N: ` blocks of SkyRL's console logger or WANDB_MIRROR lines",
        do="switch on the console tracker (trainer.logger includes console), or wait for the first step",
        slug="no-metric-block",
    )


def require_whole(experiment: ExperimentOnDisk, jobs: list[pipeline.JobTables]) -> None:
    """Refuse logs that could not be read to their end; asked where what was read says nothing.

    Raises:
        DataError: there is one.
    """
    errors = [job.tables[Job.TABLE]["read_error"][0].as_py() for job in jobs]
    broken = [
        f"{address(log.path)} ({error})"
        for log, error in zip(experiment.jobs, errors, strict=True)
        if error is not None
    ]
    if broken:
        raise DataError(
            "No metric block in what could be read of the logs",
            where=", ".join(broken),
            expected="whole files",
            do="copy them once more, or wait until they are written; what can be read of a damaged log is reported "
            "when it holds a metric block",
            slug="log-damaged",
        )
