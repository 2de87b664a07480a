"""R10, R11, R22–R24, R40 on small runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import job_row
from rl_pipeline_tests.helpers.small_runs import START, blocks, engine_lines, event, finding

STEP = "timing/step"


def test_stale_data_without_a_correction_fires():
    found = finding("R10", step_metrics=blocks({"async/staleness_mean": [2.5] * 8}))

    assert found.status == "fired"


def test_a_correction_at_work_is_clear_and_one_that_is_zero_is_none():
    stale = {"async/staleness_mean": [2.5] * 8}

    assert finding("R10", step_metrics=blocks({**stale, "tis/imp_ratio_mean": [0.98] * 8})).status == "clear"
    assert finding("R10", step_metrics=blocks({**stale, "tis/skipped_fraction": [0.0] * 8})).status == "fired"


def test_staleness_at_its_cap_fires_from_a_mean_of_one():
    series = {"async/staleness_mean": [1.2] * 8, "async/staleness_max": [4.0] * 8}
    cap = event("configuration", name="trainer.fully_async.max_staleness_steps", value=4.0)

    assert finding("R10", step_metrics=blocks(series), job_events=[cap]).status == "fired"
    assert finding("R10", step_metrics=blocks(series)).status == "clear"


def test_a_synchronous_run_is_never_stale():
    assert finding("R10", step_metrics=blocks({STEP: [1.0] * 8, "timing/generate": [0.5] * 8})).status == "clear"


def test_a_tenth_of_dropped_groups_fires_with_its_reasons():
    series = {
        "async/discarded_count": [8.0] * 8,
        "async/effective_batch_groups": [64.0] * 8,
        "async/rejected_count/stale": [8.0] * 8,
    }

    found = finding("R11", step_metrics=blocks(series))

    assert found.status == "fired"
    assert "64 of 576 groups" in found.summary
    assert found.evidence[1].text == "64 rejected: stale"


def test_what_is_below_zero_is_no_count_of_groups():
    kept = {"async/effective_batch_groups": [64.0] * 9}

    found = finding("R11", step_metrics=blocks({"async/discarded_count": [8.0] * 8 + [-1e6], **kept}))

    assert (found.status, found.n) == ("fired", 576)
    assert "64 of 576 groups" in found.summary


def test_no_group_at_all_has_no_share_that_was_dropped():
    none = {"async/discarded_count": [0.0] * 8, "async/effective_batch_groups": [0.0] * 8}

    assert finding("R11", step_metrics=blocks(none)).status == "not_measurable"


def test_where_only_shares_are_logged_their_mean_counts_and_not_groups():
    # A step that keeps everything says nothing of how many groups that are.
    rates = {"async/num_groups_dropped": [16.0, *[0.0] * 7], "async/keep_rate": [0.2, *[1.0] * 7]}

    found = finding("R11", step_metrics=blocks(rates))

    assert (found.status, found.n, found.population) == ("fired", 8, "canonical steps")
    assert found.summary == "10.0 % of a step's groups dropped, mean of 8 steps, 16 in all."


def test_counts_below_zero_are_not_added_to_groups_dropped_in_all():
    rates = {"async/num_groups_dropped": [2.0] * 8 + [-500.0], "async/keep_rate": [0.98] * 9}

    assert finding("R11", step_metrics=blocks(rates)).summary.endswith("mean of 9 steps, 16 in all.")


def test_too_few_counts_of_dropped_groups_are_told_with_their_number():
    few = {"async/discarded_count": [1.0] * 3, "async/effective_batch_groups": [63.0] * 3}

    found = finding("R11", step_metrics=blocks(few))

    assert (found.status, found.n, found.population) == ("not_measurable", 3, "canonical steps")


def test_a_rate_of_dropped_groups_beyond_one_is_no_share():
    found = finding("R11", step_metrics=blocks({"async/discard_rate": [0.2] * 8 + [7.0, -0.5]}))

    assert (found.status, found.n) == ("fired", 8)
    assert found.summary == "20.0 % of a step's groups dropped, mean of 8 steps."


def test_a_save_of_ten_times_the_median_is_told():
    saves = [20.0] * 9 + [400.0]

    found = finding("R22", step_metrics=blocks({STEP: [1000.0] * 10, "timing/save_checkpoints": saves}))

    assert (found.status, found.severity) == ("fired", "low")
    assert "20 × the median" in found.summary


def test_saves_of_a_tenth_of_the_time_are_told():
    saves: list[float | None] = [100.0] * 10

    assert (
        finding("R22", step_metrics=blocks({STEP: [1000.0] * 10, "timing/save_checkpoints": saves})).status == "fired"
    )


def memory(slope: float, *, total: float | None = 100.0) -> str:
    series: dict[str, list[float]] = {"system/process_rss_gb": [10 + slope * place for place in range(20)]}
    if total is not None:
        series["system/ram_total_gb"] = [total] * 20
        series["system/ram_used_gb"] = [20 + slope * place for place in range(20)]
    return finding("R23", step_metrics=blocks({STEP: [60.0] * 20, **series})).status


def test_memory_that_reaches_the_host_within_another_link_fires():
    assert memory(2.0) == "fired"  # 20 + 38 GiB used, 40 more in twenty steps: 98 of 100


def test_memory_that_grows_far_below_the_limit_is_clear():
    assert memory(0.1) == "clear"


def test_growth_without_a_known_limit_is_not_measurable_and_no_growth_is_clear():
    assert memory(2.0, total=None) == "not_measurable"
    assert memory(0.0, total=None) == "clear"


def at_end(silence: float, *, state: str = "time_limit", **tables: Any) -> dict[str, Any]:
    last = START + timedelta(seconds=20 * 60 + silence)
    job = job_row("job_1", end_state=state, last_logged_at=last, first_logged_at=START)
    return {"jobs": [job], "step_metrics": blocks({STEP: [60.0] * 20}, seconds=60.0), **tables}


def test_a_log_that_goes_on_for_an_hour_after_the_last_step_shows_a_stall():
    found = finding("R24", **at_end(3600))

    assert (found.status, found.severity) == ("fired", "critical")
    assert "3,600 s of silence after step 20" in found.summary


def test_a_link_that_its_time_limit_ended_within_a_step_is_no_stall():
    assert finding("R24", **at_end(90)).status == "clear"


def test_a_save_after_the_last_step_is_a_sign_of_life():
    saved = event("checkpoint_saved", step=20, logged_at=START + timedelta(seconds=20 * 60 + 3550))

    assert finding("R24", **at_end(3600, job_events=[saved])).status == "clear"


def test_a_program_that_hangs_after_the_end_of_training_has_trained():
    end = event("end", name="training_done", logged_at=START + timedelta(seconds=20 * 60 + 5))

    assert finding("R24", **at_end(3600, job_events=[end])).status == "clear"


def test_rollouts_that_go_on_do_not_prove_that_the_policy_moves():
    last = START + timedelta(seconds=20 * 60 + 3600)
    batch = {"job": "job_1", "line": 9, "logged_at": last, "mode": "training", "successful": 8, "total": 8,
             "failed_groups": 0, "exceptions": {}, "repeat_count": 1}  # fmt: skip

    assert finding("R24", **at_end(3600, rollout_batches=[batch])).status == "fired"


def test_a_running_job_needs_the_time_of_looking():
    running = at_end(90, state="running")
    soon, late = START + timedelta(seconds=20 * 60 + 100), START + timedelta(hours=3)

    assert finding("R24", **running).status == "not_measurable"
    assert finding("R24", now=soon, **running).status == "clear"
    assert finding("R24", now=late, **running).status == "fired"


def two_engines(first: int, second: int, *, repeat_count: int = 1) -> list[VllmStat]:
    lines = engine_lines([first] * 150, [0] * 150, repeat_count=repeat_count)
    return lines + engine_lines([second] * 150, [0] * 150, pid=8, ip="10.0.0.2", repeat_count=repeat_count)


def test_an_engine_with_thrice_the_load_for_twenty_minutes_is_told():
    found = finding("R40", vllm_stats=two_engines(30, 10))

    assert (found.status, found.severity) == ("fired", "low")
    assert "200.0 on 8@10.0.0.2/0, 600.0 on 7@10.0.0.1/0 (3.0 ×)" in found.evidence[0].text


def test_engines_of_like_load_are_even():
    assert finding("R40", vllm_stats=two_engines(30, 20)).status == "clear"


def test_one_engine_or_folded_lines_can_not_be_compared():
    assert finding("R40", vllm_stats=engine_lines([30] * 150, [0] * 150)).status == "not_measurable"
    assert finding("R40", vllm_stats=two_engines(30, 10, repeat_count=3)).status == "not_measurable"
