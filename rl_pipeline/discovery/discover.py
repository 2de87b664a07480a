"""From paths that someone gave to experiments and jobs, with every problem told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from rl_pipeline.addresses import address, is_elsewhere
from rl_pipeline.discovery.contents import doubles, unreadable
from rl_pipeline.discovery.disk import Disk
from rl_pipeline.discovery.file_names import LogPattern
from rl_pipeline.discovery.folders import FILES, LogFolder
from rl_pipeline.discovery.found import Discovery, ExperimentOnDisk, JobLog, Problem
from rl_pipeline.discovery.grouping import group
from rl_pipeline.discovery.inventory import Inventory, SeenFile, SeenFolder, scan
from rl_pipeline.discovery.trial_roots import checked_trial_roots, trial_roots_of
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.places import PlaceError, entries, exists, is_file, is_folder

_NO_LIMIT = 1 << 62


def discover(
    inputs: Sequence[Path],
    *,
    patterns: Sequence[LogPattern] = (),
    experiment: str | None = None,
    trace_jobs: Sequence[Path] = (),
) -> Discovery:
    """Find the experiments and jobs under the given paths.

    Args:
        inputs: experiments roots, experiment folders, folders of logs, log files; any mixture.
        patterns: configured ways of naming logs, besides the usual ones.
        experiment: only the experiment of this name; when there is none, the one name of all logs.
        trace_jobs: folders of trials besides those in the usual places.

    Returns:
        What was found, with the paths that were left out and why.

    Raises:
        ConfigurationError: an input or a trial folder does not exist.
    """
    extra_roots = checked_trial_roots(trace_jobs)
    for path in inputs:
        _must_exist(path)
    folders = [path for path in inputs if is_folder(path)]
    files = [path.absolute() for path in inputs if path not in folders]
    roots = [path.absolute() for path in folders]
    look = scan(roots, now=0.0, patterns=patterns, most_stats=_NO_LIMIT)
    no_files = [path for path in files if not is_file(path)]
    inventory = replace(look, folders=_without_repeats((*look.folders, *_pointed_at(files))))
    grouped = group(inventory, patterns=patterns, experiment=experiment)
    problems = [*_unlisted(look), *grouped.problems, *_roots_without_logs(roots, inventory)]
    problems += [Problem(path, "neither a file nor a folder", "point at job logs") for path in no_files]
    shared = _shared_folders(group(inventory, patterns=patterns), grouped)
    examined = [_examined(item, problems) for item in grouped.experiments]
    found = tuple(_with_trials(item, shared, extra_roots) for item in examined if item.jobs)
    return Discovery(found, tuple(problems))


def examined(grouped: Discovery, keys: Collection[str]) -> Discovery:
    """Some of the experiments that `group` found, as `discover` gives them: logs looked into, trial folders found.

    Args:
        grouped: everything that lies under the roots.
        keys: partition keys of the experiments that are wanted.
    """
    problems: list[Problem] = []
    shared = _shared_folders(grouped, grouped)
    found = [_examined(item, problems) for item in grouped.experiments if item.key in keys]
    return Discovery(tuple(_with_trials(item, shared, ()) for item in found if item.jobs), tuple(problems))


def _must_exist(path: Path) -> None:
    try:
        if exists(path):
            return
    except PlaceError as error:
        raise error.told from error
    dangling = path.is_symlink()
    raise ConfigurationError(
        "the link leads nowhere" if dangling else "no such file or folder",
        where=address(path),
        expected="an experiments root, an experiment's folder, a folder of job logs, or log files",
        do="correct the path" + (f" ({address(path.parent)} does not exist either)" if _is_lost(path) else ""),
        slug="missing-path",
    )


def _is_lost(path: Path) -> bool:
    """Whether not even the folder above it is there."""
    if not is_elsewhere(path):
        return not path.parent.exists()
    return is_elsewhere(path.parent) and not is_folder(path.parent)


def _pointed_at(files: Sequence[Path]) -> list[SeenFolder]:
    """Files given one by one, as folders that hold only these."""
    disk = Disk()
    by_folder: dict[Path, dict[str, SeenFile]] = {}
    for path in files:
        facts = disk.facts(path.as_posix())
        if facts is not None:
            by_folder.setdefault(path.parent, {})[path.name] = SeenFile(*facts, since=0.0)
    return [
        SeenFolder(LogFolder(folder.as_posix(), folder.as_posix(), FILES), seen) for folder, seen in by_folder.items()
    ]


def _without_repeats(folders: Sequence[SeenFolder]) -> tuple[SeenFolder, ...]:
    """Each log once, also when the inputs overlap (a root, and a file below it)."""
    paths: set[str] = set()
    kept: list[SeenFolder] = []
    for seen in folders:
        fresh = {name: file for name, file in seen.files.items() if f"{seen.folder.path}/{name}" not in paths}
        paths.update(f"{seen.folder.path}/{name}" for name in fresh)
        if fresh:
            kept.append(SeenFolder(seen.folder, fresh))
    return tuple(kept)


def _unlisted(look: Inventory) -> list[Problem]:
    errors = look.errors or {}
    return [
        Problem(Path(path), f"cannot be looked at: {error}", "check the path and its permissions")
        for path, error in sorted(errors.items())
    ]


def _roots_without_logs(roots: Sequence[Path], inventory: Inventory) -> list[Problem]:
    with_logs = [Path(seen.folder.path) for seen in inventory.folders]
    problems = []
    for root in roots:
        if not any(folder.is_relative_to(root) for folder in with_logs):
            problems.append(
                Problem(
                    root,
                    "the folder is empty" if _is_empty(root) else "the folder holds no job log",
                    "point at an experiments root (<experiment>/logs/<name>_<job id>.out), a folder of such files, "
                    "or a file; other names are told by RL_PIPELINE_LOG_PATTERNS",
                )
            )
    return problems


def _is_empty(root: Path) -> bool:
    try:
        return not any(entries(root) if is_elsewhere(root) else root.iterdir())
    except OSError:  # `_unlisted` tells of it
        return False


def _shared_folders(everything: Discovery, chosen: Discovery) -> frozenset[Path]:
    """Folders with logs of several experiments, whose trials must not be given to each of them."""
    names = {item.experiment for item in everything.experiments}
    if any(item.experiment not in names for item in chosen.experiments):
        return frozenset()  # all logs were given one name
    count = Counter(folder for item in everything.experiments for folder in item.folders)
    return frozenset(folder for folder, experiments in count.items() if experiments > 1)


def _examined(item: ExperimentOnDisk, problems: list[Problem]) -> ExperimentOnDisk:
    """The experiment without the logs that cannot be read or are there twice."""
    readable: list[JobLog] = []
    for job in item.jobs:
        problem = unreadable(job.path)
        if problem is None:
            readable.append(job)
        else:
            problems.append(problem)
    twice = doubles(readable)
    for job, original in twice.items():
        problems.append(
            Problem(
                job.path,
                f"same content as {original.path.name}, left out: {job.job} and {original.job} are one log",
                "remove or rename one of the two",
            )
        )
    return replace(item, jobs=tuple(job for job in readable if job not in twice))


def _with_trials(item: ExperimentOnDisk, shared: frozenset[Path], extra: tuple[Path, ...]) -> ExperimentOnDisk:
    roots = [*trial_roots_of(item, shared), *extra]
    return replace(item, trial_roots=tuple(dict.fromkeys(roots)))
