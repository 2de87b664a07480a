"""R13, R14, R25, R29, R30, R36 on small runs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rl_pipeline.schema import Job, StepMetric
from rl_pipeline_tests.helpers.frames import job_row
from rl_pipeline_tests.helpers.small_runs import blocks, event, finding

STEP, WAIT = "timing/step", "timing/wait_for_generation_buffer"


def rough(values: list[float]) -> list[float]:
    return [value * (1 + 0.04 * math.sin(3.7 * place)) for place, value in enumerate(values)]


def test_a_wait_that_doubles_over_a_link_grows():
    wait = rough([100.0 + 5 * place for place in range(30)])

    found = finding("R13", step_metrics=blocks({WAIT: wait, STEP: [300 + value for value in wait]}))

    assert found.status == "fired"
    assert "needs two long links" in found.summary


def test_a_steady_wait_does_not_grow():
    wait = rough([100.0] * 30)

    assert finding("R13", step_metrics=blocks({WAIT: wait, STEP: [300 + value for value in wait]})).status == "clear"


def test_links_of_fourteen_settled_steps_are_too_short_for_growth():
    assert (
        finding("R13", step_metrics=blocks({WAIT: [100.0 + place for place in range(16)]})).status == "not_measurable"
    )


def chain(first: list[float], second: list[float], *, redone: int = 0) -> dict[str, Any]:
    jobs = [job_row("job_1"), job_row("job_2", resumed_from_step=len(first) - redone)]
    rows = blocks({STEP: first})
    rows += blocks({STEP: second}, job="job_2", first_step=len(first) + 1 - redone)
    return {"jobs": jobs, "step_metrics": rows}


def test_slow_first_steps_after_a_restart_cost_time():
    found = finding("R14", **chain([100.0] * 10, [400.0, 300.0, *([100.0] * 8)]))

    # source: (300 + 200) ÷ 2500 s
    assert found.status == "fired"
    assert "1 restart costs 500 s in its first steps" in found.summary
    assert "20.0 % of step time" in found.summary


def test_slow_first_steps_of_the_fresh_start_do_not_count():
    found = finding("R14", step_metrics=blocks({STEP: [400.0, 300.0, *([100.0] * 8)]}))

    assert found.status == "clear"


def test_steps_that_took_no_time_have_no_share():
    assert finding("R14", **chain([0.0] * 10, [0.0] * 10, redone=2)).status == "not_measurable"


def test_redone_steps_count():
    found = finding("R14", **chain([100.0] * 10, [100.0] * 10, redone=2))

    assert found.status == "fired"
    assert "200.0 s of redone steps: 10.0 %" in found.summary


def test_a_redone_step_is_told_with_both_versions():
    found = finding("R29", **chain([100.0] * 10, [90.0] * 10, redone=1))

    assert (found.status, found.severity) == ("fired", "info")
    assert "100.0 s (kept 90.0 s)" in found.evidence[0].text


def test_a_chain_that_starts_late_is_a_note():
    found = finding("R29", step_metrics=blocks({STEP: [100.0] * 5}, first_step=21))

    assert found.status == "clear"
    assert "starts at step 21" in found.notes[0]


def test_a_hole_in_the_steps_is_told():
    rows = [row for row in blocks({STEP: [100.0] * 9}) if row.global_step != 5]

    found = finding("R29", step_metrics=rows)

    assert found.status == "fired"
    assert found.evidence[0].step_range == (5, 5)


def test_steps_past_the_plan_are_told():
    planned = event("planned_steps", name="training", value=8.0)

    found = finding("R29", step_metrics=blocks({STEP: [100.0] * 9}), job_events=[planned])

    assert found.status == "fired"
    assert "past the planned 8" in found.evidence[0].text


def test_a_step_twice_as_long_as_its_link_is_a_straggler():
    found = finding("R25", step_metrics=blocks({STEP: [*rough([100.0] * 15), 220.0, *rough([100.0] * 5)]}))

    assert found.status == "fired"
    assert found.evidence[0].step_range == (16, 16)


def test_a_slow_warm_up_is_no_straggler():
    assert finding("R25", step_metrics=blocks({STEP: [500.0, 300.0, *rough([100.0] * 15)]})).status == "clear"


def ended(*states: str, events: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    jobs: list[Job] = []
    rows: list[StepMetric] = []
    for place, state in enumerate(states):
        job = f"job_{place + 1}"
        jobs.append(job_row(job, end_state=state, resumed_from_step=5 * place or None))
        rows += blocks({STEP: [100.0] * 5}, job=job, first_step=1 + 5 * place)
    return {"jobs": jobs, "step_metrics": rows, "job_events": events or []}


def crash(job: str, name: str, detail: str) -> dict[str, Any]:
    return event("driver_traceback", job=job, line=9999, name=name, detail=detail)


def test_the_same_exception_twice_in_a_row_is_a_repeated_failure():
    frame = 'File "/app/trainer.py", line 12, in step'
    events = [crash("job_1", "RuntimeError", frame), crash("job_2", "RuntimeError", frame)]

    found = finding("R30", **ended("failed", "failed", events=events))

    assert (found.status, found.severity) == ("fired", "high")
    assert "2 links in a row died of the same: RuntimeError" in found.summary


@pytest.mark.parametrize("state", ["time_limit", "cancelled", "preempted"])
def test_links_that_end_by_their_limit_repeat_no_failure(state: str):
    assert finding("R30", **ended(state, state, "completed")).status == "clear"


def test_ends_that_nobody_saw_can_not_be_compared():
    assert finding("R30", **ended("unknown", "unknown")).status == "not_measurable"


def test_one_unknown_end_beside_a_time_limit_repeats_nothing():
    assert finding("R30", **ended("time_limit", "unknown")).status == "clear"


def test_running_out_of_memory_twice_is_a_repeated_failure():
    assert finding("R30", **ended("out_of_memory", "out_of_memory")).status == "fired"


def test_time_between_steps_that_no_span_explains_is_a_gap():
    rows = blocks({STEP: [100.0] * 10}, seconds=100.0)
    late = [row if (row.global_step or 0) < 6 else _shifted(row, 900) for row in rows]

    found = finding("R36", step_metrics=late)

    assert found.status == "fired"
    assert found.evidence[0].text == "900 s before step 6"


def test_a_long_save_explains_the_time_after_its_step():
    saves: list[float | None] = [None] * 4 + [900.0] + [None] * 5
    rows = blocks({STEP: [100.0] * 10, "timing/save_checkpoints": saves}, seconds=100.0)
    late = [row if (row.global_step or 0) < 6 else _shifted(row, 900) for row in rows]

    assert finding("R36", step_metrics=late).status == "clear"


def test_small_gaps_are_told_one_by_one_and_in_all():
    rows = [_shifted(row, 2 * ((row.global_step or 1) - 1)) for row in blocks({STEP: [100.0] * 10}, seconds=100.0)]

    found = finding("R36", step_metrics=rows)

    # source: nine pairs of successive blocks, 2 s each
    assert found.summary == (
        "No gap: at most 2.0 s unexplained between two blocks, 18.0 s over all 9 pairs; median step 100 s."
    )


def _shifted(row: StepMetric, seconds: float) -> StepMetric:
    from dataclasses import replace
    from datetime import timedelta

    assert row.logged_at is not None
    return replace(row, logged_at=row.logged_at + timedelta(seconds=seconds))
