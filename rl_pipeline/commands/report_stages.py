"""A report in stages: logs and trials are read, analysed, and drawn, each in processes of its own.

What a stage needed is given back when its process ends, so the memory of a report is that of its largest stage and not
of all together. This process only says what comes next, and puts pictures into the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from rl_pipeline.commands.other_process import OtherProcess, PreparedProcess
from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report_processes import ReportProcesses, an_exporter
from rl_pipeline.discovery import ExperimentOnDisk, checkpoint_steps
from rl_pipeline.report.bundle_names import CHARTS, HTML_REPORT, TABLES
from rl_pipeline.report.output_folder import FileState, replace_files
from rl_pipeline.report.page.chart_messages import CHART
from rl_pipeline.report.page.pictures import write_pixels
from rl_pipeline.report.page.stand_ins import with_pictures
from rl_pipeline.report.page.studio import Studio
from rl_pipeline.thresholds_file import ThresholdsFile

BUNDLE = "bundle"
NOTHING = type(None)
MAKING = "rl_pipeline.commands.report_making"
READ_LOGS = "rl_pipeline.commands.report_reading:read_job_tables"
READ_TRIALS = f"{MAKING}:read_trial_tables"
EXPORT = "rl_pipeline.commands.report_exporting:export"
ANALYSE = "rl_pipeline.commands.report_analysing:analyse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What a report is made from, and where.

    Attributes:
        experiment: the logs and the folders of trials.
        thresholds: what was read of the file of thresholds that replace the built-in ones.
        out: folder of the report.
        work: folder for what one stage leaves to the next; its `BUNDLE` becomes the report.
        quiet: whether nothing is told but warnings.
        force: whether to read also what was read before.
    """

    experiment: ExperimentOnDisk
    thresholds: ThresholdsFile | None
    out: Path
    work: Path
    quiet: bool = False
    force: bool = False


class Made(NamedTuple):
    """A report that was made: its files as they were written, and the digest of the trial files that were read."""

    files: Mapping[str, FileState]
    trials: str


def make_report(making: Making, processes: ReportProcesses) -> Made:
    """Make a report in a work folder, then put it in the place of the earlier one.

    Args:
        making: what to make.
        processes: read and analyse.

    Raises:
        ConfigurationError: the thresholds cannot be read, or the folder cannot be written.
        DataError: nothing readable.
    """
    secret = uuid4().hex
    with Studio() as studio, ThreadPoolExecutor(1, thread_name_prefix="exports") as beside:
        read = tables(making, processes.reader)
        exported = beside.submit(export, making, studio)
        charts = analysed(making, secret, processes.analyst.process)
        processes.analyst.close()
        exported.result()
        draw(making, charts, studio, secret)
    return Made(replace_files(making.out, lambda folder: move_all(making.work / BUNDLE, folder)), read)


def tables(making: Making, reader: PreparedProcess) -> str:
    """Read logs and trials; gives the digest of the trial files."""
    reader.process.call(READ_LOGS, making, gives=NOTHING)
    read = reader.process.call(READ_TRIALS, making, gives=str)
    reader.close()
    return read


def export(making: Making, studio: Studio) -> None:
    """Write the files beside the report; when the process that does so has ended, its memory is for the studio."""
    with an_exporter() as exporter:
        exporter.process.call(EXPORT, making.work / TABLES, making.work / BUNDLE / TABLES, gives=NOTHING)
    studio.start_ahead()


def analysed(making: Making, secret: str, analyst: OtherProcess) -> list[bytes]:
    """Write the pages; what is to be drawn for them."""
    Progress(quiet=making.quiet).say("analysing")
    on_disk = checkpoint_steps(log.path for log in making.experiment.jobs)
    steps = None if on_disk is None else sorted(on_disk)
    read, folder = making.work / TABLES, making.work / BUNDLE
    name, thresholds = making.experiment.experiment, making.thresholds
    return analyst.call(ANALYSE, name, read, thresholds, steps, folder, secret, gives=list[bytes])


def draw(making: Making, asked: list[bytes], studio: Studio, secret: str) -> None:
    """Draw the charts, and put them into the page."""
    folder, charts = making.work / BUNDLE, [CHART.decode(chart) for chart in asked]
    pictures = studio.pictures_of(charts)
    write_pixels(pictures, folder / CHARTS)
    page = folder / HTML_REPORT
    text = with_pictures(page.read_text(encoding="utf-8"), pictures, secret)
    page.write_text(text, encoding="utf-8", newline="\n")


def move_all(folder: Path, target: Path) -> None:
    """Everything in a folder to another one beside it."""
    for path in folder.iterdir():
        path.rename(target / path.name)
