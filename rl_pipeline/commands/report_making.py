"""A report from files: read what is new, analyse, write. Everything heavy of `rl-pipeline report` is imported here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from rl_pipeline import pipeline
from rl_pipeline.addresses import address
from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report_state import ReportState, log_state, program_state
from rl_pipeline.discovery import ExperimentOnDisk, checkpoint_steps
from rl_pipeline.errors import DataError, PipelineError
from rl_pipeline.tables.store import TableStore


def make_report(
    experiment: ExperimentOnDisk,
    thresholds_file: Path | None,
    out: Path,
    progress: Progress,
    *,
    force: bool = False,
) -> pipeline.Bundle:
    """Read, analyse, write; earlier output stays as it was unless everything succeeded.

    Args:
        experiment: the logs and the folders of trials.
        thresholds_file: thresholds that replace the built-in ones.
        out: folder of the report.
        progress: where to tell what is done.
        force: read also what was read before.

    Raises:
        ConfigurationError: the thresholds cannot be read, or the folder cannot be written.
        DataError: nothing readable.
    """
    thresholds = pipeline.load_thresholds(thresholds_file)
    kept = KeptTables(ReportState(out).tables_url)
    jobs = [read_job(log, kept, progress, force=force) for log in experiment.jobs]
    require_metrics(experiment, jobs)
    kept.write()
    ledger = None if force else kept.ledger_url(experiment.key)
    with progress.bar("reading trials", None, " trials") as advance:
        trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs, ledger=ledger, on_progress=advance)
    progress.say(f"{trials.trials.num_rows:,} trials read, {trials.skipped.num_rows:,} folders skipped")
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    del jobs, trials  # the frames are enough from here on
    progress.say("analysing")
    on_disk = checkpoint_steps(log.path for log in experiment.jobs)
    result = pipeline.analyse_experiment(frames, thresholds, checkpoints_on_disk=on_disk)
    return pipeline.render_report(result, frames, out)


class KeptTables:
    """Tables of logs from one report to the next; a folder that takes none costs only the time to read again."""

    def __init__(self, url: str) -> None:
        self._store = TableStore(url)
        self._program = program_state()
        self._new: list[tuple[pipeline.JobLog, pipeline.JobTables, list[Any]]] = []

    def ledger_url(self, experiment_key: str) -> str:
        """Where it is remembered what was read of trials."""
        return self._store.ledger_url(experiment_key)

    def tables_of(self, log: pipeline.JobLog) -> pipeline.JobTables | None:
        """The tables of a log that is as it was, made by this program; None when it must be read."""
        try:
            provenance = self._store.job_provenance(log.job_key)
            if provenance is None or provenance.get("made_from") != self._made_from(log):
                return None
            return pipeline.JobTables(tables=self._store.read_job(log.job_key), provenance=provenance)
        except (PipelineError, OSError):
            return None

    def read(self, log: pipeline.JobLog, progress: Progress) -> pipeline.JobTables:
        """Parse one log under a bar of its bytes; its tables are kept when `write` is called."""
        made_from = self._made_from(log)  # before reading: what grows meanwhile is read again
        with progress.bar(f"reading {log.path.name}", log.size_bytes, "B") as advance:
            earlier = pipeline.earlier_reading(self._store, log.job_key)
            job = pipeline.parse_job(log, on_bytes=advance, earlier=earlier)
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


def read_job(log: pipeline.JobLog, kept: KeptTables, progress: Progress, *, force: bool) -> pipeline.JobTables:
    """The tables of one log, kept ones where the log is as it was."""
    known = None if force else kept.tables_of(log)
    if known is None:
        return kept.read(log, progress)
    progress.say(f"{log.path.name} is as it was")
    return known


def require_metrics(experiment: ExperimentOnDisk, jobs: list[pipeline.JobTables]) -> None:
    """Refuse to write a report about nothing.

    Raises:
        DataError: no log holds a single recognised line, or none holds a metric block.
    """
    where = ", ".join(address(log.path) for log in experiment.jobs)
    if not any(job.recognised for job in jobs):
        raise DataError(
            "No recognised line in any log",
            where=where,
            expected="SkyRL, vLLM, Harbor or SLURM lines (text, gzip or zstd)",
            do="check that these are job logs and not other files; `rl-pipeline discover` shows what was seen",
            slug="no-recognised-line",
        )
    if not any(job.tables["step_metrics"].num_rows for job in jobs):
        raise DataError(
            "No metric block in any log",
            where=where,
            expected="`Step N: ` blocks of SkyRL's console logger or WANDB_MIRROR lines",
            do="switch on the console tracker (trainer.logger includes console), or wait for the first step",
            slug="no-metric-block",
        )
