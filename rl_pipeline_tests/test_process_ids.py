"""A process that is gone is seen to be gone, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from rl_pipeline.process_ids import is_alive


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
