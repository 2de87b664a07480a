"""Dagster's own launcher of runs on this machine, able to see that the process of a run has died.

Without it a run whose process was killed together with its code server (power, out of memory, `kill -9`)
would count as running for ever: it would block its partition, and nobody would start it again. The
launcher looks for the process that the run itself named when it began; the monitoring daemon asks
every `poll_interval_seconds` of `dagster.yaml`, marks the run as failed, and Dagster starts it again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from dagster import DagsterEventType, DagsterRun, DefaultRunLauncher
from dagster._core.launcher import CheckRunHealthResult, RunLauncher, WorkerStatus
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._serdes import ConfigurableClassData

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.process_ids import is_alive
from rl_pipeline.settings import Settings

HERE = frozenset({"localhost", "127.0.0.1", "::1", None})


def require_workers() -> None:
    """Raise a ConfigurationError when the extra `workers` is not installed."""
    if find_spec("dagster_celery") is None:
        raise ConfigurationError(
            "RL_PIPELINE_BROKER_URL is set, but what hands out runs is not installed",
            where="dagster_celery",
            expected="dagster-celery beside dagster",
            do="pip install 'rl-pipeline[workers]', or unset RL_PIPELINE_BROKER_URL to run everything on this machine",
            slug="workers-not-installed",
        )


class WatchedRunLauncher(DefaultRunLauncher):
    """Starts runs as processes of the local code server, and knows whether they still live.

    With a broker in the settings, the launcher for workers takes its place.
    """

    @classmethod
    def from_config_value(  # type: ignore[override]  # either of two launchers
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> RunLauncher:
        """The launcher that the environment asks for."""
        settings = Settings.from_environment(os.environ)
        if settings.broker_url is None:
            return cls(inst_data=inst_data, **config_value)
        require_workers()
        from rl_pipeline.defs.workers import launcher_of  # noqa: PLC0415 - an extra, not always installed

        return launcher_of(settings, inst_data)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Runs on this machine can be looked at."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Whether the process of a run lives; one on another machine, or unknown, counts as living."""
        one_machine = isinstance(self._instance.run_storage, SqliteRunStorage)
        started = self._started(run.run_id) if is_local(run, one_machine=one_machine) else None
        if started is None or is_alive(*started):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, f"process {started[0]} of the run is gone")

    def _started(self, run_id: str) -> tuple[int, float] | None:
        """Process id of the run and the time (seconds since 1970) at which it said so."""
        for entry in self._instance.all_logs(run_id, of_type=DagsterEventType.ENGINE_EVENT):
            metadata = entry.dagster_event.engine_event_data.metadata if entry.dagster_event else {}
            pid = metadata.get("pid")
            if pid is not None and str(pid.value).isdecimal():
                return int(str(pid.value)), entry.timestamp
        return None


def is_local(run: DagsterRun, *, one_machine: bool) -> bool:
    """Whether the process of a run is on this machine.

    Args:
        run: names the code server that started it; a run of the command line has none.
        one_machine: whether the history lies on a local disk, so that every process is here.
    """
    try:
        info = json.loads(run.tags.get(GRPC_INFO_TAG, "null"))
    except ValueError:
        return False
    if not isinstance(info, dict):
        return one_machine
    return "socket" in info or info.get("host") in HERE
