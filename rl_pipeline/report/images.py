"""Charts to PNG, SVG and CSV."""

from __future__ import annotations

import csv
import io

from rl_pipeline.report.charts.chart import Cell, Chart
from rl_pipeline.report.vega import png_of, svg_of


def chart_png(chart: Chart) -> bytes:
    """The picture at twice its size."""
    return png_of(svg_of(chart.spec))


def chart_svg(chart: Chart) -> str:
    """The picture as SVG."""
    return svg_of(chart.spec)


def chart_csv(chart: Chart) -> str:
    """The numbers of the picture."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(chart.columns)
    writer.writerows([_cell(cell) for cell in row] for row in chart.rows)
    return text.getvalue()


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    text = str(cell)
    # A spreadsheet runs cells that begin like a formula; names from a log may.
    return f"'{text}" if isinstance(cell, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
