"""The last stage of a report before its pictures: tables to pages, in a process that knows neither logs nor trials."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path

import pyarrow as pa

from rl_pipeline.analysis.inputs import UNREAD
from rl_pipeline.analysis.summary import analyse_experiment
from rl_pipeline.commands.stage_tables import read_tables
from rl_pipeline.report.bundle import drafted, write_numbers, write_pages
from rl_pipeline.report.bundle_names import CHARTS, HTML_REPORT, MARKDOWN_REPORT
from rl_pipeline.report.page.chart_messages import asked
from rl_pipeline.report.page.render import page_environment
from rl_pipeline.report.page.stand_ins import stand_ins
from rl_pipeline.report.render import compile_templates, markdown_environment
from rl_pipeline.results import frames_of, thresholds_of
from rl_pipeline.thresholds_file import ThresholdsFile


def prepare() -> None:
    """Import what is needed later, and compile the templates; what calling this needs, the analysis needs too."""
    import_module("rl_pipeline.tables.frames")
    compile_templates(page_environment(), HTML_REPORT)
    compile_templates(markdown_environment(), MARKDOWN_REPORT)


def analyse(
    experiment: str,
    tables: Path,
    thresholds: ThresholdsFile | None,
    on_disk: list[int] | None,
    folder: Path,
    secret: str,
) -> list[bytes]:
    """Tables to pages, with marks in the place of pictures, and the numbers of charts.

    Args:
        experiment: its name.
        tables: folder of its tables.
        thresholds: what was read of the file of thresholds that replace the built-in ones.
        on_disk: steps of the checkpoints that lie on disk; None when nobody knows.
        folder: receives the pages.
        secret: random letters for the marks.

    Returns:
        What a helper is to draw, in the order of the marks.
    """
    frames = frames_of(experiment, read_tables(tables), without=UNREAD)
    pa.default_memory_pool().release_unused()
    checkpoints = None if on_disk is None else frozenset(on_disk)
    result = analyse_experiment(frames, thresholds_of(thresholds), checkpoints_on_disk=checkpoints)
    pages, pictures = drafted(result, frames, partial(stand_ins, secret=secret))
    folder.mkdir(exist_ok=True)
    write_pages(pages, folder)
    write_numbers((picture.chart for picture in pictures), folder / CHARTS)
    return [asked(picture.chart) for picture in pictures]
