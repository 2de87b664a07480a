"""R1–R5 on small runs."""

from __future__ import annotations

from dataclasses import replace

from rl_pipeline_tests.helpers.frames import job_row
from rl_pipeline_tests.helpers.small_runs import blocks, engine_lines, event, finding

STEP, WAIT = "timing/step", "timing/wait_for_generation_buffer"
STARVED = {STEP: [100.0] * 12, WAIT: [50.0] * 12}
FED = {STEP: [100.0] * 12, WAIT: [5.0] * 12}


def test_half_of_the_time_waiting_is_of_high_severity():
    found = finding("R1", step_metrics=blocks(STARVED))

    assert (found.status, found.severity) == ("fired", "high")
    assert "50.0 %" in found.summary
    assert "2.00 ×" in found.summary


def test_a_quarter_of_the_time_waiting_is_of_medium_severity():
    found = finding("R1", step_metrics=blocks({STEP: [100.0] * 12, WAIT: [25.0] * 12}))

    assert (found.status, found.severity) == ("fired", "medium")


def test_the_share_is_a_ratio_of_sums_and_not_a_mean_of_ratios():
    found = finding("R1", step_metrics=blocks({STEP: [100.0] * 9 + [1000.0], WAIT: [10.0] * 9 + [900.0]}))

    assert "52.1 %" in found.summary  # 990 of 1900 s; the mean of ratios is 18 %


def test_little_waiting_is_clear():
    assert finding("R1", step_metrics=blocks(FED)).status == "clear"


def test_a_synchronous_run_has_no_wait_of_its_own_and_tells_its_generation_share():
    found = finding("R1", step_metrics=blocks({STEP: [100.0] * 12, "timing/generate": [60.0] * 12}))

    assert found.status == "not_measurable"
    assert "60.0 %" in found.missing[0]


def test_four_steps_say_nothing_about_waiting():
    found = finding("R1", step_metrics=blocks({STEP: [100.0] * 4, WAIT: [50.0] * 4}))

    assert found.status == "not_measurable"
    assert found.n == 4


def test_an_asynchronous_run_without_the_timer_is_not_measurable():
    found = finding("R1", step_metrics=blocks({STEP: [100.0] * 12, "async/staleness_mean": [1.0] * 12}))

    assert found.status == "not_measurable"


def test_idle_engines_behind_a_waiting_trainer_are_under_fed():
    lines = engine_lines([20] * 5 + [5] * 95, [0] * 100)

    found = finding("R2", step_metrics=blocks(STARVED), vllm_stats=lines)

    assert (found.status, found.severity) == ("fired", "high")
    assert "own 99th percentile" in found.summary


def test_the_configured_number_of_sequences_is_the_capacity():
    lines = engine_lines([20] * 100, [0] * 100)
    setting = event("configuration", name="generator.max_num_seqs", value=64.0)

    found = finding("R2", step_metrics=blocks(STARVED), vllm_stats=lines, job_events=[setting])

    assert found.status == "fired"
    assert "20.0 of 64 (max_num_seqs; 31.2 %" in found.summary


def test_without_engine_lines_under_feeding_follows_from_the_wait_alone():
    starved = finding("R2", step_metrics=blocks(STARVED))
    fed = finding("R2", step_metrics=blocks(FED))

    assert (starved.status, fed.status) == ("not_measurable", "clear")


def test_a_job_that_is_under_fed_alone_is_named_where_the_whole_run_is_not():
    busy = engine_lines([20, 19] * 50, [0] * 100)
    idle = [replace(line, job="job_2") for line in engine_lines([20] * 10 + [5] * 90, [0] * 100)]

    found = finding(
        "R2",
        jobs=[job_row("job_1"), job_row("job_2", resumed_from_step=12)],
        step_metrics=[*blocks(STARVED), *blocks(STARVED, job="job_2", first_step=13)],
        vllm_stats=[*busy, *idle],
    )

    assert found.status == "clear"
    assert "By itself under-fed: job_2 (32.5 % of capacity); the rule judges all jobs together." in found.summary


def test_a_sawtooth_of_running_requests_is_harmless_when_nobody_waits():
    sawtooth = [20, 15, 10, 5, 1] * 20

    found = finding("R2", step_metrics=blocks(FED), vllm_stats=engine_lines(sawtooth, [0] * 100))

    assert found.status == "clear"


def test_a_long_queue_with_flat_throughput_is_over_subscription():
    running = [60, 62, 64] * 20
    lines = engine_lines(running, [90] * 60, generation_throughput=[1000.0, 1001.0, 999.0] * 20)

    assert finding("R3", step_metrics=blocks(FED), vllm_stats=lines).status == "fired"


def test_a_long_queue_with_rising_throughput_is_not():
    running = [10, 30, 64] * 20

    assert finding("R3", step_metrics=blocks(FED), vllm_stats=engine_lines(running, [90] * 60)).status == "clear"


def test_a_full_cache_with_a_queue_is_pressure_and_missing_preemptions_are_told():
    kv = [0.95 if place % 5 == 0 else 0.5 for place in range(100)]

    found = finding("R4", vllm_stats=engine_lines([30] * 100, [2] * 100, kv=kv))

    assert found.status == "fired"
    assert found.missing == ("preemptions: no engine line prints them",)


def test_a_full_cache_without_a_queue_is_no_pressure():
    found = finding("R4", vllm_stats=engine_lines([30] * 100, [0] * 100, kv=0.95))

    assert found.status == "clear"
    assert "preemptions are not printed" in found.summary


def test_printed_preemptions_are_pressure():
    assert finding("R4", vllm_stats=engine_lines([30] * 100, [0] * 100, preemptions=1)).status == "fired"


def test_few_engine_lines_are_not_judged():
    for rule in ("R3", "R4"):
        assert finding(rule, vllm_stats=engine_lines([30] * 10, [90] * 10, kv=0.95)).status == "not_measurable"


def test_training_that_fills_the_step_is_told_as_information():
    series = {STEP: [100.0] * 12, WAIT: [0.5] * 12, "timing/run_training": [90.0] * 12}

    found = finding("R5", step_metrics=blocks(series))

    assert (found.status, found.severity) == ("fired", "info")


def test_a_small_training_share_is_clear_whatever_the_wait_may_be():
    assert (
        finding("R5", step_metrics=blocks({STEP: [100.0] * 12, "timing/run_training": [30.0] * 12})).status == "clear"
    )
