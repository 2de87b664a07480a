"""Equal tables give equal files, and a file tells its columns."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rl_pipeline.schema import SkippedTrial
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.parquet import ROW_GROUP_ROWS, read_parquet, write_parquet

SCHEMA = arrow_schema(SkippedTrial)
COUNT = ROW_GROUP_ROWS + 1000
TABLE = pa.Table.from_arrays(
    [pa.array([f"trial-{n}" for n in range(COUNT)]), pa.array([f"reason {n % 7}" for n in range(COUNT)])], schema=SCHEMA
)


def written(table: pa.Table | pa.RecordBatchReader) -> bytes:
    buffer = io.BytesIO()
    assert write_parquet(buffer, table, SCHEMA) == COUNT
    return buffer.getvalue()


@pytest.mark.parametrize("batch_rows", [1000, ROW_GROUP_ROWS, COUNT])
def test_the_bytes_do_not_depend_on_how_the_rows_were_cut(batch_rows: int):
    batches = TABLE.to_batches(max_chunksize=batch_rows)

    assert written(pa.RecordBatchReader.from_batches(SCHEMA, batches)) == written(TABLE)


def test_row_groups_have_a_fixed_number_of_rows():
    metadata = pq.ParquetFile(io.BytesIO(written(TABLE))).metadata

    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [ROW_GROUP_ROWS, 1000]


def test_meaning_and_unit_stand_in_the_file():
    schema = pq.read_schema(io.BytesIO(written(TABLE)))

    assert schema.metadata[b"table"] == b"skipped_trials"
    assert schema.metadata[b"schema_version"] == b"1"
    assert schema.field("reason").metadata[b"description"] == b"what it is instead, or what is wrong with it"
    assert schema.field("reason").metadata[b"unit"] == b"text"


def test_a_table_comes_back_with_the_schema_it_had():
    assert read_parquet(written(TABLE)).schema.equals(SCHEMA, check_metadata=True)
    assert read_parquet(written(TABLE)).equals(TABLE)


def test_some_columns_can_be_read_alone():
    assert read_parquet(written(TABLE), ["reason"]).schema.names == ["reason"]
