"""A report in stages: logs and trials are read, analysed, and drawn, each in processes of its own.

What a stage needed is given back when its process ends, so the memory of a report is that of its largest stage and not
of all together. This process only says what comes next, and puts pictures into the page.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from rl_pipeline.commands.other_process import OtherProcess
from rl_pipeline.commands.progress import Progress
from rl_pipeline.commands.report_processes import NO_FRAMES, ReportProcesses
from rl_pipeline.discovery import ExperimentOnDisk, checkpoint_steps
from rl_pipeline.report.bundle_names import CHARTS, HTML_REPORT, TABLES
from rl_pipeline.report.output_folder import replace_files
from rl_pipeline.report.page.chart_messages import CHART
from rl_pipeline.report.page.pictures import write_pixels
from rl_pipeline.report.page.stand_ins import with_pictures
from rl_pipeline.report.page.studio import Studio

BUNDLE, FOUND = "bundle", "found"
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
        thresholds: file of thresholds that replace the built-in ones.
        out: folder of the report.
        work: folder for what one stage leaves to the next; its `BUNDLE` becomes the report.
        quiet: whether nothing is told but warnings.
        force: whether to read also what was read before.
    """

    experiment: ExperimentOnDisk
    thresholds: Path | None
    out: Path
    work: Path
    quiet: bool = False
    force: bool = False


def make_report(making: Making, processes: ReportProcesses, meanwhile: Callable[[], object]) -> tuple[str, ...]:
    """Make a report in a work folder, then put it in the place of the earlier one; gives its files.

    Args:
        making: what to make.
        processes: read and analyse.
        meanwhile: is called while logs are read, and done before trials are read.

    Raises:
        ConfigurationError: the thresholds cannot be read, or the folder cannot be written.
        DataError: nothing readable.
    """
    secret = uuid4().hex
    with ExitStack() as running:
        charts, studio = tables_and_pages(making, secret, processes, meanwhile, running)
        with ThreadPoolExecutor(1) as thread:
            exported = thread.submit(export, making)
            draw(charts, studio, making.work / BUNDLE, secret)
            exported.result()
    return replace_files(making.out, lambda folder: move_all(making.work / BUNDLE, folder))


def tables_and_pages(
    making: Making, secret: str, processes: ReportProcesses, meanwhile: Callable[[], object], running: ExitStack
) -> tuple[list[bytes], Studio]:
    """Read and analyse; gives what is to be drawn, and those that will draw it.

    Args:
        making: what to make.
        secret: for the marks in the place of pictures.
        processes: as of `make_report`.
        meanwhile: as of `make_report`.
        running: ends the processes that draw, which are started before there is anything to draw.
    """
    reader, analyst = processes.reader.process, processes.analyst.process
    with ThreadPoolExecutor(1) as thread:
        other_work = thread.submit(meanwhile)
        reader.call(READ_LOGS, making, gives=NOTHING)
        other_work.result()
    reader.call(READ_TRIALS, making, gives=NOTHING)
    processes.reader.close()
    studio = running.enter_context(Studio())
    charts = analysed(making, secret, analyst)
    processes.analyst.close()
    return charts, studio


def export(making: Making) -> None:
    """Write the files beside the report, while it is drawn: beside the analysis they would need too much memory."""
    with OtherProcess(without=NO_FRAMES) as exporter:
        exporter.call(EXPORT, making.work / TABLES, making.work / BUNDLE / TABLES, gives=NOTHING)


def analysed(making: Making, secret: str, analyst: OtherProcess) -> list[bytes]:
    """Write the pages; what is to be drawn for them."""
    Progress(quiet=making.quiet).say("analysing")
    on_disk = checkpoint_steps(log.path for log in making.experiment.jobs)
    steps = None if on_disk is None else sorted(on_disk)
    tables, folder = making.work / TABLES, making.work / BUNDLE
    name, thresholds = making.experiment.experiment, making.thresholds
    return analyst.call(ANALYSE, name, tables, thresholds, steps, folder, secret, gives=list[bytes])


def draw(asked: list[bytes], studio: Studio, folder: Path, secret: str) -> None:
    """Draw the charts, and put them into the page."""
    pictures = studio.pictures_of([CHART.decode(chart) for chart in asked])
    write_pixels(pictures, folder / CHARTS)
    page = folder / HTML_REPORT
    text = with_pictures(page.read_text(encoding="utf-8"), pictures, secret)
    page.write_text(text, encoding="utf-8", newline="\n")


def move_all(folder: Path, target: Path) -> None:
    """Everything in a folder to another one beside it."""
    for path in folder.iterdir():
        path.rename(target / path.name)
