"""Tables of one experiment to frames, with thresholds to results, and results to files; nothing here knows a log.

A process that only analyses imports this, and not the readers that `pipeline` brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from rl_pipeline.analysis.thresholds import Thresholds, default_thresholds, thresholds_from_text
from rl_pipeline.errors import ConfigurationError

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
    if path is None:
        return default_thresholds()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            "The thresholds file cannot be read",
            where=f"{path} ({error})",
            expected="a YAML file in UTF-8: rule, then name, then number",
            do="correct the path, or leave the option out to use the built-in thresholds",
            slug="thresholds-unreadable",
        ) from error
    return thresholds_from_text(text, where=str(path))


def render_report(result: ExperimentResult, frames: ExperimentFrames, out_dir: Path) -> Bundle:
    """Write the report bundle; the earlier one stays whole until the new one is complete.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    from rl_pipeline.report.bundle import write_bundle

    return write_bundle(result, frames, out_dir)
