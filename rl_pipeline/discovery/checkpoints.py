"""Checkpoints and exports that lie on disk now (SkyRL and MarinSkyRL layout).

    <checkpoints>/latest_ckpt_global_step.txt     the last complete one, written after its folder
    <checkpoints>/global_step_40/…
    <exports>/global_step_40/policy/…

Old folders are pruned, so what is on disk is no history. A folder above the pointer's number was cut
off in the middle of a save; without a pointer nobody can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rl_pipeline.discovery.disk import Disk
from rl_pipeline.discovery.folders import LOGS, TRIAL_FOLDER
from rl_pipeline.places import open_binary

POINTER = "latest_ckpt_global_step.txt"
_CHECKPOINTS, _EXPORTS = frozenset({"checkpoints", "ckpts", "checkpoint"}), frozenset({"exports", "export"})
_STEP_FOLDER = re.compile(r"global_step_(\d{1,12})")
_POINTER_TEXT = re.compile(rb"\s*(\d{1,12})\s*")
_LEVELS = 2
_MOST_RUNS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOnDisk:
    """One step with something on disk.

    `complete` is null when there is no pointer file to tell; `is_pointer` marks the one that a resume
    would load. `checkpoint` and `export` are the folders, null where there is none.
    """

    step: int
    checkpoint: Path | None = None
    export: Path | None = None
    complete: bool | None = None
    is_pointer: bool = False


def checkpoint_steps(logs: Iterable[Path]) -> frozenset[int] | None:
    """Steps whose checkpoints or exports lie beside these logs; None when none is found, so nobody can tell.

    A checkpoint that was cut in the middle of its save does not count.
    """
    folders = {log.parent.parent if log.parent.name == "logs" else log.parent for log in logs}
    found = [item for folder in sorted(folders) for item in find_checkpoints(folder)]
    steps = frozenset(item.step for item in found if item.export or (item.checkpoint and item.complete is not False))
    return steps or None


def find_checkpoints(experiment_folder: Path) -> tuple[CheckpointOnDisk, ...]:
    """All steps with a checkpoint or an export below an experiment's folder, by step."""
    disk = Disk()
    found: dict[int, CheckpointOnDisk] = {}
    exports: dict[int, Path] = {}
    for kind, folder in _places(disk, experiment_folder.as_posix(), _LEVELS):
        steps = _steps(disk, folder)
        if kind in _EXPORTS:
            exports |= steps
            continue
        pointer = _pointer(Path(folder, POINTER))
        if pointer is not None:  # a pointer to a pruned or moved folder is still the step to resume from
            found.setdefault(pointer, CheckpointOnDisk(step=pointer, complete=False, is_pointer=True))
        for step, path in steps.items():
            complete = None if pointer is None else step <= pointer
            found[step] = CheckpointOnDisk(step=step, checkpoint=path, complete=complete, is_pointer=step == pointer)
    return tuple(_with_export(step, found.get(step), exports.get(step)) for step in sorted(found.keys() | exports))


def _with_export(step: int, checkpoint: CheckpointOnDisk | None, export: Path | None) -> CheckpointOnDisk:
    if checkpoint is None:
        return CheckpointOnDisk(step=step, export=export)
    return CheckpointOnDisk(
        step=step,
        checkpoint=checkpoint.checkpoint,
        export=export,
        complete=checkpoint.complete,
        is_pointer=checkpoint.is_pointer,
    )


def _places(disk: Disk, folder: str, levels: int) -> Iterator[tuple[str, str]]:
    """Checkpoint and export folders of an experiment and its runs, as (name, path)."""
    listing = disk.listing(folder)
    if listing is None or len(listing.folders) > _MOST_RUNS:
        return
    for name in listing.folders:
        if name.lower() in _CHECKPOINTS | _EXPORTS:
            yield name.lower(), f"{folder}/{name}"
        elif levels and name not in (TRIAL_FOLDER, LOGS):
            yield from _places(disk, f"{folder}/{name}", levels - 1)


def _steps(disk: Disk, folder: str) -> dict[int, Path]:
    listing = disk.listing(folder)
    matches = [(name, _STEP_FOLDER.fullmatch(name)) for name in (listing.folders if listing else ())]
    return {int(match[1]): Path(folder, name) for name, match in matches if match}


def _pointer(path: Path) -> int | None:
    try:
        with open_binary(path) as stream:
            match = _POINTER_TEXT.fullmatch(stream.read(64))
    except OSError:
        return None
    return int(match[1]) if match else None
