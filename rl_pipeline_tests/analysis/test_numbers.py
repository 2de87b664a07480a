"""Numbers that do not exist are None."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from rl_pipeline.analysis import numbers


@pytest.mark.parametrize("value", [None, pd.NA, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_none(value: object):
    assert numbers.finite(value) is None


def test_a_single_value_has_no_spread():
    assert numbers.sample_std(pd.Series([1.0])) is None


def test_the_spread_divides_by_n_minus_one():
    assert numbers.sample_std(pd.Series([1.0, 3.0])) == math.sqrt(2.0)


@pytest.mark.parametrize("statistic", [numbers.mean, numbers.maximum, numbers.minimum, numbers.total])
def test_nothing_has_no_statistic(statistic):
    assert statistic(pd.Series([], dtype="float64")) is None
    assert statistic(pd.Series([math.nan])) is None


def test_a_sum_leaves_out_what_is_missing():
    assert numbers.total(pd.Series([1.0, math.nan, 2.0])) == 3.0
    assert numbers.whole(3.0) == 3
