"""Frames from rows, as analysis gets them: the columns and kinds of `schema`, without the table store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import pandas as pd

from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.schema import (
    CONSOLE,
    MEASURED,
    NOT_FINITE,
    TABLES_BY_NAME,
    TRAIN,
    Job,
    Row,
    StepMetric,
)


def frame_of(row_class: type[Row], rows: Iterable[Row | Mapping[str, Any]]) -> pd.DataFrame:
    """Rows (or mappings; absent columns are null) as a frame with exactly the columns of the row class."""
    records = [dict(row) if isinstance(row, Mapping) else asdict(row) for row in rows]
    kinds = get_type_hints(row_class)
    data = {f.name: _column([r.get(f.name) for r in records], kinds[f.name]) for f in fields(row_class)}
    return pd.DataFrame(data)


def _column(values: list[Any], kind: Any) -> pd.Series[Any]:
    types = set(get_args(kind)) or {kind}
    if get_origin(kind) is dict:
        return pd.Series([{} if v is None else v for v in values], dtype=object)
    if datetime in types:
        return pd.Series(pd.to_datetime(pd.Series(values, dtype=object)).astype("datetime64[us]"))
    if int in types:
        return pd.Series(values, dtype="Int64")
    if float in types:
        return pd.Series(values, dtype="float64")
    if bool in types:
        return pd.Series([bool(v) for v in values], dtype="bool")
    return pd.Series(values, dtype=object)


def experiment_frames(experiment: str = "experiment", **rows: Iterable[Row | Mapping[str, Any]]) -> ExperimentFrames:
    """An experiment from rows by table name; the tables not given are empty."""
    unknown = set(rows) - set(TABLES_BY_NAME)
    assert not unknown, unknown
    tables = {name: frame_of(row, rows.get(name, ())) for name, row in TABLES_BY_NAME.items()}
    return ExperimentFrames(experiment=experiment, **tables)


def job_row(job: str, **columns: Any) -> Job:
    """A job with harmless values in all columns that are not given."""
    values: dict[str, Any] = {
        "experiment": "experiment",
        "job_key": f"experiment_{job}",
        "path": f"{job}.out",
        "size_bytes": 1,
        "fingerprint": job,
        "lines": 1,
        "printed_lines": 1,
        "blocks": 0,
        "broken_blocks": 0,
        "dialect_lines": {},
    }
    return Job(job=job, **{**values, **columns})


def block_rows(job: str, block: int, step: int | None, values: Mapping[str, Any], **columns: Any) -> list[StepMetric]:
    """One metric block; numbers are measured, infinite ones and NaN not finite."""
    shape = {"line": block * 100 + 1, "kind": TRAIN, "source": CONSOLE, **columns}
    return [_metric(job, block, step, metric, value, shape) for metric, value in values.items()]


def _metric(job: str, block: int, step: int | None, metric: str, value: Any, shape: Mapping[str, Any]) -> StepMetric:
    number = float(value)
    finite = number == number and abs(number) != float("inf")
    state = {"state": MEASURED if finite else NOT_FINITE, **shape}
    return StepMetric(job=job, block=block, global_step=step, metric=metric, value=number if finite else None, **state)
