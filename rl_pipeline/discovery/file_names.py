"""What the name of a log file says: which job, whose experiment, or that it is no job log at all.

SLURM builds names from `--output` patterns: `slurm-%j.out`, `%x_%j.out`, `%x-%j.log`, and
`%A_%a` for arrays; the id is read from the right. Beside a training log stand files that repeat parts
of it (Ray head and worker nodes, engine servers, stderr); they are siblings, never jobs. Other ways
of naming are told by patterns: a glob with `{experiment}` and `{job}`, or a regular expression with
groups of these names. Names only; no file is touched here.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from rl_pipeline.errors import ConfigurationError, shown

COMPRESSED = r"(?:\.(?:gz|zst))?"
_EXTENSION = re.compile(rf"\.(?P<kind>out|log|err)(?P<packed>{COMPRESSED})$")
_OUT_NAME = re.compile(r"(?P<name>.+?)[_-](?P<id>\d+(?:_\d+)?)")
_BARE_ID = re.compile(r"\d{3,}(?:_\d+)?")

# Programs beside the trainer: Ray's head and workers of a node, engine servers, SkyRL's infra log,
# Ray's session files, Harbor's own logs. Words that experiments are named with (`lora_rank16_…`,
# `multi_head_…`) count only behind a job id or at the very end.
_SIBLING = re.compile(
    r"""
    (?:^|[_.-]) (?: ray[_-]?head | rayw(?:orker)?(?=[_.\d-]|$) )
    | \d{3,} [_.-] (?: (?:worker|rank|node)[_-]?\d+ | (?:ray|vllm|engine|server|api)(?=[_.\d-]|$) )
    | [_.-] head $
    | ^ vllm [_.-]? (?: \d* $ | server | engine | api )
    | ^ infra-\d{6}_\d{6} $
    | ^ worker-[0-9a-f]{20,} | ^ python-core-worker
    | ^ (?:raylet|gcs_server|monitor|dashboard|log_monitor) (?:$|[._-])
    | ^ (?:job|trial) $
    """,
    re.VERBOSE,
)

# Names that say nothing about the experiment.
GENERIC_NAMES = frozenset({"slurm", "job", "run", "train", "training", "output", "log", "logs", "out"})

# An array id has the long job id first; a date or a small number in front belongs to the name.
_ARRAY_ID = re.compile(r"(?!(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d_)\d{5,}_\d{1,5}")


@dataclass(frozen=True, slots=True)
class LogName:
    """The parts of a log's name; `job_id` is null when the name holds none, `experiment` when it is generic.

    `by_pattern`: a configured pattern named the experiment, which then needs no other sign.
    """

    experiment: str | None
    job_id: str | None
    stem: str
    by_pattern: bool = False

    @property
    def job(self) -> str:
        """The short published name of the job, `job_<id>`, else the stem."""
        return f"job_{self.job_id}" if self.job_id is not None else self.stem


def split_name(stem: str) -> tuple[str, str | None]:
    """Name part and scheduler id of a file name without extension; the id is read from the right."""
    if _BARE_ID.fullmatch(stem):
        return "", stem
    match = _OUT_NAME.fullmatch(stem)
    if match is None:
        return stem, None
    name, job_id = match["name"], match["id"]
    if "_" in job_id and not _ARRAY_ID.fullmatch(job_id):
        before, _, job_id = job_id.partition("_")
        name = stem[: len(name) + 1 + len(before)]
    return name, job_id


def parse_log_name(file_name: str) -> LogName | None:
    """The parts of a job log's name; None for siblings, hidden files and other kinds of file."""
    extension = _EXTENSION.search(file_name)
    if extension is None or file_name.startswith("."):
        return None
    stem = file_name[: extension.start()]
    name, job_id = split_name(stem)
    if not stem or _SIBLING.search(stem):
        return None
    generic = job_id is None or not name or name.lower() in GENERIC_NAMES
    return LogName(experiment=None if generic else name, job_id=job_id, stem=stem)


def any_log_name(file_name: str) -> LogName:
    """The parts of a file's name when the user points at the file itself, whatever it is called."""
    known = parse_log_name(file_name)
    if known is not None:
        return known
    stem = re.sub(rf"\.\w{{1,8}}{COMPRESSED}$", "", file_name) or file_name
    name, job_id = split_name(stem)
    generic = job_id is None or not name or name.lower() in GENERIC_NAMES
    return LogName(experiment=None if generic else name, job_id=job_id, stem=stem)


def without_companions(names: Collection[str]) -> dict[str, LogName]:
    """The job logs among the names of one folder, by name.

    Left out besides siblings known by their own name: `.err` and `.log` beside an `.out` of the same
    stem, `<job>_<rank>` and `<job>_<word>` files beside the job's own, and names without an id when
    others have one.
    """
    parsed = {name: log for name in sorted(names) if (log := parse_log_name(name)) is not None}
    stems = {log.stem for log in parsed.values()}
    with_id = any(log.job_id is not None for log in parsed.values())
    return {
        name: log
        for name, log in parsed.items()
        if not _has_better_twin(name, names)
        and not _extends_another(log.stem, stems)
        and (log.job_id is not None or not with_id)
    }


def _has_better_twin(name: str, names: Collection[str]) -> bool:
    """Whether an `.err`/`.log` stands beside the `.out` of the same stem."""
    extension = _EXTENSION.search(name)
    if extension is None or extension["kind"] == "out":
        return False
    stem = name[: extension.start()]
    better = (".out",) if extension["kind"] == "log" else (".out", ".log")
    return any(f"{stem}{kind}{packed}" in names for kind in better for packed in ("", ".gz", ".zst"))


def _extends_another(stem: str, stems: Collection[str]) -> bool:
    """Whether `stem` is another job's stem with a rank or a word behind it: `demo_123456_0`."""
    cut = max(stem.rfind("_"), stem.rfind("-"))
    return cut > 0 and stem[:cut] in stems and split_name(stem[:cut])[1] is not None


@dataclass(frozen=True, slots=True)
class LogPattern:
    """A configured way of naming logs, matched against a path relative to its root, or a bare name.

    `folders` holds one expression per folder level of a glob, so that only matching folders are
    opened; it is empty for a regular expression, which may match anywhere down to `depth` folders.
    """

    text: str
    expression: re.Pattern[str] = field(compare=False)
    depth: int
    folders: tuple[re.Pattern[str], ...] = field(default=(), compare=False)

    def parse(self, relative: str) -> LogName | None:
        """The parts named by the pattern; `relative` uses `/` between folders."""
        match = self.expression.fullmatch(relative if self.depth else relative.rpartition("/")[2])
        if match is None:
            return None
        groups = match.groupdict()
        known = any_log_name(relative.rpartition("/")[2])
        return LogName(
            experiment=groups.get("experiment") or known.experiment,
            job_id=groups.get("job") or known.job_id,
            stem=known.stem,
            by_pattern="experiment" in groups,
        )


def parse_log_pattern(text: str) -> LogPattern:
    """Compile a configured pattern.

    >>> parse_log_pattern("{experiment}/*/out-{job}.txt").parse("demo/a/out-77.txt")
    LogName(experiment='demo', job_id='77', stem='out-77', by_pattern=True)
    """
    try:
        if "(?P<" in text:
            return LogPattern(text=text, expression=re.compile(text), depth=text.count("/"))
        *folders, _ = text.split("/")
        return LogPattern(
            text=text,
            expression=re.compile(_glob(text)),
            depth=len(folders),
            folders=tuple(re.compile(_glob(folder)) for folder in folders),
        )
    except re.error as error:
        raise ConfigurationError(
            f"log pattern {shown(text)} is not valid: {error}",
            where="RL_PIPELINE_LOG_PATTERNS",
            expected="a glob such as {experiment}-{job}.out, or a regular expression with (?P<experiment>…) "
            "and (?P<job>…)",
            do="correct the pattern",
            slug="bad-log-pattern",
        ) from error


_GLOB_TOKEN = re.compile(r"\{(experiment|job)\}|\*+|\?|\[[^\]/]+\]|.", re.DOTALL)


def _glob(text: str) -> str:
    """The regular expression of a glob; a placeholder used twice must match the same text."""
    seen: set[str] = set()
    parts: list[str] = []
    for token in _GLOB_TOKEN.finditer(text):
        name = token[1]
        if name:
            lazy = "?" if name == "job" else ""  # the id is read from the right
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>[^/]+{lazy})")
            seen.add(name)
        elif token[0].startswith("*"):
            parts.append("[^/]*")
        elif token[0] == "?":
            parts.append("[^/]")
        elif len(token[0]) > 1:
            parts.append(token[0].replace("[!", "[^"))
        else:
            parts.append(re.escape(token[0]))
    return "".join(parts)
