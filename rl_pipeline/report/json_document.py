"""`report.json`: every number and finding of the report under a versioned schema.

The document is made from the same results as the pages, field by field, so the names of the analysis
classes are its schema; `docs/report_schema.md` is written from those classes. Raise `SCHEMA_VERSION`
when a name is removed or changes its meaning, not when one is added.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from rl_pipeline import __version__
from rl_pipeline.analysis.experiment_card import experiment_card
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import Provenance
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.plain import JsonValue, plain
from rl_pipeline.schema import Job, columns_of

SCHEMA_VERSION = 1
GENERATOR = "rl_pipeline"
# Parts of the result, in the order of the document; one that was not made is null.
PARTS = (
    "verdict",
    "findings",
    "published",
    "lineage",
    "replays",
    "populations",
    "time",
    "trend",
    "levels",
    "noise",
    "trials",
    "tasks",
    "comparison",
    "engines",
    "checkpoints",
    "thresholds",
    "as_of",
)


def report_document(result: ExperimentResult, frames: ExperimentFrames, provenance: Provenance) -> dict[str, JsonValue]:
    """The whole report as JSON values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "experiment": frames.experiment,
        "generator": {"name": GENERATOR, "version": __version__},
        "jobs": job_list(frames),
        **{name: plain(getattr(result, name)) for name in PARTS},
        "provenance": plain(provenance),
        "card": plain(experiment_card(frames, result)),
    }


def job_list(frames: ExperimentFrames) -> list[JsonValue]:
    """One object per job log with the columns of the `jobs` table."""
    names = [column.name for column in columns_of(Job)]
    return [{name: plain(_cell(row[name])) for name in names} for row in frames.jobs.to_dict("records")]


def _cell(value: Any) -> Any:  # noqa: ANN401 - a cell of a frame
    """A frame's own words for "nothing" as None, its times as datetimes."""
    if hasattr(value, "to_pydatetime"):
        return None if value != value else value.to_pydatetime()
    return None if type(value).__name__ in {"NAType", "NaTType"} else value


def to_text(document: dict[str, JsonValue]) -> str:
    """The document as text; the same input gives the same bytes."""
    # The standard library's fast encoder knows no indentation.
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return msgspec.json.format(text, indent=1) + "\n"
