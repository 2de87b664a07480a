"""Numbers that do not exist are None."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), max_size=300))
def test_a_mean_and_a_maximum_of_an_array_are_those_of_pandas_to_the_last_digit(values: list[float]):
    array = np.array(values, dtype=np.float64)
    series = pd.Series(array)

    assert numbers.mean_of(array) == numbers.finite(series.mean())
    assert numbers.mean(series) == numbers.finite(series.mean())
    assert numbers.maximum_of(array) == numbers.finite(series.max())
