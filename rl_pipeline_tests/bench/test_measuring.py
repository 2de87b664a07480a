"""What a measurement counts: processes that threads started, ratios within a round, programs that fail."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HELD_MIB = 96
LINUX_ALONE = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="reads /proc")
HOLDS = f"""
import sys
held = bytearray({HELD_MIB} * 2**20)
held[::4096] = b"x" * len(held[::4096])
print("held", flush=True)
sys.stdin.read()
"""
# Nobody can see whether it was looked at, so the memory is held for a dozen looks.
STARTS_IN_A_THREAD = f"""
import subprocess, sys, threading, time
def work():
    child = subprocess.Popen([sys.executable, "-c", {HOLDS!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    time.sleep(0.6)
    child.communicate()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.fixture(scope="module")
def measuring() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "bench" / "measuring.py"
    spec = importlib.util.spec_from_file_location("measuring_of_bench", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@LINUX_ALONE
def test_memory_of_a_process_that_a_thread_started_counts(measuring: ModuleType):
    cost = measuring.measure_command([sys.executable, "-c", STARTS_IN_A_THREAD])

    assert cost.largest_mib > HELD_MIB
    assert cost.peak_mib > cost.largest_mib  # its parent as well
    assert HELD_MIB < cost.once_mib < cost.peak_mib


@LINUX_ALONE
def test_only_what_a_program_times_counts_as_its_time(measuring: ModuleType):
    told = 'import json; print("first line"); print(json.dumps({"wall_s": 7.5, "cpu_s": 3.25}))'

    cost = measuring.measure(["-c", told])

    assert (cost.wall_s, cost.cpu_s) == (7.5, 3.25)


def test_a_program_that_fails_is_no_measurement(measuring: ModuleType):
    with pytest.raises(SystemExit, match="ended with 3"):
        measuring.measure_command([sys.executable, "-c", "raise SystemExit(3)"])


def test_ratios_are_taken_within_a_round(measuring: ModuleType):
    # The machine was three times as slow in the second round.
    costs = {
        "base": [measuring.Cost(2.0, 2.0, 10.0), measuring.Cost(6.0, 6.0, 30.0), measuring.Cost(2.0, 2.0, 10.0)],
        "ours": [measuring.Cost(1.0, 4.0, 5.0), measuring.Cost(3.0, 12.0, 7.0), measuring.Cost(1.0, 4.0, 6.0)],
    }

    shown = measuring.table(costs, "base").splitlines()

    assert shown[3] == "| ours | 1.00 | 4.00 | 7 | 0 | 0 | 2.0 | 0.5 |"
