"""`rl-pipeline index`: one page over all reports below a folder, and one that compares them."""

from __future__ import annotations

from pathlib import Path

import click

from rl_pipeline.errors import ConfigurationError
from rl_pipeline.pipeline import write_index
from rl_pipeline.places import is_folder
from rl_pipeline.wording import plural


def run(reports: Path) -> None:
    """Write both pages and say what could not be read.

    Raises:
        ConfigurationError: there is no such folder, or it takes no files.
    """
    if not is_folder(reports):
        raise ConfigurationError(
            "no such folder of reports",
            where=str(reports),
            expected="the folder that `rl-pipeline report`, `backfill` or the sensors wrote reports below",
            do="correct the path; `rl-pipeline report` prints where it writes",
            slug="missing-path",
        )
    index = write_index(reports)
    for entry in index.unread:
        click.echo(f"note: {entry.key}: {entry.reason}", err=True)
    if not index.experiments and not index.unread:
        made_by = "`rl-pipeline report LOGS FOLDER`, `backfill` or the sensors"
        click.echo(f"note: no report lies below {reports}: {made_by} make them", err=True)
    click.echo(plural(len(index.experiments), "experiment"))
    click.echo(f"index: {index.folder / 'index.html'}")
