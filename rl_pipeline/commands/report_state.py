"""What a report was made from, remembered beside it: whether a new one would be the same, and what can be used again.

    <out>/.rl_pipeline_state/report.json     a digest of everything the report depends on, and its files
                            /trial_folders   names of folders that need not be listed again
                            /tables/…        tables of each log and what was read of trials (table store)

What it depends on: each log and each trial file by size, time and inode, the checkpoints on disk, the name of the
experiment, the thresholds, and the program with its libraries. A file counts as unchanged when all of that is equal,
the usual rule of build tools. When anything is doubtful the report is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from importlib import metadata
from itertools import islice
from operator import attrgetter
from pathlib import Path

from rl_pipeline import __version__
from rl_pipeline.addresses import address, is_elsewhere
from rl_pipeline.commands.state_names import STATE_FILE, STATE_FOLDER
from rl_pipeline.discovery import ExperimentOnDisk, JobLog, checkpoint_steps
from rl_pipeline.places import file_facts
from rl_pipeline.reader.trial_folders import NotRead, TrialFile
from rl_pipeline.report.output_folder import FileState, file_state
from rl_pipeline.thresholds_file import ThresholdsFile
from rl_pipeline.trial_files.elsewhere import distinct_roots, trials_below
from rl_pipeline.trial_files.seen import Seen, States

LEAVES_FILE = "trial_folders"
TOGETHER = 1024  # names that are written in one go
STATE_VERSION = 4
PACKAGE = Path(__file__).resolve().parents[1]
# Code and templates; in a checkout the templates lie beside the package.
PROGRAM = (PACKAGE, PACKAGE.parent / "templates")
PROGRAM_FILES = frozenset(
    {".py", ".c", ".so", ".digest", ".yaml", ".md", ".html", ".css", ".js", ".json", ".svg", ".txt"}
)
LIBRARIES = (
    "numpy", "scipy", "pandas", "pyarrow", "msgspec", "jinja2", "markupsafe", "vl-convert-python", "zlib-ng",
    "zstandard", "blake3", "fsspec", "pyyaml",
)  # fmt: skip


class KnownLeaves:
    """Folders that were found to be trials with no other trial below, by root.

    Such a folder is asked for its time and that of its file instead of being listed; the ledger of trials goes by the
    same rule. Names stand in a file, one after the other.

    Args:
        file: where they are kept; None keeps nothing.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    def below(self, root: Path) -> frozenset[str]:
        """The names below a root, relative to it."""
        try:
            text = b"" if self._file is None else self._file.read_bytes()
        except OSError:
            return frozenset()
        begin = f"{root}/"
        names = text.decode("utf-8", "surrogateescape").split("\0")
        return frozenset(name.removeprefix(begin) for name in names if name.startswith(begin))

    def write(self, folders: Mapping[Path, Iterable[str]]) -> None:
        """Keep what was found in place of what was known; a folder that takes none costs only time.

        Args:
            folders: by root, relative to it.
        """
        if self._file is None:
            return
        beside = self._file.with_name(f".{self._file.name}.{os.getpid()}.tmp")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                for root, below in folders.items():
                    names = iter(below)
                    while some := list(islice(names, TOGETHER)):
                        file.write("".join(f"{root}/{folder}\0" for folder in some))
            os.replace(beside, self._file)  # noqa: PTH105 - atomic on every system


class ReportState:
    """The state beside the report in one folder."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.folder = out / STATE_FOLDER
        self.leaves = KnownLeaves(self.folder / LEAVES_FILE)

    @property
    def is_there(self) -> bool:
        """Whether anything was remembered."""
        return os.path.exists(self.folder / STATE_FILE)  # noqa: PTH110 - no error, whatever the name is like

    @property
    def tables_url(self) -> str:
        """Where tables are kept from one report to the next."""
        return str(self.folder.absolute() / "tables")

    def current_since(self, inputs: str) -> datetime | None:
        """When the report was made, if it was made from just this and all its files are as they were written.

        Args:
            inputs: the digest of what a new one would be made from.
        """
        try:
            told = json.loads((self.folder / STATE_FILE).read_text(encoding="utf-8"))
            if told["version"] != STATE_VERSION or told["inputs"] != inputs:
                return None
            if told["files"] != {name: list(file_state(self._out / name)) for name in told["files"]}:
                return None
            return datetime.fromisoformat(told["made_at"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def remember(self, inputs: str, files: Mapping[str, FileState]) -> None:
        """The report was made from this, and these are its files. A folder that takes no state is as well.

        Args:
            inputs: the digest taken before anything was read.
            files: names relative to the output folder, and what was written; another report may lie there already.
        """
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        told = {"version": STATE_VERSION, "inputs": inputs, "made_at": now, "files": files}
        beside = self.folder / f".{STATE_FILE}.{os.getpid()}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
            os.replace(beside, self.folder / STATE_FILE)  # noqa: PTH105 - atomic on every system
        except OSError:
            with suppress(OSError):
                beside.unlink()


class Inputs:
    """Everything that a report of an experiment depends on; all but trials is looked at at once.

    Args:
        experiment: what lies on disk.
        thresholds: the file that replaces the built-in ones; its name is printed in the report.

    Raises:
        OSError: a file cannot be looked at.
    """

    def __init__(self, experiment: ExperimentOnDisk, thresholds: ThresholdsFile | None) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        for part in (*_parts(experiment, thresholds), *map(str, distinct_roots(experiment.trial_roots))):
            self._digest.update(part.encode("utf-8", "surrogateescape") + b"\0")

    def digest(self, trials: str) -> str:
        """The digest of everything; `trials`: that of the trial files, as of `Seen`."""
        whole = self._digest.copy()
        whole.update(trials.encode())
        return whole.hexdigest()


def trials_now(roots: Sequence[Path], leaves: KnownLeaves) -> str:
    """The digest of the trial files as they are, as of `Seen`.

    Args:
        roots: trial roots.
        leaves: folders of trials that were looked into before; the digest is the same without.

    Raises:
        OSError: a place elsewhere does not answer.
    """
    seen, not_read = Seen(), list[NotRead]()
    for root in distinct_roots(roots):
        finds = list(trials_below(root, known=leaves.below(root)))
        files = sorted((found for found in finds if isinstance(found, TrialFile)), key=attrgetter("folder"))
        seen.add(root, [States(*(list(map(attrgetter(name), files)) for name in States._fields))])
        not_read += [found for found in finds if isinstance(found, NotRead)]
    seen.add_not_read(not_read)
    return seen.digest()


def _parts(experiment: ExperimentOnDisk, thresholds: ThresholdsFile | None) -> Iterator[str]:
    yield repr((STATE_VERSION, program_state()))
    yield repr(thresholds)
    yield repr((experiment.experiment, experiment.key))
    for job in experiment.jobs:
        yield repr((job.job, job.job_key, job.job_id, str(job.path), log_state(job)))
    yield repr(sorted(checkpoint_steps(job.path for job in experiment.jobs) or ()))


def log_state(job: JobLog) -> list[int]:
    """Size, time and inode of a log."""
    if not is_elsewhere(job.path):
        return list(file_state(job.path))
    facts = file_facts(job.path)
    if facts is None:
        raise FileNotFoundError(2, "No such file or directory", address(job.path))
    return [facts.size_bytes, facts.mtime_ns, facts.inode]


def program_state() -> str:
    """The program, its libraries and Python: what else makes a report different."""
    digest = hashlib.blake2b(digest_size=16)
    versions = [f"{name} {_version(name)}" for name in LIBRARIES]
    digest.update(repr((__version__, platform.python_version(), versions)).encode())
    for folder in PROGRAM:
        for root, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                if os.path.splitext(name)[1] in PROGRAM_FILES:  # noqa: PTH122 - a name, not a path
                    digest.update(f"{root}/{name} {file_state(Path(root, name))}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "-"
