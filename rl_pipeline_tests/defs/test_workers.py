"""Which launcher and queue the environment chooses, and what they say when the broker is silent."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.launcher import LaunchRunContext, WorkerStatus

from rl_pipeline.commands.worker import run as run_worker
from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.launcher import WatchedRunLauncher
from rl_pipeline.defs.run_queue import RunQueue
from rl_pipeline.defs.runs import TAGS
from rl_pipeline.defs.workers import WorkerRunLauncher, launcher_of, slots, worker_app
from rl_pipeline.errors import ConfigurationError
from rl_pipeline.settings import Settings
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.receivers import free_port

pytestmark = [pytest.mark.dagster, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
PASSWORD = "made-up-for-tests"


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a broker that is not there."""
    url = f"redis://:{PASSWORD}@127.0.0.1:{free_port()}/0"
    monkeypatch.setenv("RL_PIPELINE_BROKER_URL", url)
    return url


def test_one_machine_needs_no_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("RL_PIPELINE_BROKER_URL", raising=False)
    with open_instance(Lab(tmp_path).settings) as instance:
        queue = instance.run_coordinator

        assert type(instance.run_launcher) is WatchedRunLauncher
        assert isinstance(queue, RunQueue)
        assert queue.get_run_queue_config().max_concurrent_runs == 4  # dagster.yaml


def test_a_broker_in_the_environment_hands_runs_to_workers(tmp_path: Path, silent: str):
    with open_instance(Lab(tmp_path).settings) as instance:
        assert isinstance(instance.run_launcher, WorkerRunLauncher)
        assert PASSWORD not in repr(instance.get_ref().to_dict())
        queue = instance.run_coordinator
        assert isinstance(queue, RunQueue)
        assert queue.get_run_queue_config().max_concurrent_runs == 1  # nobody answers: one, to say so


def test_a_broker_that_is_not_there_has_no_slots(silent: str):
    assert slots(worker_app(silent)) is None


def test_a_launch_without_a_broker_fails_with_what_to_do(silent: str):
    with dg.instance_for_test() as instance:
        launcher = launcher_of(Settings.from_environment({"RL_PIPELINE_BROKER_URL": silent}), None)
        launcher.register_instance(instance)
        run = instance.create_run_for_job(job_definition(), job_code_origin=origin(), tags=TAGS)

        with pytest.raises(ConfigurationError) as told:
            launcher.launch_run(LaunchRunContext(dagster_run=run, workspace=None))

        assert told.value.slug == "broker-unreachable"
        assert PASSWORD not in str(told.value)
        assert "does not answer" in str(launcher.get_run_worker_debug_info(run))
        assert PASSWORD not in str(launcher.get_run_worker_debug_info(run))
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING


def test_a_worker_without_a_broker_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RL_PIPELINE_HOME", str(tmp_path))
    monkeypatch.delenv("RL_PIPELINE_BROKER_URL", raising=False)
    with pytest.raises(ConfigurationError) as told:
        run_worker(slots=1)

    assert told.value.slug == "no-broker"


def test_a_worker_whose_broker_is_silent_ends_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: str
):
    monkeypatch.setenv("RL_PIPELINE_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError) as told:
        run_worker(slots=1)

    assert told.value.slug == "broker-unreachable"
    assert PASSWORD not in str(told.value)


@dg.op
def nothing() -> None:
    """Does nothing."""


@dg.job
def idle() -> None:
    """A job for runs that are never executed."""
    nothing()


def job_definition() -> dg.JobDefinition:
    return idle


def origin():
    return dg.reconstructable(idle).get_python_origin()
