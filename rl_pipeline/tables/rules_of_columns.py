"""Rules that look at one column at a time, for whichever tables are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline.schema import (
    BLOCK_KINDS,
    END_STATES,
    EXCEPTION_CLASSES,
    METRIC_SOURCES,
    OUTCOMES,
    TABLES_BY_NAME,
    VALUE_STATES,
)
from rl_pipeline.tables.columns import arrow_schema
from rl_pipeline.tables.violations import Found, Tables, flags_of, found_where
from rl_pipeline.units import Unit

EARLIEST, LATEST = datetime(2015, 1, 1), datetime(2100, 1, 1)
# Printed times of one log come from several machines and, in part, without a year.
OUTSIDE_OF_LOG = timedelta(days=2)
AMOUNTS = {Unit.BYTES, Unit.REQUESTS, Unit.TOKENS, Unit.TOKENS_PER_SECOND, Unit.SECONDS, Unit.USD}
# Hit rates are quotients of two counters that the engine reads at different moments.
HIT_RATES = frozenset({"prefix_cache_hit_rate", "external_prefix_cache_hit_rate", "mm_cache_hit_rate"})
ROUNDING = 1e-9

WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("step_metrics", "kind"): BLOCK_KINDS,
    ("step_metrics", "state"): VALUE_STATES,
    ("step_metrics", "source"): METRIC_SOURCES,
    ("rollout_batches", "mode"): ("training", "eval"),
    ("vllm_stats", "scope"): ("engine", "server"),
    ("trials", "outcome"): OUTCOMES,
    ("trials", "exception_class"): EXCEPTION_CLASSES,
    ("trials", "job_confidence"): ("exact", "assumed_utc", "estimated_zone", "overlap", "none"),
    ("jobs", "end_state"): END_STATES,
}


def differing_columns(tables: Tables) -> Iterator[Found]:
    """Tables whose columns are not those of the schema, in name, order or type."""
    for name, table in tables.items():
        expected = arrow_schema(TABLES_BY_NAME[name])
        missing = [f"{field.name} is missing" for field in expected if field.name not in table.schema.names]
        other = [f"{name} is unknown" for name in table.schema.names if name not in expected.names]
        types = [
            f"{field.name} is {table.schema.field(field.name).type}, not {field.type}"
            for field in expected
            if field.name in table.schema.names and table.schema.field(field.name).type != field.type
        ]
        differing = missing + other + types
        if not differing and table.schema.names != expected.names:
            differing = ["the order is another one"]
        yield Found(name, len(differing), "columns differ from the schema", tuple(differing))


def unknown_words(tables: Tables) -> Iterator[Found]:
    """Values of closed columns that are not in their list."""
    for (name, column), words in WORDS.items():
        if name in tables:
            values = tables[name][column]
            unknown = pc.and_(pc.is_valid(values), pc.invert(pc.is_in(values, value_set=pa.array(words))))
            flags = flags_of(unknown, tables[name].num_rows)
            yield found_where(name, tables[name], flags, f"{column} has an unknown word", column)


def rows_of_other_jobs(tables: Tables) -> Iterator[Found]:
    """Rows that name another job than the log's."""
    jobs = tables["jobs"]["job"] if "jobs" in tables else None
    if jobs is None or len(jobs) != 1:
        return
    for name, table in tables.items():
        if name not in {"jobs", "trials", "skipped_trials"}:
            flags = flags_of(pc.not_equal(table["job"], jobs[0]), table.num_rows)
            yield found_where(name, table, flags, f"rows of another job than {jobs[0].as_py()}", "job")


def lines_out_of_range(tables: Tables) -> Iterator[Found]:
    """Lines before the first or behind the last of the log."""
    lines = tables["jobs"]["lines"].to_pylist() if "jobs" in tables else []
    last = lines[0] if len(lines) == 1 else None
    for name, table in tables.items():
        if "line" not in table.schema.names:
            continue
        outside = pc.less(table["line"], 1)
        if last is not None:
            outside = pc.or_(outside, pc.greater(table["line"], last + 1))  # a last line without its end
        yield found_where(name, table, flags_of(outside, table.num_rows), "lines that the log does not have")


def fractions_out_of_range(tables: Tables) -> Iterator[Found]:
    """Shares below 0 or above 1; a percentage that was not converted looks so."""
    return _no_shares(tables, is_wanted=lambda column: column not in HIT_RATES)


def odd_hit_rates(tables: Tables) -> Iterator[Found]:
    """The same for hit rates, which an engine itself may print above 100 %."""
    return _no_shares(tables, is_wanted=lambda column: column in HIT_RATES)


def _no_shares(tables: Tables, *, is_wanted: Callable[[str], bool]) -> Iterator[Found]:
    for name, table in tables.items():
        for column in filter(is_wanted, _columns_of_units(name, {Unit.FRACTION})):
            values = _numbers(table, column)
            with np.errstate(invalid="ignore"):
                flags = (values < -ROUNDING) | (values > 1 + ROUNDING)
            yield found_where(name, table, flags, f"{column} is no share between 0 and 1", column)


def negative_amounts(tables: Tables) -> Iterator[Found]:
    """Counts, durations, rates and costs below 0."""
    for name, table in tables.items():
        for column in _columns_of_units(name, AMOUNTS):
            with np.errstate(invalid="ignore"):
                flags = _numbers(table, column) < 0
            yield found_where(name, table, flags, f"{column} is negative", column)


def dates_out_of_range(tables: Tables) -> Iterator[Found]:
    """Times no run can have, and times that lie days outside of the log's."""
    log = _span_of_log(tables)
    for name, table in tables.items():
        for field in table.schema:
            if pa.types.is_timestamp(field.type):
                earliest, latest = log if field.name == "logged_at" else (EARLIEST, LATEST)
                outside = pc.or_(_before(table[field.name], earliest), _before(latest, table[field.name]))
                flags = flags_of(outside, table.num_rows)
                yield found_where(name, table, flags, f"{field.name} cannot be right", field.name)


def _span_of_log(tables: Tables) -> tuple[datetime, datetime]:
    """Between which times the lines of the log may lie; what is known of no log when there is none, or none told."""
    jobs = tables["jobs"].select(["first_logged_at", "last_logged_at"]).to_pylist() if "jobs" in tables else []
    first, last = jobs[0].values() if len(jobs) == 1 else (None, None)
    if first is None or last is None:
        return EARLIEST, LATEST
    return max(first, EARLIEST) - OUTSIDE_OF_LOG, min(last, LATEST) + OUTSIDE_OF_LOG


def _before(one: Any, other: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    one, other = (pa.scalar(side, pa.timestamp("us")) if isinstance(side, datetime) else side for side in (one, other))
    return pc.less(one, other)


def _columns_of_units(table: str, units: set[Unit]) -> list[str]:
    told = {unit.value.encode() for unit in units}
    return [field.name for field in arrow_schema(TABLES_BY_NAME[table]) if field.metadata[b"unit"] in told]


def _numbers(table: pa.Table, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    numbers: np.ndarray[Any, np.dtype[np.float64]] = table[column].cast(pa.float64(), safe=False).to_numpy()
    return numbers
