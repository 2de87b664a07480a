"""The report bundle of one experiment: pages, numbers, charts and tables in one folder.

    report.html            the page people open: one self-contained file
    metrics_report.md      the published layout, findings before it, new sections after it
    report.json            every number of it, versioned
    charts/<name>.png      pictures, each with <name>.csv, its numbers
    tables/                the tables as CSV and Parquet

Same inputs, same bytes: nothing here knows the time of day.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rl_pipeline.analysis.chart_data import chart_data
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.charts.all_charts import all_charts
from rl_pipeline.report.images import chart_csv
from rl_pipeline.report.json_document import report_document, to_text
from rl_pipeline.report.markdown import metrics_report
from rl_pipeline.report.output_folder import replace_files, require_writable
from rl_pipeline.report.page.page import report_page
from rl_pipeline.report.page.pictures import Picture, png
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

HTML_REPORT, MARKDOWN_REPORT, JSON_REPORT = "report.html", "metrics_report.md", "report.json"
CHARTS, TABLES = "charts", "tables"


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
    data = chart_data(frames, result)
    charts = all_charts(data, PAGE)
    pictures = drawn(charts)
    provenance = provenance_of(frames)
    pages = {
        HTML_REPORT: report_page(result, frames, provenance, data, pictures),
        MARKDOWN_REPORT: metrics_report(result, frames, provenance, charts),
        JSON_REPORT: to_text(report_document(result, frames, provenance)),
    }

    def write(folder: Path) -> None:
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        write_charts(pictures, folder / CHARTS)
        write_exports(frames, folder / TABLES)

    return Bundle(folder=out, files=replace_files(out, write), pictures=pictures)


def write_charts(pictures: tuple[Picture, ...], folder: Path) -> None:
    """Each chart as a picture and as its numbers."""
    if pictures:
        folder.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        name = picture.chart.name
        (folder / f"{name}.png").write_bytes(png(picture))
        (folder / f"{name}.csv").write_text(chart_csv(picture.chart), encoding="utf-8", newline="")
