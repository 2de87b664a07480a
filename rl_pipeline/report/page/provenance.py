"""What the page was made from: inputs, versions, coverage, configuration, what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from rl_pipeline import __version__
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import Provenance
from rl_pipeline.report.formatting import ABSENT, thousands
from rl_pipeline.report.views.inputs import InputsView, inputs_view
from rl_pipeline.report.views.table import TableView, table

MOST_KEYS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceView:
    """The last section.

    Attributes:
        inputs: logs, trials, what could not be read.
        recognised: messages per job and format.
        tables: rows of each table, which lie beside the page as CSV and Parquet.
        configuration: what the logs print of it; None when nothing.
        version: of the program.
    """

    inputs: InputsView
    recognised: TableView | None
    tables: TableView
    configuration: TableView | None
    version: str


def provenance_view(provenance: Provenance, frames: ExperimentFrames) -> ProvenanceView:
    """Everything about the inputs."""
    return ProvenanceView(
        inputs=inputs_view(provenance),
        recognised=_recognised(provenance),
        tables=table("Table | Rows", ((name, thousands(rows)) for name, rows in provenance.rows.items())),
        configuration=_configuration(frames.job_events),
        version=__version__,
    )


def _recognised(provenance: Provenance) -> TableView | None:
    formats = sorted({name for log in provenance.logs for name in log.recognised})
    if not formats:
        return None
    jobs = [log.job for log in provenance.logs]
    rows = (
        (name, *(thousands(log.recognised[name]) if name in log.recognised else ABSENT for log in provenance.logs))
        for name in formats
    )
    return table(" | ".join(["Format", *(job.replace(" | ", " ") for job in jobs)]), rows)


def _configuration(events: pd.DataFrame) -> TableView | None:
    """Keys as the logs print them; the last job that prints a key counts."""
    keys = events[(events["kind"] == "configuration") & events["name"].notna()]
    if keys.empty:
        return None
    last = keys.drop_duplicates("name", keep="last").sort_values("name", kind="stable").head(MOST_KEYS)
    return table(
        "Key | Value | Job", ((str(r["name"]), _value(r), str(r["job"])) for r in last.to_dict("records")), words=3
    )


def _value(row: Any) -> str:  # noqa: ANN401 - a row of a frame
    if isinstance(row["detail"], str):
        return row["detail"]
    return ABSENT if pd.isna(row["value"]) else f"{row['value']:g}"
