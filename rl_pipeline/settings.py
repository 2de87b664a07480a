"""All settings, from the environment and one optional file, as one frozen value.

Every setting is told once, below: its name, its meaning, its default, how its text is read. The
variable is the name in capitals behind `RL_PIPELINE_`; in the file (`settings.yaml` in the home, or
where `RL_PIPELINE_SETTINGS` points) it is the name itself. The environment wins over the file.

Paths are absolute: Dagster's processes start in folders of their own, so a relative one would mean
several places. Nothing here is read at import; `Settings.from_environment` reads what it is given.
"""

from __future__ import annotations

import difflib
import logging
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from rl_pipeline.addresses import address, as_path, refuse_password, split_roots, without_login
from rl_pipeline.errors import ConfigurationError, shown

PREFIX = "RL_PIPELINE_"
FILE_VARIABLE = "RL_PIPELINE_SETTINGS"
FILE_NAME = "settings.yaml"
DEFAULT_HOME = "~/.rl_pipeline"
# Of the installation and of the batch scripts in `deploy/`.
OTHER_VARIABLES = {"SETTINGS", "WITHOUT_LOOPS", "ENV", "VENV"}
log = logging.getLogger(__name__)


def setting(doc: str, default: Any = None, *, secret: bool = False, between: str = ",") -> Any:  # noqa: ANN401 - a field
    """One setting.

    Args:
        doc: what it means.
        default: its value when nobody sets it.
        secret: whether it is left out of messages and of `repr`.
        between: what separates the items of a list in the environment.
    """
    return field(default=default, repr=not secret, metadata={"doc": doc, "secret": secret, "between": between})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a deployment can choose. Fields that are None take their default from `home`, or are off."""

    home: Path = setting("folder of everything that is kept: tables, reports, Dagster's history; on a local disk")
    store: str = setting("URL of the table store (fsspec); by default the folder `store` in the home", "")
    reports: Path = setting("folder of the reports; by default `reports` in the home")
    roots: tuple[str, ...] = setting(
        "experiments folders that sensors watch: paths or URLs (s3://, gs://, sftp://), with colons between", ()
    )
    log_patterns: tuple[str, ...] = setting(
        "ways of naming logs besides the usual ones, one a line: globs with {experiment} and {job}, "
        "or regular expressions with groups of these names",
        (),
        between="\n",
    )
    thresholds: Path | None = setting("YAML file with thresholds that replace the built-in ones")

    spool: Path = setting("folder of copies of logs that lie elsewhere; by default `spool` in the home")
    spool_gb: float = setting("GB that these copies may take together; those in use are never deleted", 20.0)

    postgres_url: str | None = setting(
        "keep Dagster's history in this PostgreSQL database (postgresql://user:password@host/name)", secret=True
    )
    broker_url: str | None = setting(
        "hand runs to workers on other machines by this Redis server (redis://:password@host:6379/0)", secret=True
    )
    worker_patience_seconds: float = setting("a run that no worker took in this time is taken by none later", 600.0)
    ui_url: str = setting("address of the Dagster UI, for links in messages", "http://127.0.0.1:3000")

    quiet_minutes: float = setting("a log without an end line is finished when nothing was written for so long", 60.0)
    running_minutes: float = setting("how often the tables of running jobs are made again; 0 switches it off", 30.0)
    stall_minutes: float = setting(
        "a running job whose log stands still for so long is told as stalled; 0: never", 45.0
    )
    tick_seconds: int = setting("how often sensors look, in seconds", 30)
    runs_per_tick: int = setting("runs that one look of a sensor asks for at most", 50)
    slurm: bool = setting("ask squeue and sacct whether a job is still there", default=False)

    notify_webhook: str | None = setting("URL that receives a POST for each message", secret=True)
    notify_webhook_format: str = setting("what it receives: json, or slack", "json")
    notify_smtp: str | None = setting("mail server, smtp[s]://user:password@host or smtp+starttls://…", secret=True)
    notify_from: str = setting("sender of mails", "")
    notify_to: tuple[str, ...] = setting("receivers of mails, with commas between", ())

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the file, then the environment.

        Raises:
            ConfigurationError: a value cannot be understood, or the file names an unknown setting.
        """
        home = _path("home", environment.get(f"{PREFIX}HOME") or DEFAULT_HOME, f"{PREFIX}HOME")
        file = environment.get(FILE_VARIABLE)
        values = _from_file(_path("settings", file, FILE_VARIABLE) if file else home / FILE_NAME, required=bool(file))
        for spec in fields(cls):
            variable = f"{PREFIX}{spec.name.upper()}"
            if environment.get(variable):
                values[spec.name] = parsed(spec.name, environment[variable], variable)
        for variable in environment:
            if variable.startswith(PREFIX) and variable.removeprefix(PREFIX).lower() not in values:
                _tell_unknown(variable)
        values["home"] = home
        values.setdefault("reports", home / "reports")
        values.setdefault("store", str(home / "store"))
        values.setdefault("spool", home / "spool")
        return cls(**values)


@cache
def _tell_unknown(variable: str) -> None:
    """Warn, once a process, of a variable that is taken for a setting and is none."""
    known = {spec.name.upper() for spec in fields(Settings)} | OTHER_VARIABLES
    name = variable.removeprefix(PREFIX)
    if name not in known:
        near = difflib.get_close_matches(name, sorted(known), n=1)
        meant = f"did you mean {PREFIX}{near[0]}?" if near else "all names are in docs/settings.md"
        log.warning("%s is no setting and has no effect: %s", shown(variable), meant)


def described() -> list[tuple[str, str, str]]:
    """Every setting as (variable, default, meaning), for the documentation."""
    return [(f"{PREFIX}{spec.name.upper()}", _default_text(spec), spec.metadata["doc"]) for spec in fields(Settings)]


def _default_text(spec: Field[Any]) -> str:
    if spec.name in {"home", "store", "reports", "spool"}:
        return DEFAULT_HOME if spec.name == "home" else f"{DEFAULT_HOME}/{spec.name}"
    return str(spec.default).lower() if spec.default not in (None, (), "") else "–"


def _from_file(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if not required:
            return {}
        raise _file_error(path, "does not exist", do=f"create it, or unset {FILE_VARIABLE}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise _file_error(path, f"cannot be read: {reason}") from error
    if content is None:
        return {}
    known = {spec.name for spec in fields(Settings)} - {"home"}
    if not isinstance(content, dict) or not known.issuperset(content):
        unknown = ", ".join(map(shown, sorted(map(str, set(content) - known)))) if isinstance(content, dict) else ""
        raise _file_error(path, f"names {unknown}, which is no setting" if unknown else "holds no mapping")
    return {name: parsed(name, value, f"{name} in {path}") for name, value in content.items()}


def _file_error(
    path: Path, what: str, *, do: str = "correct it, or take it away; all names are in docs/settings.md"
) -> ConfigurationError:
    return ConfigurationError(
        f"the settings file {what}",
        where=str(path),
        expected="a YAML mapping of setting names to values, such as `quiet_minutes: 30`",
        do=do,
        slug="bad-settings-file",
    )


def parsed(name: str, value: object, where: str) -> Any:  # noqa: ANN401 - the type of the field
    """The value of a setting from its text (environment) or its YAML value (file)."""
    try:
        return _read(name, value)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(
            f"the setting {name} cannot be {_told(value)}" if not _is_secret(name) else f"the setting {name} is wrong",
            where=where,
            expected=str(error),
            do="correct it, or leave it out",
            slug="bad-setting",
        ) from None


def _told(value: object) -> str:
    return shown(without_login(value) if isinstance(value, str) else value)


def _read(name: str, value: object) -> Any:  # noqa: ANN401
    kind = _plain_type(get_type_hints(Settings)[name])
    if name == "roots":
        return tuple(_root(item) for item in (split_roots(value) if isinstance(value, str) else _items(value, "")))
    if name == "store":
        return _store(value)
    if typing.get_origin(kind) is tuple:
        reader = READERS[typing.get_args(kind)[0]]
        return tuple(reader(item) for item in _items(value, _metadata(name)["between"]))
    return READERS[kind](value)


def _metadata(name: str) -> Mapping[str, Any]:
    return next(spec for spec in fields(Settings) if spec.name == name).metadata


def _is_secret(name: str) -> bool:
    return bool(_metadata(name)["secret"])


def _plain_type(hint: Any) -> Any:  # noqa: ANN401 - a type as written above
    if typing.get_origin(hint) in {types.UnionType, typing.Union}:
        return next(part for part in typing.get_args(hint) if part is not type(None))
    return hint


def _path(name: str, value: str, where: str) -> Path:
    try:
        return _absolute(value)
    except ValueError as error:
        raise ConfigurationError(
            f"the setting {name} cannot be {shown(value)}",
            where=where,
            expected=str(error),
            do="write the path out, from / or from ~",
            slug="bad-setting",
        ) from None


def _absolute(value: object) -> Path:
    path = Path(_text(value)).expanduser()
    if not path.is_absolute():
        raise ValueError("an absolute path")
    return path


def _root(value: str) -> str:
    """A folder of this machine, absolute, or the URL of one elsewhere."""
    return address(as_path(value)) if "://" in value else str(_absolute(value))


def _store(value: object) -> str:
    refuse_password(_text(value))
    return _text(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text that is not empty")
    return value.strip()


def _items(value: object, separator: str) -> list[str]:
    items = value.split(separator) if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError("a text or a list of texts")
    return [item.strip() for item in map(str, items) if item.strip()]


def _number(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("a number that is not negative")
    return number


def _count(value: object) -> int:
    number = _number(value)
    if number != int(number) or number < 1:
        raise ValueError("a whole number from 1")
    return int(number)


def _flag(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    word = str(value).strip().lower()
    if word not in words:
        raise ValueError("true or false")
    return words[word]


READERS: Mapping[Any, Callable[[object], Any]] = {
    Path: _absolute,
    str: _text,
    float: _number,
    int: _count,
    bool: _flag,
}
