"""Previews, charts and schemas keep to what the UI shows and cannot be broken by what a log holds."""

from __future__ import annotations

import base64

import pyarrow as pa

from rl_pipeline.defs.metadata import (
    INLINE_LIMIT,
    PREVIEWED,
    cell,
    column_schema,
    numbers_metadata,
    preview,
    sparkline,
)
from rl_pipeline.schema import JOB_TABLES, StepMetric, Trial, columns_of


def test_a_preview_shows_the_first_rows_and_leaves_out_empty_columns():
    table = pa.table({"step": [1, 2], "reward": [0.25, None], "note": pa.array([None, None], pa.string())})

    assert preview(table) == "| step | reward |\n| --- | --- |\n| 1 | 0.25 |\n| 2 | — |"


def test_a_preview_shows_the_chosen_columns_in_their_order():
    table = pa.table({"step": [1, 2], "reward": [0.25, None], "note": ["a", "b"]})

    assert preview(table, ("note", "step")) == "| note | step |\n| --- | --- |\n| a | 1 |\n| b | 2 |"


def test_the_columns_chosen_for_previews_exist():
    rows = {row.TABLE: {column.name for column in columns_of(row)} for row in (*JOB_TABLES, Trial)}

    assert all(set(chosen) <= rows[table] for table, chosen in PREVIEWED.items())


def test_a_preview_of_long_cells_stays_below_the_limit_of_the_ui():
    table = pa.table({f"column_{number}": ["x" * 500] * 20 for number in range(12)})

    assert len(preview(table)) < INLINE_LIMIT
    assert preview(table).count("\n") >= 2


def test_markup_from_a_log_is_inert_in_a_cell():
    assert cell("<img src=x>|[a](b)\n`c`") == "\\<img src=x\\>\\|\\[a\\](b) \\`c\\`"


def test_a_table_without_rows_says_so():
    assert preview(pa.table({"step": pa.array([], pa.int64())})) == "no rows"


def test_a_chart_of_many_values_fits_on_the_page():
    chart = sparkline([float(value % 17) for value in range(100_000)], "reward/avg_raw_reward")

    assert chart is not None
    assert len(str(chart.value)) < INLINE_LIMIT


def test_a_chart_draws_from_the_first_to_the_last_value():
    chart = sparkline([0.0, None, 1.0], "reward")

    assert chart is not None
    data = str(chart.value).split("base64,")[1].split(")")[0]
    assert 'points="2,46 238,2"' in base64.b64decode(data).decode()


def test_a_chart_needs_two_numbers():
    assert sparkline([1.0, None, float("nan")], "reward") is None


def test_missing_numbers_are_left_out_and_counts_stay_whole():
    shown = numbers_metadata({"steps": 3, "mean": 0.5, "absent": None, "odd": float("nan")})

    assert {name: value.value for name, value in shown.items()} == {"steps": 3, "mean": 0.5}


def test_the_column_schema_tells_type_unit_and_meaning():
    columns = {column.name: column for column in column_schema(StepMetric).columns}

    assert list(columns)[:7] == ["job", "block", "line", "kind", "global_step", "metric", "value"]
    assert columns["global_step"].type == "int"
    assert columns["global_step"].constraints.nullable
    assert not columns["metric"].constraints.nullable
    assert columns["job"].description == "short name of the job [text]"
