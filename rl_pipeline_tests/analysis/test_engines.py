"""Engines: identity, the reading of five quantities, five classes and the lack of evidence."""

from __future__ import annotations

import pandas as pd
import pytest

from rl_pipeline.analysis.engines import ENGINE_CLASSES, EngineAnalysis, analyse_engines
from rl_pipeline.analysis.thresholds import default_thresholds
from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.small_runs import engine_lines


def analysed(lines: list[VllmStat], *, wait: float | None = None, max_num_seqs: float | None = None) -> EngineAnalysis:
    frame: pd.DataFrame = frame_of(VllmStat, lines)
    waits: dict[str | None, float | None] = {None: wait, "job_1": wait}
    return analyse_engines(frame, thresholds=default_thresholds(), wait_shares=waits, max_num_seqs=max_num_seqs)


def verdict_of(lines: list[VllmStat], *, wait: float | None = None, max_num_seqs: float | None = 64) -> str:
    return analysed(lines, wait=wait, max_num_seqs=max_num_seqs).overall.verdict


def test_room_and_an_empty_queue_behind_a_waiting_trainer_are_under_fed():
    assert verdict_of(engine_lines([10] * 60, [0] * 60), wait=0.5) == "under-fed"


def test_the_same_load_is_off_the_critical_path_when_nobody_waits():
    assert verdict_of(engine_lines([10] * 60, [0] * 60), wait=0.01) == "off the critical path"


def test_the_same_load_without_a_known_wait_lacks_evidence():
    assert verdict_of(engine_lines([10] * 60, [0] * 60)) == "not enough evidence"


def test_busy_engines_are_well_used_whatever_the_wait():
    assert verdict_of(engine_lines([60] * 60, [1] * 60), wait=0.5) == "well used"


def test_a_queue_as_long_as_the_load_with_flat_throughput_is_over_subscribed():
    lines = engine_lines([64] * 60, [100] * 60, generation_throughput=[900.0] * 60)

    assert verdict_of(lines) == "over-subscribed"


def test_a_full_cache_with_a_queue_is_bound_by_the_cache():
    assert verdict_of(engine_lines([20] * 60, [5] * 60, kv=0.97), wait=0.5) == "KV-bound"


def test_few_lines_lack_evidence():
    assert verdict_of(engine_lines([10] * 20, [0] * 20), wait=0.5) == "not enough evidence"


def test_there_are_five_classes():
    assert len(set(ENGINE_CLASSES)) == 5


def test_no_lines_at_all_are_no_error():
    found = analysed([])

    assert (found.engines, found.jobs, found.overall.verdict) == ((), (), "not enough evidence")
    assert found.overall.running_mean is None
    assert not found.imbalance.measurable


def test_actors_that_all_call_themselves_engine_zero_are_told_apart_by_process_and_address():
    lines = engine_lines([10] * 3, [0] * 3, pid=7)
    lines += engine_lines([20] * 3, [0] * 3, pid=7, ip="10.0.0.2") + engine_lines([30] * 3, [0] * 3, pid=8, ip=None)

    found = {engine.label: engine.running_mean for engine in analysed(lines).engines}

    assert found == {"7@10.0.0.1": 10.0, "7@10.0.0.2": 20.0, "8@driver node": 30.0}


def test_the_same_process_in_two_jobs_is_two_engines():
    lines = engine_lines([10] * 3, [0] * 3) + engine_lines([20] * 3, [0] * 3, job="job_2")

    found = analysed(lines)

    assert [(engine.job, engine.running_mean) for engine in found.engines] == [("job_1", 10.0), ("job_2", 20.0)]
    assert [load.job for load in found.jobs] == ["job_1", "job_2"]


def test_a_folded_line_counts_once_and_its_hidden_lines_are_a_share():
    found = analysed(engine_lines([10] * 30, [0] * 30, repeat_count=4)).overall

    assert (found.lines, found.printed_lines, found.folded_share) == (30, 120, 0.75)
    assert found.running_mean == 10.0


def test_without_a_configured_number_the_own_99th_percentile_is_the_capacity():
    found = analysed(engine_lines([10] * 90 + [40] * 10, [0] * 100)).overall

    assert (found.capacity, found.capacity_source) == (40.0, "own 99th percentile")
    assert found.running_share == pytest.approx(0.325)  # 13 of 40


def test_lines_of_a_server_are_divided_by_its_engines():
    lines = engine_lines([40] * 30, [8] * 30, scope="server", engines=4)

    found = analysed(lines).overall

    assert (found.running_mean, found.waiting_mean) == (10.0, 2.0)


def test_preemptions_that_nobody_prints_are_unknown_and_not_zero():
    assert analysed(engine_lines([10] * 30, [0] * 30)).overall.preemption_share is None


def test_throughput_that_rises_with_running_has_a_gain():
    rising = analysed(engine_lines([10, 20, 30, 40] * 20, [0] * 80)).overall
    flat = analysed(engine_lines([10, 20, 30, 40] * 20, [0] * 80, generation_throughput=[500.0] * 80)).overall

    # source: slope 20 tokens/s per request × (40 − 10) ÷ median 500
    assert rising.throughput_gain == pytest.approx(1.2)
    assert flat.throughput_gain == 0.0
