"""A run whose process is gone is seen to be gone, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import dagster as dg
import pytest

from rl_pipeline.defs.launcher import is_alive, is_local


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_a_living_process_is_alive(sleeper):
    assert is_alive(sleeper.pid, time.time())


def test_a_process_that_was_killed_is_dead_before_and_after_its_parent_noticed(sleeper):
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
    as_zombie = is_alive(sleeper.pid, time.time())
    sleeper.wait()

    assert not as_zombie
    assert not is_alive(sleeper.pid, time.time())


def test_another_process_with_the_same_id_is_not_the_run(sleeper):
    an_hour_before_it_began = time.time() - 3600

    assert not is_alive(sleeper.pid, an_hour_before_it_began)


@pytest.mark.parametrize(
    ("info", "here"),
    [
        ('{"host": "localhost", "socket": "/tmp/x"}', True),
        ('{"host": "127.0.0.1", "port": 4000}', True),
        ('{"host": "worker-3", "port": 4000}', False),
        ("", False),
    ],
)
def test_a_run_on_another_machine_is_not_judged(info: str, here: bool):
    run = dg.DagsterRun(job_name="job", run_id="a", tags={".dagster/grpc_info": info})

    assert is_local(run) is here
