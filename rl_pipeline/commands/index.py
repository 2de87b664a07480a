"""`rl-pipeline index`: one page over all reports below a folder, and one that compares them."""

from __future__ import annotations

from pathlib import Path

import click

from rl_pipeline.pipeline import write_index


def run(reports: Path) -> None:
    """Write both pages and say what could not be read.

    Raises:
        ConfigurationError: the folder takes no files.
    """
    index = write_index(reports)
    for entry in index.unread:
        click.echo(f"note: {entry.key}: {entry.reason}", err=True)
    click.echo(f"{len(index.experiments)} experiments")
    click.echo(f"index: {index.folder / 'index.html'}")
