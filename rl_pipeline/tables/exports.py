"""All tables of an experiment as CSV and Parquet, under the published names.

    metrics_table.csv          every metric block of every job as one row, metrics as columns
    metrics_<job>.csv          the same, of one job
    vllm_metrics_table.csv     engine statistics
    trial_results.csv          trials
    <table>.csv  <table>.parquet   every table of the schema, as it is

Nothing is an empty cell, never 0; maps are JSON. Text that a spreadsheet would run as a formula gets
an apostrophe before it; numbers are never touched. The same frames give the same bytes, and each
file is renamed into place when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from rl_pipeline.schema import ALL_TABLES, Job, StepMetric, Trial, VllmStat
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.parquet import write_parquet
from rl_pipeline.tables.wide_metrics import wide_metrics

METRICS_TABLE = "metrics_table.csv"
PUBLISHED = {VllmStat: "vllm_metrics_table.csv", Trial: "trial_results.csv"}  # as their own tables, by another name
# What spreadsheets take for the beginning of a formula, also in its full-width forms.
FORMULA = re.compile(r"^[=+\-@\t\r\n＝＋－＠]")
UNSAFE_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
NAME_LIMIT = 100
SLICE_ROWS = 8192

Writer = Callable[[IO[bytes]], object]


class Frames(Protocol):
    """The frames of one experiment: attributes named like the tables of the schema."""

    @property
    def experiment(self) -> str:
        """Its name."""
        ...


def write_exports(frames: Frames, folder: Path) -> tuple[str, ...]:
    """Write all files; gives their names, sorted.

    Args:
        frames: the experiment's frames.
        folder: is made when it is not there; other files in it stay.
    """
    from rl_pipeline.tables.frames import from_frame  # noqa: PLC0415 - tables are exported without pandas

    return _write_all(lambda row: from_frame(getattr(frames, row.TABLE), row), folder)


def write_table_exports(tables: Mapping[str, pa.Table], folder: Path) -> tuple[str, ...]:
    """The same files from the tables by name, without frames."""
    return _write_all(lambda row: _without_nan(tables[row.TABLE]), folder)


def _without_nan(table: pa.Table) -> pa.Table:
    """Null and NaN are one thing in a frame, so they are in the files."""
    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(place)
            nothing = pa.scalar(None, field.type)
            table = table.set_column(place, field, pc.if_else(pc.is_nan(column), nothing, column))
    return table


def _write_all(table_of: Callable[[type[Any]], pa.Table], folder: Path) -> tuple[str, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    names: list[str] = []
    for row in ALL_TABLES:  # one at a time, so that only one stands in memory as Arrow
        names += _write_table(table_of(row), row, folder)
    metrics = table_of(StepMetric)
    jobs: list[str] = table_of(Job)["job"].to_pylist()
    for name, of_jobs in {METRICS_TABLE: jobs, **{name: [job] for job, name in file_names(jobs).items()}}.items():
        some = metrics if name == METRICS_TABLE else metrics.filter(pc.equal(metrics["job"], of_jobs[0]))
        _write_in_place(folder / name, _csv_writer(wide_metrics(some, of_jobs, without_formula)))
        names.append(name)
    return tuple(sorted(names))


def _write_table(table: pa.Table, row: type[Any], folder: Path) -> Iterator[str]:
    """One table under all its names."""
    _write_in_place(folder / f"{row.TABLE}.parquet", lambda file: write_parquet(file, table, arrow_schema(row)))
    yield f"{row.TABLE}.parquet"
    own = f"{row.TABLE}.csv"
    _write_in_place(folder / own, _csv_writer(table, _csv_column))
    yield own
    if row in PUBLISHED:
        with (folder / own).open("rb") as content:
            _write_in_place(folder / PUBLISHED[row], partial(shutil.copyfileobj, content))
        yield PUBLISHED[row]


def file_names(jobs: Sequence[str]) -> dict[str, str]:
    """A file name for each job: its own name where that is safe and free, else with a digest of it."""
    taken = {METRICS_TABLE}
    names = {}
    for job in dict.fromkeys(jobs):
        safe = UNSAFE_IN_A_NAME.sub("_", job)[:NAME_LIMIT]
        name = f"metrics_{safe}.csv"
        if safe != job or name.lower() in taken:
            name = f"metrics_{safe}_{hashlib.blake2b(job.encode(), digest_size=4).hexdigest()}.csv"
        taken.add(name.lower())
        names[job] = name
    return names


def without_formula(text: str) -> str:
    """The text as a spreadsheet shows it, and does not run it."""
    return f"'{text}" if FORMULA.match(text) else text


def _csv_writer(table: pa.Table, safe: Callable[[pa.ChunkedArray], pa.ChunkedArray] = lambda column: column) -> Writer:
    """Writes a table in slices, so that its texts are never there as a whole.

    Args:
        table: names of its columns come from logs too.
        safe: makes cells of a column that a spreadsheet does not run.
    """
    names = [without_formula(name) for name in table.schema.names]

    def write(file: IO[bytes]) -> None:
        slices = (table.slice(start, SLICE_ROWS) for start in range(0, max(1, table.num_rows), SLICE_ROWS))
        cells = (pa.Table.from_arrays([safe(column) for column in some.columns], names=names) for some in slices)
        first = next(cells)
        with pa_csv.CSVWriter(file, first.schema) as writer:
            for some in chain([first], cells):
                writer.write_table(some)

    return write


def _csv_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_map(column.type):
        texts = [None if items is None else _json_of(tuple(items)) for items in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if not pa.types.is_string(column.type):
        return column
    is_formula = pc.match_substring_regex(column, FORMULA.pattern)
    return pc.if_else(is_formula, pc.binary_join_element_wise("'", column, ""), column)


@lru_cache(maxsize=4096)  # few maps differ: rewards are 0 or 1, exceptions have a handful of names
def _json_of(items: tuple[tuple[str, float | None], ...]) -> str:
    return json.dumps(dict(items), ensure_ascii=False)


def _write_in_place(path: Path, write: Writer) -> None:
    """Write beside the file, then put it in its place."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        with beside.open("wb") as file:
            write(file)
        os.replace(beside, path)  # noqa: PTH105 - says what it does
    finally:
        beside.unlink(missing_ok=True)
