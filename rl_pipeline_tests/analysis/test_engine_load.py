"""Seconds are averaged before they are averaged over; maxima are over sums, and beside them over lines."""

from __future__ import annotations

from datetime import datetime

from rl_pipeline.analysis.engine_load import EngineLoad, engine_load
from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import frame_of

NOON = datetime(2026, 6, 3, 12, 0, 0)


def line(second: int, pid: int, running: int, **columns: object) -> dict[str, object]:
    values = {"waiting": 0, "generation_throughput": 100.0, "kv_cache_usage": 0.5, "prefix_cache_hit_rate": 0.9}
    head = {"job": "job_1", "line": second, "logged_at": NOON.replace(second=second), "pid": pid, "ip": "10.0.0.1"}
    return {**head, "running": running, "repeat_count": 1, "scope": "engine", **values, **columns}


def load(*lines: dict[str, object]) -> EngineLoad:
    made = engine_load("job_1", frame_of(VllmStat, lines))
    assert made is not None
    return made


def test_engines_of_one_second_are_averaged_first_and_summed_for_the_maximum():
    made = load(line(1, 1, 10), line(1, 2, 20), line(2, 1, 5))

    assert made.avg_running == 10.0  # mean of (10 + 20) / 2 and 5
    assert (made.max_running, made.max_running_one) == (30, 20)
    assert (made.lines, made.seconds, made.shared_seconds, made.engines) == (3, 2, 1, 2)


def test_folded_lines_count_as_printed_and_not_as_values():
    made = load(line(1, 1, 10, repeat_count=7), line(2, 1, 20))

    assert (made.lines, made.printed_lines, made.avg_running) == (2, 8, 15.0)


def test_what_is_not_printed_is_absent():
    made = load(line(1, 1, 10, prefix_cache_hit_rate=None))

    assert made.avg_prefix_hit is None
    assert made.preemption_lines == 0


def test_lines_without_a_time_are_seconds_of_their_own():
    made = load(line(1, 1, 10, logged_at=None), line(1, 2, 20, logged_at=None))

    assert (made.seconds, made.max_running) == (2, 20)


def test_a_line_for_a_whole_server_is_shared_among_its_engines():
    made = load(line(1, 1, 32, scope="server", engines=4, generation_throughput=400.0))

    assert (made.avg_running, made.avg_gen_throughput) == (8.0, 100.0)


def test_a_server_line_is_left_out_where_single_engines_report():
    made = load(line(1, 1, 10), line(2, 9, 80, scope="server", engines=8))

    assert (made.lines, made.avg_running) == (1, 10.0)


def test_a_job_without_a_line_has_no_load():
    assert engine_load("job_2", frame_of(VllmStat, [line(1, 1, 10)])) is None
