"""Runs on several machines: a Redis server hands each run to one of the workers, which are Celery's.

Chosen by configuration alone: with RL_PIPELINE_BROKER_URL set, `launcher.py` gives this launcher to Dagster and
`run_queue.py` hands out as many runs as the workers have slots. A run is one task and runs in one process of a worker
(`rl-pipeline worker`), so job partitions are independent of each other and of the machine that asked for them. What
all machines must see is the history (PostgreSQL), the store, the inputs and the folder of reports.

A worker that died leaves its task as it was in Redis: so a run counts as living only while some worker says that it has
it in hand.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from celery import Celery
from celery.exceptions import CeleryError
from dagster import DagsterRun
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.make_app import make_app
from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG
from dagster_celery.tasks import create_execute_job_task, create_resume_job_task
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from rl_pipeline.addresses import without_login
from rl_pipeline.defs.failures import SURROUNDINGS_TAG
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings

# Dagster's launcher declares the same task again for each run; the first declaration stands, as it should.
warnings.filterwarnings("ignore", message=r"Task name '(execute|resume)_job' is already registered")

QUEUE = "dagster"  # the one that Dagster's application for Celery declares
ANSWER_SECONDS = 1.5  # for workers to answer; those that do not are taken for dead when a run depends on it
CONNECT_SECONDS = 5.0
# The results backend raises a bare RuntimeError when it gave up.
BROKER_ERRORS = (CeleryError, KombuError, RedisError, OSError, RuntimeError)
DONE = frozenset({"SUCCESS", "REVOKED"})


def app_arguments(broker_url: str) -> dict[str, Any]:
    """What launcher and workers must agree on."""
    waits = {"socket_timeout": CONNECT_SECONDS, "socket_connect_timeout": CONNECT_SECONDS}
    return {
        "broker": broker_url,
        "backend": broker_url,
        "include": [],
        "config_source": {
            "task_default_queue": QUEUE,
            "worker_prefetch_multiplier": 1,
            "broker_transport_options": {"max_retries": 2, "interval_start": 0, "interval_step": 0.5, **waits},
            "redis_socket_timeout": CONNECT_SECONDS,
            "redis_socket_connect_timeout": CONNECT_SECONDS,
            "result_backend_transport_options": {"retry_policy": {"max_retries": 2, "timeout": CONNECT_SECONDS}},
            "broker_connection_retry_on_startup": True,
            "result_expires": 7 * 86400,
        },
    }


def worker_app(broker_url: str) -> Celery:
    """The application of a worker: it executes runs and nothing else."""
    app: Celery = make_app(  # type: ignore[no-untyped-call]
        app_args={**app_arguments(broker_url), "task_default_queue": QUEUE}
    )
    create_execute_job_task(app)
    create_resume_job_task(app)
    return app


def slots(app: Celery) -> int | None:
    """How many runs the workers that answer can have at once; None when the broker does not answer.

    A worker says how many processes it has.
    """
    try:
        told: Mapping[str, Any] = app.control.inspect(timeout=ANSWER_SECONDS).stats() or {}
    except BROKER_ERRORS:
        return None
    return sum(int(stats.get("pool", {}).get("max-concurrency", 1)) for stats in told.values())


def broker_unreachable(broker_url: str, error: BaseException) -> ConfigurationError:
    """What a person must do; the message holds neither password nor user."""
    return ConfigurationError(
        "the broker that hands out runs does not answer",
        where=f"{without_login(broker_url)} ({type(error).__name__})",
        expected="a Redis server that this machine and the workers reach",
        do="start it, or correct RL_PIPELINE_BROKER_URL; unset it to run everything on this machine",
        slug="broker-unreachable",
    )


class WorkerRunLauncher(CeleryRunLauncher):
    """Dagster's launcher for Celery, with the broker of the settings; sees dead workers and says what is missing."""

    def __init__(self, broker_url: str, patience_seconds: float, **arguments: Any) -> None:  # noqa: ANN401
        self._patience, self._where = patience_seconds, without_login(broker_url)
        super().__init__(default_queue=QUEUE, **app_arguments(broker_url), **arguments)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Hand the run to the broker.

        Raises:
            ConfigurationError: the broker does not answer.
        """
        try:
            super().launch_run(context)
        except BROKER_ERRORS as error:
            self._instance.add_run_tags(context.dagster_run.run_id, {SURROUNDINGS_TAG: "true"})
            raise broker_unreachable(self._where, error) from error

    def _launch_celery_task_run(self, run: DagsterRun, task_signature: Any, routing_key: str) -> None:  # noqa: ANN401
        """As it is, but a task that nobody took in time is taken by nobody later, when its run has failed."""
        task_signature.set(expires=self._patience)
        super()._launch_celery_task_run(run, task_signature, routing_key)

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Whether a worker has the run in hand; while the broker is silent it counts as living."""
        task_id = run.tags.get(DAGSTER_CELERY_TASK_ID_TAG)
        if task_id is None:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        try:
            in_hand: Mapping[str, Any] | None = self.celery.control.inspect(timeout=ANSWER_SECONDS).active()
            state = self.celery.AsyncResult(task_id).state
        except BROKER_ERRORS:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        if state in DONE or any(task["id"] == task_id for tasks in (in_hand or {}).values() for task in tasks):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        reason = "its process died" if state == "FAILURE" else "no worker has it in hand: its worker died or is cut off"
        return CheckRunHealthResult(WorkerStatus.FAILED, reason)

    def get_run_worker_debug_info(self, run: DagsterRun, include_container_logs: bool | None = True) -> str | None:
        """What a person needs when a run did not start, or its worker went away."""
        self._instance.add_run_tags(run.run_id, {SURROUNDINGS_TAG: "true"})
        count = slots(self.celery)
        if count is None:
            return f"The broker at {self._where} does not answer: start it, or correct RL_PIPELINE_BROKER_URL."
        if count == 0:
            return (
                f"No worker answers on the broker at {self._where}, so nobody takes runs. Start one on each machine "
                "that should: rl-pipeline worker. The sensors ask for this run again."
            )
        return f"The workers that answer have {count} slots; all may be busy. Start more of them: rl-pipeline worker."

    def terminate(self, run_id: str) -> bool:
        """Ask the worker to end the run."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or DAGSTER_CELERY_TASK_ID_TAG not in run.tags:
            return False
        self._instance.report_run_canceling(run)
        return bool(super().terminate(run_id))


def launcher_of(settings: Settings, inst_data: Any) -> WorkerRunLauncher:  # noqa: ANN401 - Dagster's own record
    """The launcher for the broker of the settings."""
    return WorkerRunLauncher(settings.broker_url or "", settings.worker_patience_seconds, inst_data=inst_data)
