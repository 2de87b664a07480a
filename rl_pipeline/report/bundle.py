"""The report bundle of one experiment: pages, numbers, charts and tables in one folder.

    report.html            the page people open: one self-contained file
    metrics_report.md      the published layout, findings before it, new sections after it
    report.json            every number of it, versioned
    charts/<name>.png      pictures, each with <name>.csv, its numbers
    tables/                the tables as CSV and Parquet

Same inputs, same bytes: nothing here knows the time of day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rl_pipeline.analysis.chart_data import chart_data
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.bundle_names import CHARTS, HTML_REPORT, JSON_REPORT, MARKDOWN_REPORT, TABLES
from rl_pipeline.report.charts.all_charts import all_charts
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.images import chart_csv
from rl_pipeline.report.json_document import report_document, to_text
from rl_pipeline.report.markdown import metrics_report
from rl_pipeline.report.output_folder import replace_files, require_writable
from rl_pipeline.report.page.page import report_page
from rl_pipeline.report.page.pictures import Picture, write_pixels
from rl_pipeline.report.page.studio import drawn
from rl_pipeline.report.palette import PAGE
from rl_pipeline.tables.exports import write_exports

__all__ = [
    "CHARTS",
    "HTML_REPORT",
    "JSON_REPORT",
    "MARKDOWN_REPORT",
    "TABLES",
    "Bundle",
    "require_writable",
    "write_bundle",
]

Drawing = Callable[[Sequence[Chart]], tuple[Picture, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """What was written.

    Attributes:
        folder: the bundle's folder.
        files: names relative to it, sorted.
        pictures: the charts that were drawn.
    """

    folder: Path
    files: tuple[str, ...]
    pictures: tuple[Picture, ...] = ()


def write_bundle(result: ExperimentResult, frames: ExperimentFrames, out: Path) -> Bundle:
    """Write the bundle, replacing an earlier one only when all of the new one is there.

    Raises:
        ConfigurationError: the folder takes no files; found before any work where possible.
    """
    require_writable(out)
    pages, pictures = drafted(result, frames, drawn)

    def write(folder: Path) -> None:
        write_pages(pages, folder)
        write_numbers((picture.chart for picture in pictures), folder / CHARTS)
        write_pixels(pictures, folder / CHARTS)
        write_exports(frames, folder / TABLES)

    return Bundle(folder=out, files=tuple(replace_files(out, write)), pictures=pictures)


def drafted(
    result: ExperimentResult, frames: ExperimentFrames, draw: Drawing
) -> tuple[dict[str, str], tuple[Picture, ...]]:
    """The pages by name of their file, and the pictures that `draw` made for them."""
    data = chart_data(frames, result)
    charts = all_charts(data, PAGE)
    pictures = draw(charts)
    provenance = provenance_of(frames)
    pages = {
        HTML_REPORT: report_page(result, frames, provenance, data, pictures),
        MARKDOWN_REPORT: metrics_report(result, frames, provenance, charts),
        JSON_REPORT: to_text(report_document(result, frames, provenance)),
    }
    return pages, pictures


def write_pages(pages: dict[str, str], folder: Path) -> None:
    """Each page as a file."""
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def write_numbers(charts: Iterable[Chart], folder: Path) -> None:
    """The numbers of each chart."""
    for chart in charts:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{chart.name}.csv").write_text(chart_csv(chart), encoding="utf-8", newline="")
