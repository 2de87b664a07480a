"""Estimates: missing numbers stay missing, with a reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rl_pipeline.analysis.estimates import Estimate, finite, not_measurable, plain, ratio


def test_an_estimate_without_data_has_no_value_and_says_why():
    missing = not_measurable("no steps", population="steps")

    assert (missing.value, missing.lower, missing.n, missing.reason) == (None, None, 0, "no steps")
    assert missing.contains(0.0) is None


def test_an_interval_contains_its_ends():
    estimate = Estimate(value=0.5, lower=0.4, upper=0.6, n=10, population="x", method="y")

    assert estimate.contains(0.4)
    assert not estimate.contains(0.61)


def test_only_finite_numbers_are_kept_in_order():
    assert finite([3.0, math.nan, 1.0, math.inf]).tolist() == [3.0, 1.0]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, np.float64("nan")])
def test_a_number_that_does_not_exist_is_none(value):
    assert plain(value) is None


def test_a_numpy_number_becomes_a_plain_float():
    assert type(plain(np.float64(2.5))) is float


@pytest.mark.parametrize(("top", "bottom", "expected"), [(1, 4, 0.25), (1, 0, None), (None, 1, None), (0, 3, 0.0)])
def test_a_ratio_without_a_denominator_is_missing(top, bottom, expected):
    assert ratio(top, bottom) == expected
