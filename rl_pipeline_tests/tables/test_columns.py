"""Schemas tell their columns, and no value can stop a table."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_pipeline.schema import ALL_TABLES, StepMetric, Trial, VllmStat
from rl_pipeline.tables.columns import FITS, arrow_schema, clean_text, column_array, schema_digest


def optional(arrow_type: pa.DataType) -> pa.Field:
    return pa.field("x", arrow_type, nullable=True)


def required(arrow_type: pa.DataType) -> pa.Field:
    return pa.field("x", arrow_type, nullable=False)


def test_a_field_carries_its_meaning_and_unit():
    field = arrow_schema(VllmStat).field("kv_cache_usage")

    assert field.type == pa.float64()
    assert field.metadata == {b"description": b"share of the KV cache in use", b"unit": "fraction 0–1".encode()}


def test_a_schema_carries_table_and_version():
    metadata = arrow_schema(StepMetric).metadata

    assert metadata == {b"table": b"step_metrics", b"schema_version": b"1", b"description": b"One metric of one block."}


def test_columns_may_be_null_only_where_the_type_says_so():
    schema = arrow_schema(Trial)

    nullable = {name: schema.field(name).nullable for name in ("trial", "task", "is_eval", "rewards", "outcome")}

    assert nullable == {"trial": False, "task": True, "is_eval": False, "rewards": True, "outcome": False}


@pytest.mark.parametrize("row_class", ALL_TABLES, ids=lambda row_class: row_class.TABLE)
def test_every_column_of_every_table_is_described(row_class):
    for field in arrow_schema(row_class):
        assert field.metadata[b"description"], field.name
        assert field.metadata[b"unit"], field.name


def test_tables_with_other_columns_have_another_digest():
    schema = arrow_schema(StepMetric)

    assert schema_digest([schema]) == schema_digest([schema.remove_metadata()])
    assert schema_digest([schema]) != schema_digest([schema.remove(3)])


@pytest.mark.parametrize(
    ("arrow_type", "value", "held", "what"),
    [
        (pa.int64(), 2**63, None, "an integer of 64 bits, beyond 64"),
        (pa.int64(), -(2**63), -(2**63), None),
        (pa.int64(), 3.0, 3, None),
        (pa.int64(), 1.5, None, "a float that is no whole number"),
        (pa.int64(), float("nan"), None, "a float that is no whole number"),
        (pa.int64(), True, None, "a bool that is no whole number"),
        (pa.int64(), "7", None, "a str that is no whole number"),
        (pa.int64(), np.int32(7), 7, None),
        (pa.float64(), 2**60 + 1, 1.152921504606847e18, None),
        (pa.float64(), 10**400, None, "a number beyond the range of a float"),
        (pa.float64(), np.float32(0.5), 0.5, None),
        (pa.float64(), True, None, "a bool that is no number"),
        (pa.float64(), "0.5", None, "a str that is no number"),
        (pa.string(), "a\ud800b", "a\ufffdb", None),
        (pa.string(), b"bytes", None, "a bytes that is no text"),
        (pa.bool_(), 1, None, "a int that is neither true nor false"),
        (pa.bool_(), np.bool_(True), True, None),
        (pa.timestamp("us"), 1, None, "a int that is no time"),
        (
            pa.timestamp("us"),
            datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
            datetime(2026, 1, 1),
            None,
        ),
        (pa.map_(pa.string(), pa.int64()), {"a": None}, None, "a NoneType that is no whole number"),
        (pa.map_(pa.string(), pa.int64()), [], None, "a list that is no map"),
        (pa.map_(pa.string(), pa.float64()), {"a": None, "b": 2}, [("a", None), ("b", 2.0)], None),
    ],
    ids=str,
)
def test_a_value_fits_its_column_or_becomes_null_with_a_reason(arrow_type, value, held, what):
    array, misfits = column_array([value], optional(arrow_type))

    assert array.type == arrow_type
    assert array.to_pylist() == [held]
    assert [misfit.what for misfit in misfits] == ([what] if what else [])


def test_a_required_column_without_a_value_drops_the_row():
    array, misfits = column_array([1, None, 3], required(pa.int64()))

    assert array.to_pylist() == [1, None, 3]
    assert [(misfit.row, misfit.what, misfit.dropped) for misfit in misfits] == [
        (1, "nothing where a value must stand", True)
    ]


def test_halves_of_surrogate_pairs_are_joined_or_replaced():
    assert clean_text("\ud83d\ude00 \ud83d") == "😀 \ufffd"


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.binary(), ANY_TEXT, st.datetimes(), st.complex_numbers(),
    st.lists(st.integers()), st.dictionaries(ANY_TEXT | st.integers(), st.integers() | ANY_TEXT, max_size=3),
)  # fmt: skip


@given(st.lists(ANYTHING, max_size=6), st.sampled_from(list(FITS)))
def test_no_values_can_stop_a_column(values, arrow_type):
    array, misfits = column_array(values, optional(arrow_type))

    assert len(array) == len(values)
    assert array.null_count == len(misfits) + values.count(None)
