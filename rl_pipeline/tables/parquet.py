"""Parquet files that are equal when their tables are.

The same rows give the same bytes, however they were cut into batches on the way: row groups have a
fixed number of rows and one chunk each. The schema, with each column's meaning and unit and the
version of the schema, is inside the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP_ROWS = 65536
COMPRESSION, COMPRESSION_LEVEL = "zstd", 3


def write_parquet(file: IO[bytes] | Any, table: pa.Table | pa.RecordBatchReader, schema: pa.Schema) -> int:  # noqa: ANN401 - any file-like object
    """Write a table, or a stream of batches, and tell the number of rows.

    Args:
        file: an open binary file.
        table: data whose columns have the names and types of `schema`.
        schema: what stands in the file, metadata included.
    """
    rows = 0
    with pq.ParquetWriter(file, schema, compression=COMPRESSION, compression_level=COMPRESSION_LEVEL) as writer:
        for group in _row_groups(_batches(table), schema):
            writer.write_table(group, row_group_size=ROW_GROUP_ROWS)
            rows += group.num_rows
    return rows


def read_parquet(content: bytes, columns: list[str] | None = None) -> pa.Table:
    """The table in a Parquet file's bytes; its schema metadata is the one written."""
    table = pq.read_table(pa.BufferReader(content), columns=columns, use_threads=False)
    fields = [field.with_metadata(_without_parquet_ids(field.metadata)) for field in table.schema]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, metadata=table.schema.metadata))


def _batches(table: pa.Table | pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    return iter(table.to_batches()) if isinstance(table, pa.Table) else iter(table)


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """The batches as tables of exactly `ROW_GROUP_ROWS` rows, the last one shorter; one chunk a column."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
        count += batch.num_rows
        while count >= ROW_GROUP_ROWS:
            together = pa.Table.from_batches(held, schema)
            yield together.slice(0, ROW_GROUP_ROWS).combine_chunks()
            held = together.slice(ROW_GROUP_ROWS).to_batches()
            count -= ROW_GROUP_ROWS
    yield pa.Table.from_batches(held, schema).combine_chunks()


def _without_parquet_ids(metadata: dict[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    kept = {key: value for key, value in (metadata or {}).items() if not key.startswith(b"PARQUET:")}
    return kept or None
