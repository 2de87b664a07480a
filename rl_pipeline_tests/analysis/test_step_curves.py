"""Curves: the first name that was logged, smoothed, binned when long, absent when never logged."""

from __future__ import annotations

import pytest

from rl_pipeline.analysis.series import canonical_steps
from rl_pipeline.analysis.step_curves import MOST_POINTS, curve_of, stability_curves
from rl_pipeline.schema import BELOW_RESOLUTION
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames


def run_of(values, metric="policy/policy_entropy", **columns):
    rows = [
        row for n, value in enumerate(values, start=1) for row in block_rows("job_1", n, n, {metric: value}, **columns)
    ]
    return canonical_steps(experiment_frames(jobs=[job_row("job_1")], step_metrics=rows))


def test_a_curve_keeps_every_step_with_its_exponential_mean():
    curve = curve_of(run_of([3.0, 6.0, 0.0]), "entropy", ("policy/policy_entropy",))

    # eₜ = xₜ ⁄ 3 + 2 eₜ₋₁ ⁄ 3
    assert [(p.step, p.value) for p in curve.points] == [(1, 3.0), (2, 6.0), (3, 0.0)]
    assert [p.smoothed for p in curve.points] == pytest.approx([3.0, 4.0, 8 / 3])
    assert curve.unit == "nats"
    assert [p.is_warm_up for p in curve.points] == [True, True, False]


def test_the_first_name_that_was_logged_counts():
    curve = curve_of(
        run_of([1.0, 2.0], "policy/raw_grad_norm"), "gradient norm", ("policy/grad_norm", "policy/raw_grad_norm")
    )

    assert curve.metric == "policy/raw_grad_norm"


def test_what_was_never_logged_has_no_points_and_no_zero():
    curves = {curve.name: curve for curve in stability_curves(canonical_steps(reference_frames(with_trials=False)))}

    assert (curves["KL to the reference"].metric, curves["KL to the reference"].points) == (None, ())
    assert len(curves["entropy"].points) == 80


def test_a_value_printed_as_zero_is_marked():
    curve = curve_of(run_of([0.0, 0.0], state=BELOW_RESOLUTION), "entropy", ("policy/policy_entropy",))

    assert [p.below_resolution for p in curve.points] == [True, True]


def test_a_long_run_is_put_into_bins_that_leave_no_step_out():
    curve = curve_of(run_of([float(n % 7) for n in range(1_000)]), "entropy", ("policy/policy_entropy",))

    assert len(curve.points) <= MOST_POINTS
    assert sum(point.steps for point in curve.points) == 1_000
