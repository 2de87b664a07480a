"""R15–R18, R20, R21, R38: rules on trials."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rl_pipeline_tests.helpers.small_runs import START, blocks, event, finding, trial_rows

OVERFLOW = ("ContextLengthExceededError", "context")
TIMEOUT = ("AgentTimeoutError", "agent_limit")
FAULT = ("RewardFileNotFoundError", "verifier")
SANDBOX = ("DaytonaError", "infrastructure")


def trials_with(exception: tuple[str, str], count: int, total: int = 200) -> list[dict[str, Any]]:
    return trial_rows([None] * count + [1.0, 0.0] * ((total - count) // 2), exceptions=[exception] * count)


def test_a_tenth_of_overflows_fires_and_says_how_many_are_unscored():
    found = finding("R15", trials=trials_with(OVERFLOW, 20))

    assert found.status == "fired"
    assert "20 of 200" in found.summary
    assert "100.0 % of them are unscored" in found.notes[0]


def test_few_overflows_are_clear():
    assert finding("R15", trials=trials_with(OVERFLOW, 4)).status == "clear"


def test_fewer_than_a_hundred_trials_are_not_judged():
    found = finding("R15", trials=trials_with(OVERFLOW, 20, total=60))

    assert (found.status, found.n) == ("not_measurable", 60)


def test_evaluation_trials_do_not_count():
    rows = [{**row, "is_eval": True} for row in trials_with(OVERFLOW, 20)]

    assert finding("R15", trials=rows).status == "not_measurable"


def batch(**columns: Any) -> dict[str, Any]:
    shape = {"job": "job_1", "line": 1, "mode": "training", "successful": 0, "total": 200, "failed_groups": 0}
    return {**shape, "repeat_count": 1, "exceptions": {}, **columns}


def test_breakdowns_of_the_log_are_a_lower_bound_that_can_fire_but_never_clear():
    many = finding("R15", rollout_batches=[batch(exceptions={"ContextLengthExceededError": 20})])
    few = finding("R15", rollout_batches=[batch(exceptions={"ContextLengthExceededError": 2})])

    assert (many.status, few.status) == ("fired", "not_measurable")
    assert "lower bound" in many.summary


def test_time_outs_above_a_tenth_fire():
    assert finding("R16", trials=trials_with(TIMEOUT, 30)).status == "fired"
    assert finding("R16", trials=trials_with(TIMEOUT, 10)).status == "clear"


def test_logged_truncation_fires_by_itself():
    series = {"generate/trajectories_truncated": [40.0] * 6, "async/effective_batch_samples": [200.0] * 6}

    found = finding("R16", trials=trials_with(TIMEOUT, 2), step_metrics=blocks(series))

    assert found.status == "fired"
    assert "20.0 %" in found.summary


def test_time_outs_and_overflows_do_not_make_a_stall():
    rows = trials_with(TIMEOUT, 30) + trials_with(OVERFLOW, 30)

    assert finding("R24", trials=rows, step_metrics=blocks({"timing/step": [60.0] * 20})).status == "not_measurable"


def errors_at(minutes: list[int], total: int = 600) -> list[dict[str, Any]]:
    """Healthy trials over ten hours, and one sandbox error at each of the minutes."""
    healthy = trial_rows([1.0, 0.0] * (total // 2), seconds_apart=60.0)
    broken = trial_rows([None] * len(minutes), exceptions=[SANDBOX] * len(minutes))
    for row, minute in zip(broken, minutes, strict=True):
        row["finished_at"] = START + timedelta(minutes=minute)
    return [*healthy, *broken]


def test_thirty_sandbox_errors_in_ten_minutes_are_a_burst():
    found = finding("R17", trials=errors_at([123] * 30))

    assert (found.status, found.severity) == ("fired", "low")
    assert "2026-05-01 14:00" in found.evidence[1].text


def test_errors_spread_over_the_run_are_no_burst():
    assert finding("R17", trials=errors_at(list(range(0, 600, 10)))).status == "clear"


def test_fewer_errors_than_a_burst_needs_are_clear_without_any_clock():
    rows = [{**row, "finished_at": None} for row in errors_at([5] * 19)]

    assert finding("R17", trials=rows).status == "clear"
    assert (
        finding("R17", trials=[{**row, "finished_at": None} for row in errors_at([5] * 20)]).status == "not_measurable"
    )


def test_errors_in_every_ten_minutes_are_steady():
    found = finding("R18", trials=errors_at(list(range(0, 600, 10))))

    assert found.status == "fired"
    assert "100.0 % of 61 bins" in found.summary or "100.0 % of 60 bins" in found.summary


def test_one_burst_is_not_steady():
    assert finding("R18", trials=errors_at([123] * 30)).status == "clear"


def test_verifier_faults_are_told_with_the_most_frequent_type():
    found = finding("R20", trials=trials_with(FAULT, 10))

    assert found.status == "fired"
    assert found.summary == "RewardFileNotFoundError 10 (5.0 %): 5.00 % of 200 trials."


def test_verifiers_that_end_after_the_release_are_a_race():
    rows = trial_rows([1.0, 0.0] * 100)
    late = [{**row, "verifier_overrun_s": 3.0} if place < 5 else row for place, row in enumerate(rows)]
    few = [{**row, "verifier_overrun_s": 3.0} if place < 4 else row for place, row in enumerate(rows)]

    assert finding("R20", trials=late).status == "fired"
    assert (finding("R20", trials=few).status, len(finding("R20", trials=few).notes)) == ("clear", 1)


def two_thirds(first: list[list[float]], last: list[list[float]]) -> list[dict[str, Any]]:
    """Rewards by task in the first and in the last third, with unrelated trials between."""
    rewards = [r for task in first for r in task] + [0.0] * sum(map(len, first)) + [r for task in last for r in task]
    names = [f"task-{i}" for i, task in enumerate(first) for _ in task]
    between = [f"other-{i}" for i in range(len(names))]
    return trial_rows(rewards, tasks=[*names, *between, *names])


def test_a_gain_of_all_tasks_is_not_concentrated():
    rows = two_thirds([[0.0, 0.0, 0.0, 1.0]] * 40, [[1.0, 1.0, 0.0, 1.0]] * 40)

    assert finding("R21", trials=rows).status == "clear"


def test_a_gain_of_five_tasks_alone_is():
    rows = two_thirds([[0.0] * 4] * 40, [[1.0] * 4] * 5 + [[0.0] * 4] * 35)

    found = finding("R21", trials=rows)

    assert (found.status, found.severity) == ("fired", "high")
    assert "the 5 tasks with the largest gain hold 100.0 %" in found.summary


def test_a_task_that_always_pays_although_its_trials_crash_is_named():
    rows = trial_rows([1.0] * 8, tasks=["free-lunch"] * 8, exceptions=[TIMEOUT] * 4)

    found = finding("R21", trials=rows)

    assert found.status == "fired"
    assert found.evidence[0].text.startswith("free-lunch: 8 of 8 solved, 50.0 %")


def test_without_tasks_nothing_can_be_said_about_them():
    assert finding("R21", trials=trial_rows([1.0, 0.0] * 100)).status == "not_measurable"


def test_trials_beyond_the_trained_samples_are_waste():
    series = {"async/effective_batch_samples": [45.0] * 4}

    assert finding("R38", trials=trial_rows([1.0, 0.0] * 100), step_metrics=blocks(series)).status == "fired"


def test_fewer_trials_than_samples_are_not_judged():
    series = {"async/effective_batch_samples": [100.0] * 4}

    assert finding("R38", trials=trial_rows([1.0, 0.0] * 100), step_metrics=blocks(series)).status == "not_measurable"


def test_an_event_of_another_kind_changes_nothing():
    assert finding("R15", trials=trials_with(OVERFLOW, 20), job_events=[event("slurm_notice")]).status == "fired"
