"""Where Dagster keeps its runs, events and sensor cursors: one place, however it was started.

`dagster.yaml` names the three classes below, so the folder of the history comes from the settings
(`RL_PIPELINE_HOME`, by default `~/.rl_pipeline`) and never from the current folder or from the
folder that happens to hold `dagster.yaml`. A checkout used as `DAGSTER_HOME`, `dagster dev` in the
checkout without any environment, the services of `deploy/` and the command line therefore share one
history, and nothing is written into the checkout.

With `RL_PIPELINE_POSTGRES_URL` set, the same instance keeps its history in PostgreSQL; logs of steps
stay on the disk. SQLite must not lie on a network file system: its locks do not hold there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._core.storage.root import LocalArtifactStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings

CONFIG_FILE = "dagster.yaml"
FOLDER = "dagster"  # below the home of the settings


def instance_folder(settings: Settings) -> Path:
    """The folder of the history, made if it is missing.

    Raises:
        ConfigurationError: it cannot be made, or not be written.
    """
    folder = settings.home / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ConfigurationError(
            "the folder of Dagster's history cannot be written",
            where=f"{folder} ({error.strerror})",
            expected="a folder that this user may write, on a local disk",
            do="set RL_PIPELINE_HOME to such a folder",
            slug="home-not-writable",
        ) from error
    return folder


def _folder_of_environment() -> str:
    return str(instance_folder(Settings.from_environment(os.environ)))


def driver_url(url: str) -> str:
    """A PostgreSQL URL that names its driver; SQLAlchemy 2.1 would take psycopg 3 for a bare one."""
    scheme, separator, rest = url.partition("://")
    return f"postgresql+psycopg2://{rest}" if separator and scheme in {"postgres", "postgresql"} else url


class HistoryStorage(DagsterSqliteStorage):
    """Runs, events and cursors: SQLite below the home of the settings, or PostgreSQL where a URL is set."""

    @classmethod
    def config_type(cls) -> Any:  # noqa: ANN401 - Dagster's own alias is private
        """No option: everything comes from the settings."""
        return {}

    @classmethod
    def from_config_value(  # type: ignore[override]  # either of two storages
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> DagsterStorage:
        """The storage that the environment asks for."""
        settings = Settings.from_environment(os.environ)
        if settings.postgres_url:
            return _postgres_storage(settings.postgres_url, inst_data)
        return cls.from_local(str(instance_folder(settings)), inst_data)


def _postgres_storage(url: str, inst_data: ConfigurableClassData | None) -> DagsterStorage:
    try:
        from dagster_postgres import DagsterPostgresStorage  # noqa: PLC0415 - an extra, not always installed
    except ImportError as error:
        raise ConfigurationError(
            "RL_PIPELINE_POSTGRES_URL is set, but the PostgreSQL storage is not installed",
            where=str(error),
            expected="dagster-postgres beside dagster",
            do="pip install 'rl-pipeline[postgres]', or unset RL_PIPELINE_POSTGRES_URL to use SQLite",
            slug="postgres-not-installed",
        ) from error
    return DagsterPostgresStorage(postgres_url=driver_url(url), inst_data=inst_data)


class HistoryFiles(LocalArtifactStorage):
    """Files that Dagster itself keeps, below the home of the settings."""

    @classmethod
    def config_type(cls) -> Any:  # noqa: ANN401 - Dagster's own alias is private
        """No option: everything comes from the settings."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> HistoryFiles:
        """The folder of the settings."""
        return cls(_folder_of_environment(), inst_data)


class StepLogs(LocalComputeLogManager):
    """What steps print, below the home of the settings."""

    @classmethod
    def config_type(cls) -> Any:  # noqa: ANN401 - Dagster's own alias is private
        """No option: everything comes from the settings."""
        return {}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> StepLogs:
        """The folder of the settings."""
        return cls(str(Path(_folder_of_environment()) / "step_logs"), inst_data=inst_data)


def config_folder() -> Path:
    """The folder that holds our `dagster.yaml`: the checkout, or the installed package."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent, package / "deployment"):
        if (folder / CONFIG_FILE).is_file():
            return folder
    raise ConfigurationError(
        "dagster.yaml is missing",
        where=str(package.parent),
        expected="the file of the checkout, or the copy inside the installed package",
        do="install the package again",
        slug="no-dagster-yaml",
    )


@contextmanager
def open_instance(settings: Settings) -> Iterator[DagsterInstance]:
    """The instance that every way of starting shares, for the time of a `with` block.

    The storage classes read the environment, as they must in Dagster's own processes; the settings
    given here are put there for the time of the block, so that both agree.
    """
    with _environment(
        {"RL_PIPELINE_HOME": str(settings.home), "RL_PIPELINE_POSTGRES_URL": settings.postgres_url or ""}
    ):
        ref = InstanceRef.from_dir(str(instance_folder(settings)), config_dir=str(config_folder()))
        with DagsterInstance.from_ref(ref) as instance:
            yield instance


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def foreign_home(environment: Mapping[str, str]) -> str | None:
    """What to do when `DAGSTER_HOME` points at a folder with another `dagster.yaml`; None when all is well.

    Dagster then ignores ours, and its own commands would keep a second history there.
    """
    home = environment.get("DAGSTER_HOME")
    if not home:
        return None
    ours, theirs = config_folder() / CONFIG_FILE, Path(home) / CONFIG_FILE
    if theirs.is_file() and HistoryStorage.__name__ in theirs.read_text(encoding="utf-8", errors="replace"):
        return None
    return (
        f"DAGSTER_HOME is {home}, whose dagster.yaml is not the one of rl_pipeline: Dagster's own commands keep\n"
        f"  their history there, and rl-pipeline keeps its history elsewhere, so each would miss the other's runs.\n"
        f"  do: unset DAGSTER_HOME, or set it to {ours.parent}, or copy {ours} into it"
    )
