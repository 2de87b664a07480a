"""Engines one by one: each has its own row, and a large fleet is cut with a word."""

from __future__ import annotations

from datetime import datetime, timedelta

from rl_pipeline.analysis.engine_courses import MOST_ENGINES, engine_courses
from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.present import present

NOON = datetime(2026, 3, 1, 12, 0)


def stat(pid: int | None, minutes: float | None, running: int = 4, job: str = "job_1", ip: str | None = None):
    time = None if minutes is None else NOON + timedelta(minutes=minutes)
    return {
        "job": job, "line": 1, "logged_at": time, "pid": pid, "ip": ip, "running": running, "waiting": 0,
        "scope": "engine", "repeat_count": 1, "generation_throughput": 10.0, "kv_cache_usage": 0.5,
    }  # fmt: skip


def test_an_engine_is_told_by_process_and_address():
    found = present(engine_courses(frame_of(VllmStat, [stat(7, 0, 2), stat(7, 0.5, 4), stat(8, 0, ip="10.0.0.1")])))

    assert [(cell.engine, cell.lines, cell.running) for cell in found.cells] == [
        ("8@10.0.0.1", 1, 4.0),
        ("7@driver node", 2, 3.0),
    ]
    assert (found.engines, found.left_out) == (2, 0)


def test_engines_of_a_large_fleet_are_cut_and_counted():
    found = present(engine_courses(frame_of(VllmStat, [stat(pid, 0) for pid in range(100, 140)])))

    assert (found.engines, found.left_out) == (40, 40 - MOST_ENGINES)
    assert len({cell.engine for cell in found.cells}) == MOST_ENGINES


def test_lines_without_a_time_or_a_process_draw_nothing():
    assert engine_courses(frame_of(VllmStat, [stat(7, None)])) is None
    assert engine_courses(frame_of(VllmStat, [stat(None, 0)])) is None
    assert engine_courses(frame_of(VllmStat, [])) is None
