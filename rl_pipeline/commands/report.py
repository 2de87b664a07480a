"""`rl-pipeline report`: logs and trials of one experiment to its bundle, without a Dagster instance."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rl_pipeline import pipeline
from rl_pipeline.commands.progress import Progress
from rl_pipeline.discovery import ExperimentOnDisk, discover, parse_log_pattern
from rl_pipeline.errors import DataError
from rl_pipeline.report.bundle import require_writable
from rl_pipeline.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """What the command line asked for."""

    logs: tuple[Path, ...]
    out: Path
    trace_jobs: tuple[Path, ...] = ()
    experiment: str | None = None
    thresholds: Path | None = None
    quiet: bool = False


def run(request: ReportRequest) -> None:
    """Read, analyse, write; earlier output stays as it was unless everything succeeded.

    Raises:
        ConfigurationError: a path is wrong, or LOGS hold more than one experiment.
        DataError: nothing readable.
    """
    progress, settings = Progress(quiet=request.quiet), Settings.from_environment(os.environ)
    require_writable(request.out)
    thresholds = pipeline.load_thresholds(request.thresholds or settings.thresholds)
    experiment = chosen_experiment(request, settings, progress)
    jobs = [read_job(log, progress) for log in experiment.jobs]
    require_metrics(experiment, jobs)
    with progress.bar("reading trials", None, " trials") as advance:
        trials = pipeline.read_experiment_trials(experiment.trial_roots, jobs, on_progress=advance)
    progress.say(f"{trials.trials.num_rows:,} trials read, {trials.skipped.num_rows:,} folders skipped")
    frames = pipeline.load_frames(experiment.experiment, jobs, trials)
    progress.say("analysing")
    on_disk = pipeline.checkpoint_steps(log.path for log in experiment.jobs)
    result = pipeline.analyse_experiment(frames, thresholds, checkpoints_on_disk=on_disk)
    bundle = pipeline.render_report(result, frames, request.out)
    progress.say(f"{len(bundle.files)} files written")
    progress.say(f"page: {request.out / 'report.html'}")
    progress.say(f"report: {request.out / 'metrics_report.md'}")


def chosen_experiment(request: ReportRequest, settings: Settings, progress: Progress) -> ExperimentOnDisk:
    """The one experiment that the request means; problems met on the way are told."""
    patterns = [parse_log_pattern(text) for text in settings.log_patterns]
    found = discover(request.logs, patterns=patterns, experiment=request.experiment, trace_jobs=request.trace_jobs)
    for problem in found.problems:
        progress.warn(f"note: {problem}")
    return found.only()


def read_job(log: pipeline.JobLog, progress: Progress) -> pipeline.JobTables:
    """Parse one log under a bar of its bytes."""
    with progress.bar(f"reading {log.path.name}", log.size_bytes, "B") as advance:
        return pipeline.parse_job(log, on_bytes=advance)


def require_metrics(experiment: ExperimentOnDisk, jobs: list[pipeline.JobTables]) -> None:
    """Refuse to write a report about nothing.

    Raises:
        DataError: no log holds a single recognised line, or none holds a metric block.
    """
    where = ", ".join(str(log.path) for log in experiment.jobs)
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
