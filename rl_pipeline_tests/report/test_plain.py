"""Results become JSON values without NaN, and nothing else gets in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.report.plain import plain


class Colour(str, Enum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    value: float | None
    tags: tuple[str, ...]


def test_a_dataclass_is_an_object_with_its_fields():
    assert plain(Leaf(value=1.5, tags=("a",))) == {"value": 1.5, "tags": ["a"]}


def test_numbers_that_are_not_finite_are_null():
    assert plain([float("nan"), float("inf"), np.float64("nan")]) == [None, None, None]


def test_numpy_enums_times_and_sets_are_plain():
    assert plain({"n": np.int64(3), "c": Colour.RED, "t": datetime(2026, 6, 3), 4: {"b", "a"}}) == {
        "n": 3,
        "c": "red",
        "t": "2026-06-03T00:00:00",
        "4": ["a", "b"],
    }


def test_half_a_surrogate_pair_can_be_written():
    assert json.dumps(plain("a\udc80"), ensure_ascii=False).encode("utf-8") == b'"a?"'


@pytest.mark.parametrize("value", [pd.DataFrame(), object()])
def test_what_is_no_result_is_refused(value: object):
    with pytest.raises(TypeError, match="not a result"):
        plain(value)


@given(
    st.recursive(
        st.floats() | st.text() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_nesting_is_strict_json(value: object):
    json.dumps(plain(value), allow_nan=False)
