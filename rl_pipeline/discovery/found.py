"""What discovery hands on: experiments, their jobs, and what was left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from rl_pipeline.addresses import address
from rl_pipeline.errors import ConfigurationError, DataError, shown
from rl_pipeline.wording import plural

LISTED = 20


def printable(name: object) -> str:
    """A path or name as a terminal and a table may have it: no control characters, no half characters.

    File names are bytes that anybody chose; they can hold escape sequences and what is no UTF-8.
    """
    text = (
        (address(name) if isinstance(name, PurePath) else str(name))
        .encode("utf-8", "surrogateescape")
        .decode("utf-8", "replace")
    )
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLog:
    """One job log on disk. `job` is the short published name (`job_<scheduler id>`, else the file's stem)."""

    experiment: str
    experiment_key: str
    job: str
    job_key: str
    path: Path
    size_bytes: int
    mtime_ns: int
    job_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentOnDisk:
    """One experiment: its jobs in the order of their ids, and the folders that trials are read from.

    `folders` are the experiment's own folders (where runs, trials and checkpoints are looked for).
    """

    experiment: str
    key: str
    jobs: tuple[JobLog, ...]
    trial_roots: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that was left out or looks wrong: what it is, and what can be done."""

    path: Path
    what: str
    do: str = ""

    def __str__(self) -> str:
        return f"{self.what}\n  where: {printable(self.path)}" + (f"\n  do: {self.do}" if self.do else "")


@dataclass(frozen=True, slots=True)
class Discovery:
    """All experiments found, in the order of their names, and the problems met."""

    experiments: tuple[ExperimentOnDisk, ...] = ()
    problems: tuple[Problem, ...] = ()

    def some(self) -> tuple[ExperimentOnDisk, ...]:
        """The experiments; DataError when there is none, with every reason found."""
        if self.experiments:
            return self.experiments
        where = ", ".join(printable(problem.path) for problem in self.problems[:LISTED])
        reasons = "; ".join(dict.fromkeys(problem.what for problem in self.problems[:LISTED]))
        todo = "; ".join(dict.fromkeys(problem.do for problem in self.problems[:LISTED] if problem.do))
        raise DataError(
            f"no job log to read: {reasons or 'nothing was given'}",
            where=where,
            expected="files named <name>_<job id>.out (also -, .log, .err, .gz, .zst) or slurm-<job id>.out",
            do=todo or "point at a folder of job logs, or at a log file itself",
            slug="no-job-logs",
        )

    def only(self) -> ExperimentOnDisk:
        """The one experiment; ConfigurationError when the inputs hold several."""
        experiments = self.some()
        if len(experiments) == 1:
            return experiments[0]
        names = ", ".join(f"{found.experiment} ({plural(len(found.jobs), 'job')})" for found in experiments[:LISTED])
        more = f" and {len(experiments) - LISTED} more" if len(experiments) > LISTED else ""
        raise ConfigurationError(
            f"the logs belong to {len(experiments)} experiments: {names}{more}",
            where=printable(experiments[0].jobs[0].path.parent),
            expected="the logs of one experiment",
            do=f"name one of them (--experiment {shown(experiments[0].experiment)[1:-1]}), point at one experiment's "
            "folder or files, or give all of them one new name with --experiment NAME",
            slug="several-experiments",
        )
