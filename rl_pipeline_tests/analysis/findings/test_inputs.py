"""R31, R32, R34, R35, R39 on small runs."""

from __future__ import annotations

from typing import Any

from rl_pipeline.metric_catalog import EXPECTED_KEYS, SYNC_UPSTREAM
from rl_pipeline.schema import BELOW_RESOLUTION, MIRROR, PARTIAL
from rl_pipeline_tests.helpers.frames import block_rows, job_row
from rl_pipeline_tests.helpers.small_runs import blocks, event, finding, trial_rows

LR = "policy/policy_lr"


def test_a_printed_zero_that_the_mirror_line_knows_better_is_told():
    printed = block_rows("job_1", 0, 1, {LR: 0.0}, state=BELOW_RESOLUTION)
    mirrored = block_rows("job_1", 1, 1, {LR: 1e-6}, source=MIRROR)

    found = finding("R31", step_metrics=[*printed, *mirrored])

    assert (found.status, found.severity) == ("fired", "info")
    assert "1e-06 in the mirror source" in found.evidence[0].text


def test_a_printed_zero_that_the_configuration_contradicts_is_told():
    printed = block_rows("job_1", 0, 1, {LR: 0.0}, state=BELOW_RESOLUTION)
    setting = event("configuration", name="trainer.policy.optimizer_config.lr", value=8e-6)

    assert "lr = 8e-06" in finding("R31", step_metrics=printed, job_events=[setting]).evidence[0].text


def test_a_printed_zero_without_a_second_source_stays_what_it_is():
    printed = block_rows("job_1", 0, 1, {LR: 0.0}, state=BELOW_RESOLUTION)

    assert finding("R31", step_metrics=printed).status == "clear"


def test_a_rate_that_is_mostly_zero_is_no_underflow():
    zeros = [
        row for step in range(1, 9) for row in block_rows("job_1", step, step, {"x/rate": 0.0}, state=BELOW_RESOLUTION)
    ]

    found = finding("R31", step_metrics=[*zeros, *block_rows("job_1", 9, 9, {"x/rate": 0.3})])

    assert found.status == "clear"


def test_absent_metrics_are_named():
    found = finding("R32", step_metrics=blocks({"timing/generate": [1.0] * 5, "reward/avg_raw_reward": [0.4] * 5}))

    assert found.status == "fired"
    assert "policy/policy_kl" in found.summary


def test_a_complete_form_is_clear():
    series = {key: [1.0] * 5 for key in EXPECTED_KEYS[SYNC_UPSTREAM]}

    assert finding("R32", step_metrics=blocks(series)).status == "clear"


def batch(total: int, **columns: Any) -> dict[str, Any]:
    shape = {"job": "job_1", "line": 1, "mode": "training", "successful": total, "failed_groups": 0, "exceptions": {}}
    return {**shape, "total": total, "repeat_count": 1, **columns}


def test_batch_lines_for_half_of_the_trials_are_low_coverage():
    found = finding("R34", rollout_batches=[batch(100)], trials=trial_rows([1.0, 0.0] * 100))

    assert (found.status, found.severity) == ("fired", "info")
    assert "50.0 % of 200 trials" in found.summary


def test_a_folded_line_counts_once():
    found = finding("R34", rollout_batches=[batch(100, repeat_count=2)], trials=trial_rows([1.0, 0.0] * 100))

    assert found.status == "fired"
    assert "100 more instances in folded lines, contents unknown" in [item.text for item in found.evidence]


def test_without_batch_lines_coverage_is_unknown():
    assert finding("R34", trials=trial_rows([1.0, 0.0] * 100)).status == "not_measurable"


def test_a_cut_tail_is_damage_unless_the_job_still_writes():
    assert finding("R35", jobs=[job_row("job_1", cut_tail=True)]).status == "fired"
    assert finding("R35", jobs=[job_row("job_1", cut_tail=True, end_state="running")]).status == "clear"


def test_holes_and_a_last_block_that_was_cut_are_damage():
    cut = block_rows("job_1", 9, 10, {"timing/step": 1.0}, kind=PARTIAL)

    assert finding("R35", jobs=[job_row("job_1", nul_bytes=4096)]).status == "fired"
    assert finding("R35", step_metrics=[*blocks({"timing/step": [1.0] * 9}), *cut]).status == "fired"


def test_a_missing_end_marker_alone_is_no_damage():
    assert finding("R35", jobs=[job_row("job_1", end_state="unknown")]).status == "clear"


def test_secrets_are_told_by_kind_and_place():
    found = finding("R39", job_events=[event("secret", line=42, name="api_key", value=2.0)])

    assert (found.status, found.severity) == ("fired", "critical")
    assert (found.evidence[0].line, found.evidence[0].text) == (42, "api_key (2 ×) in job_1")


def test_secrets_of_trial_files_count():
    rows = [{**row, "secrets_redacted": 1} for row in trial_rows([1.0])]

    assert finding("R39", trials=rows).status == "fired"


def test_a_lone_watchdog_line_fires_nothing():
    from rl_pipeline.analysis.findings import build_context, evaluate
    from rl_pipeline_tests.helpers.small_runs import frames_of

    frames = frames_of(
        job_events=[event("teardown_hang", value=300.0)], step_metrics=blocks({"timing/step": [60.0] * 20})
    )
    found = [item.id for item in evaluate(build_context(frames), strict=True) if item.status == "fired"]

    assert found == []
