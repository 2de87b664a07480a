"""The canonical series: which row counts, warm-up, states, merged blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.analysis.series import (
    KEYS,
    REWARD,
    STEP_SECONDS,
    all_rows,
    canonical_of,
    canonical_steps,
    eval_rows,
    first_logged,
    has_metric,
    metric_names,
    paired,
    settled,
    states_of,
    steps_of,
    sum_of,
    values_of,
)
from rl_pipeline.schema import BELOW_RESOLUTION, EVAL, MEASURED, MIRROR, NOT_FINITE, PARTIAL, TIMING
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def _frames(*jobs, **tables):
    """Frames of jobs given as (name, restored step, steps)."""
    rows, heads = [], []
    for job, restored, steps in jobs:
        heads.append(job_row(job, resumed_from_step=restored))
        for block, step in enumerate(steps):
            rows += block_rows(job, block, step, {REWARD: 0.01 * step, STEP_SECONDS: 100.0})
    return experiment_frames(jobs=heads, step_metrics=rows, **tables)


def _owners(rows):
    return [(int(s), str(j)) for s, j in zip(rows["global_step"], rows["job"], strict=True)]


def test_the_published_run_has_81_rows_and_80_steps():
    rows = all_rows(reference_frames())
    canonical = canonical_of(rows)

    assert (len(rows), len(canonical)) == (81, 80)  # source: published report, 81 metric blocks
    assert steps_of(canonical).tolist() == list(range(1, 81))
    assert values_of(canonical, REWARD).mean() == pytest.approx(0.3679, abs=5e-5)
    assert values_of(rows, REWARD).mean() == pytest.approx(0.36687, abs=5e-6)


# source: published report, jobs 567548, 567550, 567551
@pytest.mark.parametrize(
    ("job", "mean", "error", "spread", "last", "median_step", "step_sum", "wait_sum"),
    [
        ("job_567548", 0.4008, 0.0262, 0.0786, 0.2812, 687.8, 6840.2, 3847.8),
        ("job_567550", 0.3437, 0.0071, 0.0458, 0.2656, 843.5, 38753.5, 23632.9),
        ("job_567551", 0.3892, 0.0115, 0.0630, 0.3770, 756.4, 25084.9, 13637.1),
    ],
)
def test_each_job_of_the_published_run_has_its_sums(job, mean, error, spread, last, median_step, step_sum, wait_sum):
    rows = all_rows(reference_frames())
    part = rows[rows["job"] == job]
    reward, step = values_of(part, REWARD), values_of(part, STEP_SECONDS)

    assert (reward.mean(), reward.std(ddof=1)) == pytest.approx((mean, spread), abs=6e-5)
    assert reward.std(ddof=1) / len(part) ** 0.5 == pytest.approx(error, abs=6e-5)
    assert (reward[-1], float(np.median(step))) == pytest.approx((last, median_step), abs=0.06)
    assert (step.sum(), sum_of(part, "timing/wait_for_generation_buffer")) == pytest.approx(
        (step_sum, wait_sum), abs=0.15
    )


def test_a_repeated_step_belongs_to_the_later_link():
    rows = all_rows(reference_frames())

    repeated = rows[rows["global_step"] == 9]

    assert _owners(repeated[repeated["canonical"]]) == [(9, "job_567550")]
    assert _owners(repeated[~repeated["canonical"]]) == [(9, "job_567548")]


def test_steps_beyond_the_restored_one_are_gone_even_if_nobody_trained_them_again():
    canonical = canonical_steps(_frames(("job_1", None, range(1, 11)), ("job_2", 5, (6, 7))))

    assert _owners(canonical) == [(s, "job_1") for s in range(1, 6)] + [(6, "job_2"), (7, "job_2")]


def test_a_link_without_steps_throws_nothing_away():
    canonical = canonical_steps(_frames(("job_1", None, (1, 2, 3)), ("job_2", 1, ())))

    assert steps_of(canonical).tolist() == [1, 2, 3]


def test_a_branch_from_which_nobody_went_on_does_not_count():
    canonical = canonical_steps(_frames(("job_1", None, range(1, 11)), ("job_2", 3, (4, 5)), ("job_3", 10, (11,))))

    assert _owners(canonical) == [(s, "job_1") for s in range(1, 11)] + [(11, "job_3")]


def test_a_missing_link_leaves_the_earlier_steps_in_place():
    canonical = canonical_steps(_frames(("job_1", None, (1, 2, 3)), ("job_3", 8, (9, 10))))

    assert steps_of(canonical).tolist() == [1, 2, 3, 9, 10]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6)), min_size=1, max_size=5))
def test_every_step_counts_once_and_the_last_link_counts_whole(jobs):
    spans = [
        (f"job_{i}", start or None, range(start + 1, start + length + 1)) for i, (start, length) in enumerate(jobs)
    ]

    rows = all_rows(_frames(*spans))

    canonical = canonical_of(rows)
    assert canonical["global_step"].is_unique
    if len(rows):
        last = rows[rows["link"] == rows["link"].max()]
        assert last["canonical"].all()
        assert not (canonical["global_step"] > last["global_step"].max()).any()


def test_a_fresh_start_after_progress_starts_the_series_again():
    canonical = canonical_steps(_frames(("job_1", None, (1, 2, 3)), ("job_2", None, (1, 2))))

    assert _owners(canonical) == [(1, "job_2"), (2, "job_2")]


def test_the_first_two_steps_of_each_link_are_warm_up():
    rows = canonical_steps(reference_frames())

    assert steps_of(rows[rows["is_warm_up"]]).tolist() == [1, 2, 9, 10, 51, 52]
    assert len(settled(rows)) == 74


def test_a_lost_first_block_counts_as_warm_up():
    rows = all_rows(_frames(("job_1", 8, (10, 11, 12))))

    assert steps_of(rows[rows["is_warm_up"]]).tolist() == [10]


def test_two_blocks_of_one_step_are_one_row():
    step_metrics = [
        *block_rows("job_1", 0, 1, {REWARD: 0.5}),
        *block_rows("job_1", 1, 1, {STEP_SECONDS: 90.0}, kind=TIMING),
    ]

    rows = all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=step_metrics))

    assert values_of(rows, REWARD).tolist() == [0.5]
    assert values_of(rows, STEP_SECONDS).tolist() == [90.0]
    assert (int(rows["block"].iloc[0]), int(rows["line"].iloc[0])) == (0, 1)


def test_the_mirror_goes_before_the_console_and_cures_a_vanished_number():
    step_metrics = [
        *block_rows("job_1", 0, 1, {REWARD: 0.123456, "policy/policy_lr": 8e-6}, source=MIRROR),
        *block_rows("job_1", 1, 1, {REWARD: 0.1235}),
        *block_rows("job_1", 1, 1, {"policy/policy_lr": 0.0}, state=BELOW_RESOLUTION),
    ]

    rows = all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=step_metrics))

    assert len(rows) == 1
    assert (values_of(rows, REWARD)[0], values_of(rows, "policy/policy_lr")[0]) == (0.123456, 8e-6)
    assert states_of(rows, "policy/policy_lr") == [MEASURED]


def test_states_tell_measured_vanished_not_finite_and_absent_apart():
    step_metrics = [
        *block_rows("job_1", 0, 1, {REWARD: 0.5, "policy/raw_grad_norm": float("nan")}),
        *block_rows("job_1", 0, 1, {"policy/policy_lr": 0.0}, state=BELOW_RESOLUTION),
        *block_rows("job_1", 1, 2, {REWARD: 0.6}),
    ]

    rows = all_rows(experiment_frames(jobs=[job_row("job_1")], step_metrics=step_metrics))

    assert states_of(rows, REWARD) == [MEASURED, MEASURED]
    assert states_of(rows, "policy/raw_grad_norm") == [NOT_FINITE, None]
    assert states_of(rows, "policy/policy_lr") == [BELOW_RESOLUTION, None]
    assert states_of(rows, "policy/policy_kl") == [None, None]


def test_evaluations_and_cut_blocks_make_no_row():
    step_metrics = [
        *block_rows("job_1", 0, 0, {"eval/all/avg_score": 0.3}, kind=EVAL),
        *block_rows("job_1", 1, 1, {REWARD: 0.5}),
        *block_rows("job_1", 2, 2, {REWARD: 0.9}, kind=PARTIAL),
    ]
    frames = experiment_frames(jobs=[job_row("job_1")], step_metrics=step_metrics)

    assert steps_of(all_rows(frames)).tolist() == [1]
    assert eval_rows(frames)[["global_step", "metric", "value"]].to_numpy().tolist() == [[0, "eval/all/avg_score", 0.3]]


def test_an_evaluation_inside_a_training_block_is_found():
    frames = experiment_frames(
        jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 0, 5, {REWARD: 0.5, "eval/all/pass_at_1": 0.4})
    )

    assert eval_rows(frames)["value"].tolist() == [0.4]


def test_an_absent_metric_is_missing_and_never_zero():
    rows = all_rows(reference_frames())

    assert not has_metric(rows, "policy/policy_kl")
    assert np.isnan(values_of(rows, "policy/policy_kl")).all()
    assert sum_of(rows, "policy/policy_kl") is None
    assert first_logged(rows, ["policy/policy_kl", "policy/policy_entropy"]) == "policy/policy_entropy"
    assert paired(rows, REWARD, "policy/policy_kl")[0].size == 0


def test_metric_names_are_the_logged_ones():
    names = metric_names(all_rows(reference_frames()))

    assert len(names) == 62  # source: published report, keys of the metric blocks
    assert not set(names) & set(KEYS)


def test_an_experiment_without_blocks_has_all_key_columns_and_no_row():
    rows = all_rows(experiment_frames(jobs=[job_row("job_1")]))

    assert (len(rows), list(rows.columns)) == (0, list(KEYS))
    assert len(canonical_of(rows)) == len(settled(rows)) == 0
