"""`rl-pipeline report`: logs and trials of one experiment to its bundle, without a Dagster instance."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rl_pipeline.addresses import address, is_elsewhere
from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report_state import ReportState, inputs_of
from rl_pipeline.discovery import ExperimentOnDisk, discover, parse_log_pattern
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report.output_folder import require_writable, work_folder
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
    force: bool = False


def run(request: ReportRequest) -> None:
    """Say that the report is current when it is, else make it.

    Raises:
        ConfigurationError: a path is wrong, or LOGS hold more than one experiment.
        DataError: nothing readable.
    """
    progress, settings = Progress(quiet=request.quiet), Settings.from_environment(os.environ)
    if is_elsewhere(request.out):
        raise ConfigurationError(
            "a report is written to a folder of this machine",
            where=address(request.out),
            expected="a path",
            do="give a path as the last argument, and copy the folder afterwards",
            slug="report-elsewhere",
        )
    require_writable(request.out)
    thresholds = request.thresholds or settings.thresholds
    experiment = chosen_experiment(request, settings, progress)
    state = ReportState(request.out)
    inputs = digest_of(experiment, thresholds, state)
    since = None if inputs is None or request.force else state.current_since(inputs)
    if since is not None:
        progress.say(f"nothing changed since {since:%Y-%m-%d %H:%M} UTC, the report is current")
    else:
        from rl_pipeline.commands.report_stages import Making, make_report

        with work_folder(request.out) as work:
            files = make_report(
                Making(
                    experiment=experiment,
                    thresholds=thresholds,
                    out=request.out,
                    work=work,
                    quiet=request.quiet,
                    force=request.force,
                )
            )
        if inputs is not None:
            state.remember(inputs, files)
        progress.say(f"{len(files)} files written")
    progress.say(f"page: {request.out / 'report.html'}")
    progress.say(f"report: {request.out / 'metrics_report.md'}")


def digest_of(experiment: ExperimentOnDisk, thresholds: Path | None, state: ReportState) -> str | None:
    """What the report depends on; None when a file cannot be looked at, which reading it will tell."""
    try:
        return inputs_of(experiment, b"" if thresholds is None else thresholds.read_bytes(), state.leaves)
    except OSError:
        return None


def chosen_experiment(request: ReportRequest, settings: Settings, progress: Progress) -> ExperimentOnDisk:
    """The one experiment that the request means; problems met on the way are told."""
    patterns = [parse_log_pattern(text) for text in settings.log_patterns]
    found = discover(request.logs, patterns=patterns, experiment=request.experiment, trace_jobs=request.trace_jobs)
    for problem in found.problems:
        progress.warn(f"note: {problem}")
    return found.only()
