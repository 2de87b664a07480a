"""Tables of one experiment to frames, with thresholds to results, and results to files; nothing here knows a log.

A process that only analyses imports this, and not the readers that `pipeline` brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from rl_pipeline.analysis.thresholds import Thresholds, default_thresholds, thresholds_from_text
from rl_pipeline.thresholds_file import ThresholdsFile, read_thresholds_file

if TYPE_CHECKING:
    from rl_pipeline.analysis.inputs import ExperimentFrames
    from rl_pipeline.analysis.summary import ExperimentResult
    from rl_pipeline.report.bundle import Bundle

NOTHING: Mapping[str, Sequence[str]] = {}


def frames_of(
    experiment: str, tables: Mapping[str, pa.Table], *, without: Mapping[str, Sequence[str]] = NOTHING
) -> ExperimentFrames:
    """The tables of one experiment as frames; columns of `without` are left out, by table."""
    from rl_pipeline.analysis.inputs import ExperimentFrames
    from rl_pipeline.tables.frames import to_frame

    frames = {name: to_frame(table.drop_columns(list(without.get(name, ())))) for name, table in tables.items()}
    return ExperimentFrames(experiment=experiment, **frames)


def load_thresholds(path: Path | None) -> Thresholds:
    """The built-in thresholds, with those of a deployment's YAML in their place.

    Raises:
        ConfigurationError: the file cannot be read, or does not say what it must.
    """
    return thresholds_of(None if path is None else read_thresholds_file(path))


def thresholds_of(file: ThresholdsFile | None) -> Thresholds:
    """The same, of a file that was read.

    Raises:
        ConfigurationError: the file does not say what it must.
    """
    return default_thresholds() if file is None else thresholds_from_text(file.text, where=file.name)


def render_report(result: ExperimentResult, frames: ExperimentFrames, out_dir: Path) -> Bundle:
    """Write the report bundle; the earlier one stays whole until the new one is complete.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    from rl_pipeline.report.bundle import write_bundle

    return write_bundle(result, frames, out_dir)
