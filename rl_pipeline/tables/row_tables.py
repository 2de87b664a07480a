"""Rows to Arrow tables and back, and a collector of rows whose memory is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from rl_pipeline.column_forms import Chosen, Known, Maps
from rl_pipeline.metric_block import MetricBlock
from rl_pipeline.schema import RolloutBatch, Row, StepMetric, Unparsed, VllmStat
from rl_pipeline.tables.columns import INT64_MAX, Misfit, arrow_schema, column_array, rows_kept
from rl_pipeline.tables.waiting_rows import WaitingRows

R = TypeVar("R")

# Rows that wait as Python objects before they become one Arrow batch.
BATCH_ROWS = 8192
WAITING_FOR_COLUMNS = 65536  # rows that wait where others, given as columns, may have to stand before them
BY_LINE = frozenset({VllmStat, RolloutBatch})  # tables whose rows may come as columns: in the order of their lines
MOST_PLAIN_BYTES = 32 * 1024 * 1024  # of a table, before it is compressed
KEPT_UNPACKED = 200_000  # rows; larger tables are unpacked when they are needed


def to_arrow(rows: Sequence[Row] | WaitingRows, row_class: type[Any], misfits: list[Misfit] | None = None) -> pa.Table:
    """The rows as an Arrow table of exactly the table's schema.

    Args:
        rows: instances of `row_class`, in order.
        row_class: the table.
        misfits: is extended by the values that no column could hold. Such a value becomes null; where
            the column must not be null, its row is left out.
    """
    schema = arrow_schema(row_class)
    waiting = rows if isinstance(rows, WaitingRows) else WaitingRows(rows)
    found: list[Misfit] = []
    arrays = []
    for values, field in zip(waiting.columns(schema.names), schema, strict=True):
        array, unfit = column_array(values, field)
        arrays.append(array)
        found += unfit
    kept = rows_kept(len(waiting), found)
    if kept is not None:
        arrays = [array.take(pa.array(kept, pa.int64())) for array in arrays]
    if misfits is not None:
        misfits += found
    return pa.Table.from_arrays(arrays, schema=schema)


def to_rows(table: pa.Table, row_class: type[R]) -> list[R]:
    """The rows of an Arrow table, as the dialects made them."""
    schema = arrow_schema(row_class)
    columns = [python_values(table.column(field.name), field) for field in schema]
    return [row_class(**dict(zip(schema.names, values, strict=True))) for values in zip(*columns, strict=True)]


def python_values(column: pa.ChunkedArray, field: pa.Field) -> list[Any]:
    """The values of a column as rows hold them."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_map(field.type):
        return [None if value is None else dict(value) for value in values]
    return values


class RowSink:
    """Collects the rows of several tables, holding few of them as Python objects.

    Every `batch_rows` rows of a table become one compressed Arrow batch (about a tenth of the
    uncompressed size), so that a log with millions of rows needs tens of megabytes. A value that no
    column can hold becomes null and is told in `unparsed`, if that table is collected too.
    """

    def __init__(self, row_classes: Iterable[type[Row]], *, batch_rows: int = BATCH_ROWS) -> None:
        self._batch_rows = batch_rows
        self._waiting: dict[type[Row], WaitingRows] = {row_class: WaitingRows() for row_class in row_classes}
        self._streams = {
            row_class: _BatchStream(arrow_schema(row_class), by_line=row_class in BY_LINE)
            for row_class in self._waiting
        }
        self._told = False
        self._untold: list[Row] = []
        self._columns: dict[type[Row], list[pa.Table]] = {}
        self._base: str | None = None

    def append(self, rows: Iterable[Row]) -> None:
        """Take rows of any of the tables; the order within a table is kept."""
        if isinstance(rows, MetricBlock):
            self._waiting[StepMetric].append_block(rows)
            if len(self._waiting[StepMetric]) >= self._batch_rows:
                self._flush(StepMetric)
            return
        for row in rows:
            waiting = self._waiting[type(row)]
            waiting.append(row)
            if len(waiting) >= (self._batch_rows if type(row) not in BY_LINE else WAITING_FOR_COLUMNS):
                self._flush(type(row))

    def append_columns(self, row_class: type[Row], columns: Mapping[str, Any]) -> None:
        """Take many rows of one table whose order among others is that of their lines.

        Args:
            row_class: the table.
            columns: arrays of numpy, `line` among them; lists; values for all rows; or a form of `column_forms`. An
                absent column has its default.
        """
        table = columns_table(row_class, columns)
        held = self._columns.setdefault(row_class, [])
        first = columns["line"].min()
        if sum(map(len, held)) >= self._batch_rows and all(part["line"][-1].as_py() < first for part in held):
            self._flush(row_class)
        self._columns[row_class].append(table)

    def begin_with(self, tables: Mapping[str, EarlierRows], base: str) -> None:
        """The rows that come first, by table; they are not read before somebody asks for the table.

        Args:
            tables: see `EarlierRows`.
            base: the set of tables that has them.
        """
        self._base = base
        for row_class, stream in self._streams.items():
            stream.earlier = tables[row_class.TABLE]

    def settle(self) -> dict[str, Settled] | None:
        """Put all rows so far behind each other for good; None when some may yet change their place."""
        for row_class in self._waiting:
            self._flush(row_class)
        if self._untold:
            return None
        return {row.TABLE: Settled(stream.rows, stream.last_line) for row, stream in self._streams.items()}

    @property
    def is_settled(self) -> bool:
        """Whether the rows that `settle` counted still stand first; to be asked when all rows are in."""
        return not (self._told or self._untold) and all(stream.in_order for stream in self._streams.values())

    def tables(self) -> CollectedTables:
        """All tables by name; a table without a row has its columns."""
        self.readers()
        return CollectedTables({row_class.TABLE: stream for row_class, stream in self._streams.items()}, self._base)

    def readers(self) -> dict[str, pa.RecordBatchReader]:
        """The same tables as streams of batches, so that none has to stand in memory whole."""
        for row_class in self._waiting:
            self._flush(row_class)
        if self._untold:
            self._tell_misfits()
        return {row_class.TABLE: stream.reader() for row_class, stream in self._streams.items()}

    def _flush(self, row_class: type[Row]) -> None:
        rows, self._waiting[row_class] = self._waiting[row_class], WaitingRows()
        columns = self._columns.get(row_class, [])
        if not len(rows) and not columns:
            return
        misfits: list[Misfit] = []
        table = to_arrow(rows, row_class, misfits)
        if row_class in BY_LINE:
            self._columns[row_class] = []
            table = in_line_order(pa.concat_tables([table, *columns]))
        self._streams[row_class].write(table)
        self._untold += [unparsed_misfit(rows.row(misfit.row), misfit) for misfit in misfits]

    def _tell_misfits(self) -> None:
        told, self._untold, self._told = self._untold, [], True
        if Unparsed not in self._streams:
            return
        old = to_rows(self._streams[Unparsed].reader().read_all(), Unparsed)
        everything = sorted([*old, *told], key=attrgetter("line"))
        self._streams[Unparsed] = _BatchStream(arrow_schema(Unparsed))
        self._streams[Unparsed].write(to_arrow(everything, Unparsed))


def columns_table(row_class: type[Row], columns: Mapping[str, Any]) -> pa.Table:
    """Rows given as columns; see `RowSink.append_columns`."""
    schema, count = arrow_schema(row_class), len(columns["line"])
    defaults = {field.name: None if field.default is MISSING else field.default for field in fields(row_class)}
    arrays = [_column(columns.get(field.name, defaults[field.name]), field.type, count) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(values: Any, arrow_type: pa.DataType, count: int) -> pa.Array:  # noqa: ANN401 - as appended
    if values is None:
        return pa.nulls(count, arrow_type)
    if isinstance(values, Chosen):
        return _chosen(values, arrow_type)
    if isinstance(values, Known):
        mask = None if values.is_known.all() else ~values.is_known
        return pa.array(np.ascontiguousarray(values.values), arrow_type, mask=mask)
    if isinstance(values, Maps):
        ends = np.concatenate(([0], np.cumsum(values.lengths))).astype(np.int32)
        keys = _chosen(Chosen(values.choices, values.numbers), pa.string())
        items = _from_numpy(values.values, arrow_type.item_type)
        return pa.MapArray.from_arrays(pa.array(ends), keys, items).cast(arrow_type)
    if isinstance(values, str):  # pa.repeat copies text by text
        return pa.array([values], arrow_type).take(_from_numpy(np.zeros(count, np.int64), pa.int64()))
    if isinstance(values, bool | int | float):
        return pa.repeat(pa.scalar(values, arrow_type), count)
    if isinstance(values, list):
        return column_array(values, pa.field("", arrow_type))[0]
    return _from_numpy(values, arrow_type)


def _chosen(values: Chosen, arrow_type: pa.DataType) -> pa.Array:
    """Each row's choice; one that all have is not looked up row by row."""
    return pa.array(values.choices, arrow_type).take(_from_numpy(np.asarray(values.numbers), pa.int64()))


def _from_numpy(values: Any, arrow_type: pa.DataType) -> pa.Array:  # noqa: ANN401 - an array of numpy
    """The numbers or times as they lie in memory; without a copy."""
    validity = None
    if pa.types.is_timestamp(arrow_type):
        unknown = np.isnat(values)
        if unknown.any():
            validity = pa.py_buffer(np.packbits(~unknown, bitorder="little"))
        values = values.view(np.int64)
    wanted = np.float64 if pa.types.is_floating(arrow_type) else np.int64
    data = np.ascontiguousarray(values, wanted)
    return pa.Array.from_buffers(arrow_type, len(data), [validity, pa.py_buffer(data)])


def in_line_order(table: pa.Table) -> pa.Table:
    """The rows by their line, equal lines as they came."""
    lines = table.column("line").to_numpy()
    if (lines[1:] >= lines[:-1]).all():
        return table
    return table.combine_chunks().take(_from_numpy(np.argsort(lines, kind="stable"), pa.int64()))


class Settled(NamedTuple):
    """How many rows of a table stand first for good, and the line of the last, where the table goes by line; else 0."""

    rows: int
    last_line: int


class EarlierRows(NamedTuple):
    """The first rows of a table that stands elsewhere."""

    settled: Settled
    read: Callable[[], pa.Table]


class CollectedTables(Mapping[str, pa.Table]):
    """Tables that stand compressed in memory; a large one is unpacked anew each time it is asked for.

    `base` names the stored set whose rows come first; None: there is none.
    """

    def __init__(self, streams: Mapping[str, _BatchStream], base: str | None = None) -> None:
        self._streams, self.base = streams, base
        self._unpacked: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        """The table of that name."""
        if name in self._unpacked:
            return self._unpacked[name]
        table = self._streams[name].reader().read_all()
        if table.num_rows <= KEPT_UNPACKED:
            self._unpacked[name] = table
        return table

    def __iter__(self) -> Iterator[str]:
        """Names of the tables."""
        return iter(self._streams)

    def __len__(self) -> int:
        """How many tables there are."""
        return len(self._streams)

    def with_table(self, name: str, table: pa.Table) -> CollectedTables:
        """These tables and one more, which is small."""
        stream = _BatchStream(table.schema)
        stream.write(table)
        return CollectedTables({**self._streams, name: stream}, self.base)

    def rows(self) -> dict[str, int]:
        """Rows of each table; unpacks none."""
        return {name: stream.rows for name, stream in self._streams.items()}

    def behind(self, name: str) -> tuple[int, int, pa.RecordBatchReader] | None:
        """How many rows of a table are the first of that of `base`, how many come behind them, and these.

        None where they do not simply stand behind each other.
        """
        return self._streams[name].behind()

    def streams(self) -> dict[str, pa.RecordBatchReader]:
        """Each table as a stream of batches, for those who need not have it in memory."""
        return {name: stream.reader() for name, stream in self._streams.items()}


class _BatchStream:
    """Arrow batches of one table, compressed in memory when they are large."""

    def __init__(self, schema: pa.Schema, *, by_line: bool = False) -> None:
        """`by_line`: the rows are in the order of their lines, whatever the order in which they come."""
        self._schema, self._by_line = schema, by_line
        self._parts: list[pa.Buffer] = []  # compressed
        self._plain: list[pa.Table] = []  # what came after them
        self._plain_bytes = 0
        self._written, self._first, self._last, self._in_order = 0, 0, 0, True
        self.earlier: EarlierRows | None = None

    @property
    def rows(self) -> int:
        """Rows in all."""
        return self._written + (self.earlier.settled.rows if self.earlier else 0)

    @property
    def last_line(self) -> int:
        """Line of the last row of a table that goes by line."""
        return self._last if self._written or not self.earlier else self.earlier.settled.last_line

    @property
    def in_order(self) -> bool:
        """Whether the rows came in the order that they have."""
        if not (self._by_line and self._in_order and self._written and self.earlier):
            return self._in_order
        return self.earlier.settled.last_line <= self._first

    def write(self, table: pa.Table) -> None:
        """Take the next rows."""
        if self._by_line and table.num_rows:
            first, last = table["line"][0].as_py(), table["line"][-1].as_py()
            self._first = self._first if self._written else first
            self._in_order, self._last = self._in_order and first >= self._last, last
        self._written += table.num_rows
        self._plain.append(table)
        self._plain_bytes += table.nbytes
        if self._plain_bytes > MOST_PLAIN_BYTES:
            self._pack()

    def _pack(self) -> None:
        """Compress what stands plainly in memory."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            for table in self._plain:
                writer.write_table(table)
        self._parts.append(sink.getvalue())
        self._plain, self._plain_bytes = [], 0

    def behind(self) -> tuple[int, int, pa.RecordBatchReader] | None:
        """See `CollectedTables.behind`."""
        if self.earlier is None or not self.in_order:
            return None
        new = pa.RecordBatchReader.from_batches(self._schema, self._new_batches())
        return self.earlier.settled.rows, self._written, new

    def reader(self) -> pa.RecordBatchReader:
        batches = self._batches()
        if not self.in_order:
            batches = iter(in_line_order(pa.Table.from_batches(list(batches), self._schema)).to_batches())
        return pa.RecordBatchReader.from_batches(self._schema, batches)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self.earlier is not None and self.earlier.settled.rows:
            table = self.earlier.read().slice(0, self.earlier.settled.rows)
            yield from table.replace_schema_metadata(self._schema.metadata).to_batches()
        yield from self._new_batches()

    def _new_batches(self) -> Iterator[pa.RecordBatch]:
        for part in self._parts:
            yield from pa.ipc.open_stream(part)
        for table in self._plain:
            yield from table.to_batches()


def unparsed_misfit(row: Row, misfit: Misfit) -> Unparsed:
    """The row of `unparsed` that tells of a value no column can hold."""
    consequence = "the row is left out" if misfit.dropped else "it is left empty"
    return Unparsed(
        job=getattr(row, "job", None) or "",
        line=min(getattr(row, "line", None) or 1, INT64_MAX),
        byte_offset=getattr(row, "byte_offset", None),
        dialect=row.TABLE,
        reason=f"{misfit.column} would hold {misfit.what}; {consequence}",
        excerpt="",
    )
