"""Two samples: tests against SciPy and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rl_pipeline.analysis.comparison import cliffs_delta, compare, holm, permutation_p, with_holm

A = np.array([0.51, 0.62, 0.48, 0.55, 0.60])
B = np.array([0.41, 0.39, 0.52, 0.44, 0.47, 0.38])
samples = st.lists(st.floats(-10, 10).map(lambda x: round(x, 1)), min_size=2, max_size=15)


def test_the_permutation_p_approaches_that_of_all_relabellings():
    pooled, observed = np.concatenate([A, B]), abs(A.mean() - B.mean())
    every = [
        abs(pooled[list(part)].mean() - np.delete(pooled, list(part)).mean()) >= observed - 1e-12
        for part in itertools.combinations(range(11), 5)
    ]

    assert permutation_p(A, B, permutations=50_000) == pytest.approx(np.mean(every), abs=0.002)


def test_the_other_tests_are_those_of_scipy():
    difference = compare(A, B)

    assert difference.welch_p == pytest.approx(stats.ttest_ind(A, B, equal_var=False).pvalue)
    assert difference.mann_whitney_p == pytest.approx(stats.mannwhitneyu(A, B).pvalue)
    assert difference.mean_difference.value == pytest.approx(A.mean() - B.mean())


@given(samples, samples)
def test_cliffs_delta_counts_pairs(a, b):
    expected = np.mean([np.sign(x - y) for x in a for y in b])

    assert cliffs_delta(np.array(a), np.array(b)) == pytest.approx(expected, abs=1e-12)


def test_holm_follows_its_definition_and_skips_missing_tests():
    assert holm([0.01, 0.04, None, 0.03]) == [pytest.approx(0.03), pytest.approx(0.06), None, pytest.approx(0.06)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_raises_every_p_and_keeps_their_order(p_values):
    corrected = [p for p in holm(p_values) if p is not None]

    assert all(before <= after <= 1 for before, after in zip(p_values, corrected, strict=True))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [corrected[i] for i in order] == sorted(corrected)


@given(samples, samples)
def test_swapping_the_samples_swaps_the_signs(a, b):
    forward, backward = compare(a, b, resamples=99, permutations=99), compare(b, a, resamples=99, permutations=99)

    assert forward.mean_difference.value == pytest.approx(-(backward.mean_difference.value or 0.0), abs=1e-9)
    assert forward.cliffs_delta == pytest.approx(-(backward.cliffs_delta or 0.0), abs=1e-12)


@given(samples, samples)
def test_the_order_of_the_values_changes_nothing(a, b):
    assert compare(a, b, resamples=99, permutations=99) == compare(a[::-1], b[::-1], resamples=99, permutations=99)


def test_equal_constants_do_not_differ():
    difference = compare([1.0, 1.0], [1.0, 1.0])

    assert (difference.permutation_p, difference.welch_p, difference.cliffs_delta) == (1.0, None, 0.0)


@pytest.mark.parametrize(("a", "b"), [([], [1.0, 2.0]), ([1.0], [1.0, 2.0]), ([math.nan, math.nan], [1.0, 2.0])])
def test_a_side_with_fewer_than_two_values_is_not_compared(a, b):
    difference = compare(a, b, names=("early", "late"))

    assert difference.permutation_p is None
    assert difference.reason is not None
    assert difference.reason.endswith("and late 2 values; both need two")


def test_a_family_is_corrected_together():
    family = with_holm([compare(A, B), compare(A, A + 0.001), compare([], B)])

    assert family[0].holm_p == pytest.approx(2 * (family[0].permutation_p or 0.0))
    assert family[2].holm_p is None


def test_no_difference_is_called_one_in_about_five_percent():
    generator = np.random.default_rng(12)

    alarms = [
        permutation_p(generator.normal(size=12), generator.normal(size=9), permutations=399) <= 0.05 for _ in range(400)
    ]

    assert 0.02 < np.mean(alarms) < 0.085
