"""Rows, Arrow and frames hold the same, each way."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rl_pipeline.schema import ALL_TABLES, JOB_TABLES, JobEvent, RolloutBatch, StepMetric, Trial, Unparsed, VllmStat
from rl_pipeline.tables.frames import RowSink, arrow_schema, from_frame, to_arrow, to_frame, to_rows
from rl_pipeline_tests.helpers.strategies import rows

BATCH = RolloutBatch(job="job_1", line=7, successful=5, total=8, failed_groups=1, exceptions={"AgentTimeoutError": 3})
METRIC = StepMetric(
    job="job_1", block=0, line=3, kind="train", global_step=1, metric="loss", value=0.5, state="measured",
    source="console",
)  # fmt: skip


def through_parquet(table: pa.Table) -> pa.Table:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return pq.read_table(io.BytesIO(buffer.getvalue()))


@pytest.mark.parametrize("row_class", ALL_TABLES, ids=lambda row_class: row_class.TABLE)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_rows_come_back_from_parquet_as_they_were(row_class: type[Any], data: st.DataObject):
    written = data.draw(st.lists(rows(row_class), max_size=4))

    table = through_parquet(to_arrow(written, row_class))

    assert to_rows(table, row_class) == written


@pytest.mark.parametrize("row_class", ALL_TABLES, ids=lambda row_class: row_class.TABLE)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_frame_gives_back_the_table_it_was_made_from(row_class: type[Any], data: st.DataObject):
    table = to_arrow(data.draw(st.lists(rows(row_class), max_size=4)), row_class)

    frame = to_frame(table)

    assert list(frame.columns) == table.schema.names
    assert from_frame(frame, row_class).to_pylist() == table.to_pylist()


@pytest.mark.parametrize("row_class", ALL_TABLES, ids=lambda row_class: row_class.TABLE)
def test_an_empty_table_keeps_columns_and_types(row_class: type[Any]):
    empty = to_frame(to_arrow([], row_class))
    schema = arrow_schema(row_class)

    assert list(empty.columns) == schema.names
    assert len(empty) == 0
    kinds = {pa.string(): "O", pa.float64(): "f", pa.bool_(): "b", pa.timestamp("us"): "M", pa.int64(): "i"}
    assert [empty[field.name].dtype.kind for field in schema] == [kinds.get(field.type, "O") for field in schema]


def test_a_frame_has_the_types_that_analysis_relies_on():
    stat = VllmStat(
        job="job_1", line=1, logged_at=datetime(2026, 1, 9, 11, 22, 33, 444000), prompt_throughput=1.5,
        generation_throughput=None, running=3, waiting=None, kv_cache_usage=0.5,
    )  # fmt: skip

    frame = to_frame(to_arrow([stat, replace(stat, line=2, logged_at=None, running=None)], VllmStat))

    assert frame["line"].dtype == np.dtype("int64")
    assert isinstance(frame["running"].dtype, pd.Int64Dtype)
    assert frame["running"][0] == 3
    assert frame["running"].isna().tolist() == [False, True]
    assert frame["logged_at"].dtype == np.dtype("datetime64[us]")
    assert frame["logged_at"].isna().tolist() == [False, True]
    assert frame["job"].dtype == np.dtype(object)
    assert frame["ip"].tolist() == [None, None]
    assert np.isnan(frame["generation_throughput"][0])


def test_map_columns_of_a_frame_hold_dictionaries():
    frame = to_frame(to_arrow([BATCH], RolloutBatch))

    assert frame["exceptions"].tolist() == [{"AgentTimeoutError": 3}]


def test_equal_texts_of_a_frame_are_one_object():
    frame = to_frame(to_arrow([replace(METRIC, line=line) for line in (3, 4)], StepMetric))

    assert frame["metric"][0] is frame["metric"][1]


def test_integers_that_pandas_made_floats_become_integers_again():
    frame = to_frame(to_arrow([METRIC], StepMetric))
    frame["global_step"] = pd.Series([1.0])

    assert from_frame(frame, StepMetric).column("global_step").to_pylist() == [1]


def test_null_and_nan_stay_apart_in_arrow():
    values = [float("nan"), None]

    table = to_arrow([replace(METRIC, value=value) for value in values], StepMetric)

    assert table.column("value").null_count == 1


def test_a_sink_gives_every_table_in_order_whatever_the_batch_size():
    metrics = [replace(METRIC, line=line) for line in range(1, 8)]
    sink = RowSink(JOB_TABLES, batch_rows=3)

    sink.append([*metrics[:4], BATCH, *metrics[4:]])
    tables = sink.tables()

    assert list(tables) == [row_class.TABLE for row_class in JOB_TABLES]
    assert to_rows(tables["step_metrics"], StepMetric) == metrics
    assert to_rows(tables["rollout_batches"], RolloutBatch) == [BATCH]
    assert tables["job_events"].schema.equals(arrow_schema(JobEvent), check_metadata=True)


def test_a_value_no_column_can_hold_is_told_and_stops_nothing():
    sink = RowSink(JOB_TABLES)
    first = Unparsed(job="job_1", line=9, byte_offset=90, dialect="vllm", reason="cut", excerpt="Engine 0")

    sink.append([first, METRIC, replace(METRIC, line=5, global_step=2**64), replace(METRIC, line=6, block=2**64)])
    tables = sink.tables()

    assert to_rows(tables["step_metrics"], StepMetric) == [METRIC, replace(METRIC, line=5, global_step=None)]
    assert [(row.line, row.dialect, row.reason) for row in to_rows(tables["unparsed"], Unparsed)] == [
        (5, "step_metrics", "global_step would hold an integer of 65 bits, beyond 64; it is left empty"),
        (6, "step_metrics", "block would hold an integer of 65 bits, beyond 64; the row is left out"),
        (9, "vllm", "cut"),
    ]


def test_a_trial_without_a_name_is_left_out_and_told():
    misfits: list[Any] = []

    table = to_arrow([Trial(trial=None, task="t", path="a", outcome="solved")], Trial, misfits)  # type: ignore[arg-type] # a parser's slip

    assert table.num_rows == 0
    assert [(misfit.column, misfit.dropped) for misfit in misfits] == [("trial", True)]
