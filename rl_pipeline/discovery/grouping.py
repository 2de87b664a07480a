"""Log files to experiments and jobs, from names and file facts alone.

The experiment of a log, in this order: what a configured pattern names; the experiment's folder below a
root (with or without a `logs` level); the name part of the file. Two cases differ. An experiment's folder
whose files carry several unrelated names holds several experiments mixed together, so the names count. And
a folder that someone points at directly may be any folder, also one that happens to be called `logs`:
its files' names count there, unless they are generic (`slurm-…`) or continue the folder's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rl_pipeline.discovery.file_names import LogName, LogPattern
from rl_pipeline.discovery.folders import CHILD, LOGS, LogFolder, job_logs
from rl_pipeline.discovery.found import Discovery, ExperimentOnDisk, JobLog, Problem, printable
from rl_pipeline.discovery.inventory import Inventory, SeenFile
from rl_pipeline.discovery.keys import job_key, partition_key

_DIGITS = re.compile(r"([0-9]+)")


class Candidate(NamedTuple):
    """A log with everything its name and place say."""

    experiment: str
    name: LogName
    path: Path
    file: SeenFile
    folder: Path


def group(inventory: Inventory, *, patterns: Sequence[LogPattern] = (), experiment: str | None = None) -> Discovery:
    """The experiments in an inventory, without looking at the disk.

    Args:
        inventory: what a look at the roots found.
        patterns: the configured patterns that the look used.
        experiment: only the experiment of this name; when there is none, the one name of all logs.
    """
    candidates: list[Candidate] = []
    problems: list[Problem] = []
    for seen in inventory.folders:
        logs = job_logs(seen.folder, seen.files, patterns)
        names = {name: printable(found) for name, found in experiment_names(seen.folder, logs).items()}
        folder = Path(seen.folder.owner)
        for name, log in logs.items():
            path = Path(seen.folder.path, name)
            if seen.files[name].size_bytes == 0:
                problems.append(Problem(path, "empty file, left out", "nothing to do if the job died before it began"))
            else:
                candidates.append(Candidate(names[name], log, path, seen.files[name], folder))
    return _discovery(_asked_for(candidates, experiment), problems)


def _asked_for(candidates: list[Candidate], experiment: str | None) -> list[Candidate]:
    if experiment is None:
        return candidates
    named = [c for c in candidates if experiment in (c.experiment, partition_key(c.experiment))]
    return named or [candidate._replace(experiment=experiment) for candidate in candidates]


def experiment_names(folder: LogFolder, logs: Mapping[str, LogName]) -> dict[str, str]:
    """The experiment of every log of one folder."""
    owner = folder.owner.name or LOGS
    parts = {log.experiment for log in logs.values() if log.experiment is not None and not log.by_pattern}
    by_folder = _folder_names_it(folder, parts, owner)
    names: dict[str, str] = {}
    for name, log in logs.items():
        by_name = log.experiment is not None and (log.by_pattern or not by_folder)
        names[name] = log.experiment if by_name and log.experiment is not None else owner
    return names


def _folder_names_it(folder: LogFolder, parts: set[str], owner: str) -> bool:
    """Whether the folder's name, rather than the files' names, is the experiment."""
    related = all(_related(part, owner) for part in parts)
    if folder.kind in (LOGS, CHILD):
        return related or len(parts) == 1
    if Path(folder.path).name.lower() == LOGS:
        return related
    return not parts


def _related(part: str, owner: str) -> bool:
    """Whether one name continues the other at a separator: `demo` and `demo-resumed`."""
    short, long = sorted((part, owner), key=len)
    return long.startswith(short) and (len(long) == len(short) or long[len(short)] in "._-")


def _discovery(candidates: Iterable[Candidate], problems: list[Problem]) -> Discovery:
    by_experiment: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_experiment.setdefault(candidate.experiment, []).append(candidate)
    experiments = []
    for name in sorted(by_experiment):
        jobs, doubles = _one_per_job(by_experiment[name])
        problems += doubles
        folders = tuple(dict.fromkeys(job.folder for job in by_experiment[name]))
        if len(folders) > 1:
            problems.append(
                Problem(
                    folders[1],
                    f"experiment {name} has logs in {len(folders)} places; they are read as one experiment",
                    f"rename one of them if they are different runs (also: {printable(folders[0])})",
                )
            )
        logs = tuple(_job_log(candidate) for candidate in jobs)
        experiments.append(ExperimentOnDisk(experiment=name, key=partition_key(name), jobs=logs, folders=folders))
    return Discovery(tuple(experiments), tuple(problems))


def _one_per_job(candidates: list[Candidate]) -> tuple[list[Candidate], list[Problem]]:
    """One log per job id, in the order of the ids; plain files win over compressed ones."""
    kept: dict[str, Candidate] = {}
    inodes: dict[tuple[int, int, int], Candidate] = {}
    problems: list[Problem] = []
    for candidate in sorted(candidates, key=_preference):
        file = candidate.file
        same = kept.get(candidate.name.job) or inodes.get((file.inode, file.size_bytes, file.mtime_ns))
        if same is None:
            kept[candidate.name.job] = candidate
            inodes[file.inode, file.size_bytes, file.mtime_ns] = candidate
        elif same.path != candidate.path:
            problems.append(
                Problem(
                    candidate.path,
                    f"second log of {same.name.job}, left out; {same.path.name} is read",
                    f"remove or rename one of the two (the other: {printable(same.path)})",
                )
            )
    return sorted(kept.values(), key=lambda candidate: natural(candidate.name.job)), problems


def _preference(candidate: Candidate) -> tuple[bool, bool, tuple[tuple[int, int, str], ...], str]:
    """Sort key: plain before compressed, names with an experiment before generic ones, then id and path."""
    packed = candidate.path.suffix in (".gz", ".zst")
    return packed, candidate.name.experiment is None, natural(candidate.name.job), candidate.path.as_posix()


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that orders numbers inside a text as numbers: job_99 before job_100."""
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(text) if part)


def _job_log(candidate: Candidate) -> JobLog:
    name = candidate.name
    return JobLog(
        experiment=candidate.experiment,
        experiment_key=partition_key(candidate.experiment),
        job=partition_key(name.job),
        job_key=job_key(candidate.experiment, name.job_id if name.job_id is not None else name.job),
        path=candidate.path,
        size_bytes=candidate.file.size_bytes,
        mtime_ns=candidate.file.mtime_ns,
        job_id=name.job_id,
    )
