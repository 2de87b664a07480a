"""`rl-pipeline report`: logs and trials of one experiment to its bundle, without a Dagster instance."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rl_pipeline.addresses import address, is_elsewhere
from rl_pipeline.commands.named_experiment import only_named
from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report_processes import ReportProcesses
from rl_pipeline.commands.report_state import Inputs, ReportState, trials_now
from rl_pipeline.discovery import ExperimentOnDisk, discover, parse_log_pattern
from rl_pipeline.discovery.found import printable
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.report.output_folder import FileState, require_writable, work_folder
from rl_pipeline.settings import Settings
from rl_pipeline.thresholds_file import ThresholdsFile, read_thresholds_file
from rl_pipeline.wording import plural


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


def run(request: ReportRequest, processes: ReportProcesses | None = None) -> None:
    """Say that the report is current when it is, else make it.

    Args:
        request: what is asked for.
        processes: those that were started ahead; None starts them when they are needed.

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
    require_other_folder(request.out, (*request.logs, *request.trace_jobs))
    require_writable(request.out)
    given = request.thresholds or settings.thresholds
    thresholds = None if given is None else read_thresholds_file(given)
    experiment = chosen_experiment(request, settings, progress)
    require_other_folder(request.out, {job.path.parent for job in experiment.jobs}, experiment.trial_roots)
    looking = Looking(experiment, thresholds, ReportState(request.out), force=request.force)
    since = looking.current_since()
    if since is not None:
        progress.say(f"nothing changed since {since:%Y-%m-%d %H:%M} UTC, the report is current")
    else:
        tell_unfinished(experiment, settings, progress)
        with nullcontext(processes) if processes is not None else ReportProcesses() as ready:
            make(request, experiment, thresholds, looking, progress, ready)
    progress.say(f"page: {request.out / 'report.html'}")
    progress.say(f"report: {request.out / 'metrics_report.md'}")


def tell_unfinished(experiment: ExperimentOnDisk, settings: Settings, progress: Progress) -> None:
    """Say of which jobs the report tells the part that is written so far."""
    youngest = max((job.mtime_ns for job in experiment.jobs), default=0) / 1e9
    if time.time() - youngest >= 60 * settings.quiet_minutes:
        return  # no log is opened for this
    from rl_pipeline.commands.discover import states_of

    states = states_of(experiment, settings)
    for job in experiment.jobs:
        if not states[job.job_key].finished:
            progress.say(
                f"{job.path.name} has not finished ({states[job.job_key].evidence}): what is written so far is reported"
            )


def require_other_folder(out: Path, inputs: Iterable[Path], trial_roots: Iterable[Path] = ()) -> None:
    """Refuse to write into an input.

    Args:
        out: folder of the report.
        inputs: files and folders that it must not be.
        trial_roots: folders that it must not be and not lie in: everything there is looked at as a trial.

    Raises:
        ConfigurationError: it is one.
    """
    real = os.path.realpath(out)
    root = next((root for root in _real_paths(trial_roots) if f"{real}/".startswith(f"{root.rstrip('/')}/")), None)
    if root is None and real not in _real_paths(inputs):
        return
    place = Path(root).parent if root is not None else out if _is_folder(out) else out.parent
    raise ConfigurationError(
        "the report would be written among its inputs",
        where=str(out),
        expected="a folder of its own as the last argument; one below the experiment's is fine",
        do=f"name another one, such as {place / 'report'}",
        slug="output-is-input",
    )


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - no error, whatever the name is like


def _real_paths(paths: Iterable[Path]) -> list[str]:
    return [os.path.realpath(path) for path in paths if not is_elsewhere(path)]


def make(
    request: ReportRequest,
    experiment: ExperimentOnDisk,
    thresholds: ThresholdsFile | None,
    looking: Looking,
    progress: Progress,
    processes: ReportProcesses,
) -> None:
    """Make the report and remember from what."""
    from rl_pipeline.commands.report_stages import Making, make_report

    with work_folder(request.out) as work:
        making = Making(
            experiment=experiment,
            thresholds=thresholds,
            out=request.out,
            work=work,
            quiet=request.quiet,
            force=request.force,
        )
        made = make_report(making, processes)
    looking.remember(made.files, made.trials)
    progress.say(f"{plural(len(made.files), 'file')} written")


class Looking:
    """Looks at what the report depends on.

    At trials only where an earlier report may be current: else they are read, and whoever reads them says in which
    state they were. A file that cannot be looked at is no error here: reading it will tell.

    Args:
        experiment: what lies on disk.
        thresholds: what was read of the file of thresholds.
        state: of the earlier report.
        force: whether an earlier report counts as none.
    """

    def __init__(
        self, experiment: ExperimentOnDisk, thresholds: ThresholdsFile | None, state: ReportState, *, force: bool
    ) -> None:
        self._state, self._is_asked = state, state.is_there and not force
        self._roots = experiment.trial_roots
        self._inputs: Inputs | None = None
        with suppress(OSError):
            self._inputs = Inputs(experiment, thresholds)

    def current_since(self) -> datetime | None:
        """When the earlier report was made, if a new one would be the same."""
        if self._inputs is not None and self._is_asked:
            with suppress(OSError):
                return self._state.current_since(self._inputs.digest(trials_now(self._roots, self._state.leaves)))
        return None

    def remember(self, files: Mapping[str, FileState], trials: str) -> None:
        """The report was made from what was looked at and from these trials, and these are its files."""
        if self._inputs is not None:
            self._state.remember(self._inputs.digest(trials), files)


def chosen_experiment(request: ReportRequest, settings: Settings, progress: Progress) -> ExperimentOnDisk:
    """The one experiment that the request means; problems met on the way are told.

    A name that none of several experiments in a folder has is a mistake; logs named one by one may be given any name.
    """
    patterns = [parse_log_pattern(text) for text in settings.log_patterns]
    logs = [_lasting(path) for path in request.logs]
    name = None if request.experiment is None else printable(request.experiment)  # as names of folders are read
    if name is not None and any(map(_is_folder, logs)):
        all_found = discover(logs, patterns=patterns, trace_jobs=request.trace_jobs)
        if len(all_found.experiments) > 1:
            only_named(all_found, name)
    found = discover(logs, patterns=patterns, experiment=name, trace_jobs=request.trace_jobs)
    for problem in found.problems:
        progress.warn(f"note: {problem}")
    return found.only()


def _lasting(path: Path) -> Path:
    """A path that means the same file in every process; `/dev/stdin` is another one in each."""
    return Path(os.path.realpath(path)) if str(path).startswith(("/dev/", "/proc/")) else path
