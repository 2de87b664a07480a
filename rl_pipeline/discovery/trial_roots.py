"""Where the trials of an experiment lie: every `trace_jobs` folder in the usual places.

`<experiment>/trace_jobs`, `<experiment>/<run>/trace_jobs` and `<experiment>/<run>/<run>/trace_jobs`. A folder with job
logs of its own is no run but another experiment, whose trials are its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rl_pipeline.addresses import address
from rl_pipeline.discovery.disk import Disk
from rl_pipeline.discovery.file_names import without_companions
from rl_pipeline.discovery.folders import LOGS, TRIAL_FOLDER
from rl_pipeline.discovery.found import ExperimentOnDisk
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.places import PlaceError, exists, is_folder

_NOT_A_RUN = frozenset({TRIAL_FOLDER, LOGS, "checkpoints", "ckpts", "exports", "dumped_data", "wandb"})
# An experiment has a few runs; a folder with more inside is full of something else.
_MOST_RUNS = 1_000


def find_trial_roots(folders: Iterable[Path], disk: Disk | None = None) -> tuple[Path, ...]:
    """The trial folders below an experiment's folders, in the order of their paths."""
    look = disk or Disk()
    found = {path for folder in folders for path in _below(look, folder.as_posix(), levels=2)}
    return tuple(Path(path) for path in sorted(found))


def trial_roots_of(item: ExperimentOnDisk, shared: Collection[Path] = ()) -> tuple[Path, ...]:
    """The trial folders of one experiment.

    A folder whose name is not the experiment's may be a flat folder of logs; the experiment's own folder is
    then looked for inside it and beside it. From a folder that several experiments share (`shared`)
    nothing else is taken, since nobody could say whose trials these are.
    """
    name = item.experiment
    by_name = "/" not in name and name not in ("", ".", "..")  # a name must not lead out of the folder
    places: list[Path] = []
    for folder in item.folders:
        if folder not in shared:
            places.append(folder)
        if by_name and folder.name != name:
            places += [folder / name, folder.parent / name]
    found = find_trial_roots(dict.fromkeys(places))
    flat = {job.path.parent for job in item.jobs} & set(item.folders)
    beside = [folder.parent / TRIAL_FOLDER for folder in item.folders if folder in flat and folder not in shared]
    return found or tuple(path for path in dict.fromkeys(beside) if _is_there(path))


def _is_there(path: Path) -> bool:
    """Whether it is a folder that may be looked at; beside a bucket there may be those of others."""
    with suppress(OSError):
        return is_folder(path)
    return False


def _below(disk: Disk, folder: str, levels: int) -> Iterator[str]:
    listing = disk.listing(folder)
    if listing is None:
        return
    if TRIAL_FOLDER in listing.folders:
        yield f"{folder}/{TRIAL_FOLDER}"
    runs = [name for name in listing.folders if name.lower() not in _NOT_A_RUN]
    if levels and len(runs) <= _MOST_RUNS:
        for run in runs:
            if not _is_experiment(disk, f"{folder}/{run}"):
                yield from _below(disk, f"{folder}/{run}", levels - 1)


def _is_experiment(disk: Disk, folder: str) -> bool:
    """Whether a folder holds a folder of job logs."""
    logs = disk.listing(f"{folder}/{LOGS}")
    return logs is not None and bool(without_companions(logs.files))


def checked_trial_roots(given: Sequence[Path]) -> tuple[Path, ...]:
    """Trial folders that someone named; ConfigurationError when one is not there."""
    for path in given:
        try:
            is_there = is_folder(path)
        except PlaceError as error:
            raise error.told from error
        if not is_there:
            raise ConfigurationError(
                "no such trial folder" if not exists(path) else "the trial folder is a file",
                where=address(path),
                expected="a folder with one folder per trial, each with a result.json",
                do="correct the path given with --trace-jobs",
                slug="missing-trial-folder",
            )
    return tuple(dict.fromkeys(path.absolute() for path in given))
