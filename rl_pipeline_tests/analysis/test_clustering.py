"""Prompts as clusters: the published run, and the beta-binomial against SciPy and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rl_pipeline.analysis.clustering import beta_binomial, design_effect, gradient_groups
from rl_pipeline_tests.helpers.present import present

MEAN, PASS_AT_8, ADVANTAGE = 0.36794, 0.52293, 0.16001  # source: published report, canonical 80 steps


def test_a_step_of_the_published_run_is_worth_88_independent_samples():
    design = design_effect(MEAN, 0.0513, 512, group_size=8)

    # source: analysis of the published run
    assert (design.binomial_error, design.design_effect, design.effective_n) == pytest.approx(
        (0.0213, 5.8, 88), rel=6e-3
    )
    assert design.correlation == pytest.approx(0.68, abs=6e-3)


def test_the_prompts_of_the_published_run_are_mostly_all_or_nothing():
    groups = gradient_groups(MEAN, PASS_AT_8, 8, groups=64, mean_absolute_advantage=ADVANTAGE)
    model = groups.model

    # source: analysis of the published run
    assert (model.a, model.b, model.correlation) == pytest.approx((0.125, 0.215, 0.746), abs=6e-4)
    assert (model.none_solved, model.all_solved, model.mixed) == pytest.approx((0.477, 0.225, 0.298), abs=6e-4)
    assert model.predicted_error == pytest.approx(0.0532, abs=5e-5)
    assert groups.all_fail == pytest.approx(0.477, abs=5e-4)
    assert groups.mixed_per_step == pytest.approx(19, abs=0.5)
    assert groups.solved_within_solved == pytest.approx(0.70, abs=5e-3)
    assert groups.correlation_from_advantages == pytest.approx(0.66, abs=6e-3)


@given(st.floats(0.05, 5), st.floats(0.05, 5), st.integers(2, 16))
def test_the_fit_finds_the_distribution_that_made_the_numbers(a, b, k):
    truth = stats.betabinom(k, a, b)
    mean, passed = a / (a + b), float(1 - truth.pmf(0))

    fit = beta_binomial(mean, passed, k)

    if fit.reason is None:
        assert (fit.a, fit.b) == pytest.approx((a, b), rel=1e-3)
        assert (fit.none_solved, fit.all_solved) == pytest.approx((truth.pmf(0), truth.pmf(k)), abs=1e-6)


def test_the_predicted_error_is_that_of_simulated_steps():
    generator = np.random.default_rng(3)
    chances = generator.beta(0.4, 0.6, size=(4000, 32))
    means = generator.binomial(8, chances).mean(axis=1) / 8
    truth = stats.betabinom(8, 0.4, 0.6)

    fit = beta_binomial(0.4, float(1 - truth.pmf(0)), 8, samples=256)

    assert present(fit.predicted_error) == pytest.approx(means.std(), rel=0.03)


def test_leave_one_out_advantages_give_the_correlation_back():
    generator = np.random.default_rng(4)
    rewards = generator.random((20_000, 8)) < generator.beta(0.5, 0.7, size=(20_000, 1))
    others = (rewards.sum(axis=1, keepdims=True) - rewards) / 7
    advantage = float(np.abs(rewards - others).mean())

    groups = gradient_groups(
        float(rewards.mean()), float(rewards.any(axis=1).mean()), 8, mean_absolute_advantage=advantage
    )

    assert groups.correlation_from_advantages == pytest.approx(1 / 2.2, abs=0.02)


@pytest.mark.parametrize(
    ("mean", "passed", "k"),
    [
        (None, 0.5, 8),
        (0.4, None, 8),
        (0.0, 0.0, 8),
        (1.0, 1.0, 8),
        (0.4, 0.4, 8),
        (0.4, 0.999, 8),
        (0.4, 0.3, 8),
        (0.4, 0.5, 1),
    ],
)
def test_numbers_that_no_distribution_has_give_no_fit_but_a_reason(mean, passed, k):
    fit = beta_binomial(mean, passed, k)

    assert (fit.a, fit.mixed) == (None, None)
    assert fit.reason is not None


def test_the_certain_part_stands_without_the_model():
    groups = gradient_groups(None, 0.5, 8)

    assert (groups.all_fail, groups.mixed_at_most, groups.model.mixed) == (0.5, 0.5, None)


@pytest.mark.parametrize(
    ("mean", "spread", "samples"), [(None, 0.05, 512), (0.4, None, 512), (0.4, 0.05, None), (0.0, 0.05, 512)]
)
def test_without_its_parts_there_is_no_design_effect(mean, spread, samples):
    design = design_effect(mean, spread, samples)

    assert design.design_effect is None
    assert design.reason is not None
