"""`rl-pipeline worker`: takes runs from the broker and executes them here, until it is stopped."""

from __future__ import annotations

import os
import socket
from typing import Any

from rl_pipeline.defs.instance import config_folder, instance_folder
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings

RUNS_OF_A_PROCESS = 50  # then a fresh one takes its place, so that memory goes back


def run(*, slots: int) -> None:
    """Work until interrupted; what is in hand is finished first.

    Raises:
        ConfigurationError: no broker is configured, it does not answer, or the extra `workers` is not installed.
    """
    settings = Settings.from_environment(os.environ)
    if settings.broker_url is None:
        raise ConfigurationError(
            "no broker is configured, so there is nothing to take runs from",
            where="RL_PIPELINE_BROKER_URL",
            expected="the URL of the Redis server that the daemon uses too: redis://host:6379/0",
            do="set it on this machine and on the daemon's; a single machine needs no worker",
            slug="no-broker",
        )
    app = _app(settings.broker_url)
    instance_folder(settings)
    os.environ.setdefault("DAGSTER_HOME", str(config_folder()))
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    name = f"rl-pipeline-{os.getpid()}@{socket.gethostname()}"
    options = ["--without-gossip", "--without-mingle", f"--max-tasks-per-child={RUNS_OF_A_PROCESS}"]
    app.worker_main(["worker", f"--concurrency={slots}", "--loglevel=INFO", f"--hostname={name}", *options])


def _app(broker_url: str) -> Any:  # noqa: ANN401 - Celery has no types
    from rl_pipeline.defs.launcher import require_workers

    require_workers()
    from rl_pipeline.defs.workers import BROKER_ERRORS, broker_unreachable, worker_app

    app = worker_app(broker_url)
    try:
        with app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=2, timeout=10)
    except BROKER_ERRORS as error:
        raise broker_unreachable(broker_url, error) from error
    return app
