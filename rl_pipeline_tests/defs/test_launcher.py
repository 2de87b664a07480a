"""A run whose process is gone is seen to be gone, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.launcher import WorkerStatus

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.launcher import is_local
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.recorded import record_run


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    ("info", "one_machine", "here"),
    [
        ('{"host": "localhost", "socket": "/tmp/x"}', False, True),
        ('{"host": "127.0.0.1", "port": 4000}', False, True),
        ('{"host": "worker-3", "port": 4000}', True, False),
        (None, True, True),
        (None, False, False),
        ("{", True, False),
    ],
    ids=["by socket", "by loopback", "another machine", "command line", "command line somewhere", "damaged"],
)
def test_a_run_on_another_machine_is_not_judged(info: str | None, one_machine: bool, here: bool):
    run = dg.DagsterRun(job_name="job", run_id="a", tags={".dagster/grpc_info": info} if info else {})

    assert is_local(run, one_machine=one_machine) is here


def test_a_run_of_the_command_line_that_was_killed_is_seen_to_be_gone(sleeper, tmp_path: Path):
    with open_instance(Lab(tmp_path).settings) as instance:
        run_id = record_run(instance, "read_job_log", dg.DagsterRunStatus.STARTED, {})
        run = instance.get_run_by_id(run_id)
        assert run is not None
        instance.report_engine_event("Executing steps in process", run, EngineEventData.in_process(sleeper.pid))
        before = instance.run_launcher.check_run_worker_health(run)
        sleeper.kill()
        sleeper.wait()
        after = instance.run_launcher.check_run_worker_health(run)

    assert (before.status, after.status) == (WorkerStatus.RUNNING, WorkerStatus.FAILED)
    assert after.msg == f"process {sleeper.pid} of the run is gone"
