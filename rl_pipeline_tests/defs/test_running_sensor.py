"""Running jobs are read again now and then, as of that moment, and never twice in one period."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.defs.memory import Stall, Standing
from rl_pipeline.defs.running_sensor import due_logs, looking_interval, not_looked_at, times_of
from rl_pipeline.discovery import JobLog
from rl_pipeline_tests.helpers.lab import Lab

LOG = JobLog(
    experiment="demo", experiment_key="demo", job="job_1", job_key="demo_1", path=Path("/x.out"),
    size_bytes=10, mtime_ns=5,
)  # fmt: skip
READ = LogVersion(fingerprint="aa", size_bytes=10, mtime_ns=5, is_final=False)
PERIOD = 1800.0


@pytest.mark.parametrize(
    ("complete", "asked_before", "is_due"),
    [
        ({}, {}, True),
        ({"demo_1": READ}, {}, False),
        ({"demo_1": replace(READ, size_bytes=4)}, {}, True),
        ({"demo_1": replace(READ, size_bytes=4)}, {"demo_1": 10_000.0 - PERIOD + 1}, False),
        ({"demo_1": replace(READ, size_bytes=4)}, {"demo_1": 10_000.0 - PERIOD}, True),
        ({"demo_1": replace(READ, size_bytes=4)}, {"demo_1": 20_000.0}, True),
    ],
    ids=["never read", "all read", "grown", "asked within the period", "the period is over", "the clock went back"],
)
def test_a_log_is_due_when_it_has_more_and_the_period_is_over(complete, asked_before, is_due: bool):
    assert due_logs([LOG], complete, asked_before, 10_000.0, PERIOD) == ([LOG] if is_due else [])


def test_a_stall_that_the_last_look_did_not_come_to_stays():
    stall = Stall(job_key="demo_1", text="silence")
    left, made = Standing(turn=3, waiting={"demo": ("demo_1",)}), Standing(waiting={"demo": ("demo_1",)})

    assert not_looked_at([stall], left) == [stall]
    assert not_looked_at([stall], made) == not_looked_at([stall], Standing(turn=3)) == []


@pytest.mark.parametrize("cursor", [None, "", "{", "[]", '{"demo_1": "soon"}'])
def test_a_lost_cursor_only_asks_once_more(cursor: str | None):
    assert times_of(cursor) == {}


@pytest.mark.parametrize(("minutes", "seconds"), [(30.0, 300), (5.0, 50), (0.05, 1), (0.0, 1), (600.0, 300)])
def test_looks_are_several_per_period_and_five_minutes_apart_at_most(tmp_path: Path, minutes: float, seconds: int):
    assert looking_interval(replace(Lab(tmp_path).settings, running_minutes=minutes)) == seconds
