"""Charts to PNG, SVG and CSV, without a browser or a network.

vl-convert runs Vega in the process; measured on the reference run it adds about 90 MB of resident
memory once, and a tenth of a second per chart. It stores PNG pixels barely compressed, so they are
packed again here, which loses nothing and makes the files a fraction of their size.
"""

from __future__ import annotations

import csv
import io
import re
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import vl_convert

from rl_pipeline.report.charts.chart import Cell, Chart

SCALE = 2.0  # pixels per CSS pixel: sharp on dense screens
GRAMMAR = "5.20"  # of the specifications; bundled with vl-convert
# Everything outside the Char production of XML 1.0, and the two line ends that Vega's expressions choke on.
UNDRAWABLE = re.compile("[^\t\n\r\x20-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chart_png(chart: Chart) -> bytes:
    """The picture at twice its size."""
    return packed(vl_convert.vegalite_to_png(drawable(chart.spec), vl_version=GRAMMAR, scale=SCALE))


def chart_svg(chart: Chart) -> str:
    """The picture as SVG."""
    return str(vl_convert.vegalite_to_svg(drawable(chart.spec), vl_version=GRAMMAR))


def drawable(value: Any) -> Any:  # noqa: ANN401 - any part of a specification
    """The same specification without characters that XML or Vega can not hold: the renderer would abort the process."""
    if isinstance(value, str):
        return UNDRAWABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {drawable(key): drawable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [drawable(item) for item in value]
    return value


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


def packed(png: bytes) -> bytes:
    """The same image with its pixel data compressed; other data is returned as it is."""
    if not png.startswith(SIGNATURE):
        return png
    chunks = _chunks(png)
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    packed_chunks = [(kind, body) for kind, body in chunks if kind not in {b"IDAT", b"IEND"}]
    packed_chunks += [(b"IDAT", zlib.compress(pixels, 6)), (b"IEND", b"")]
    return SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in packed_chunks
    )


def _chunks(png: bytes) -> list[tuple[bytes, bytes]]:
    place, chunks = len(SIGNATURE), []
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        kind = png[place + 4 : place + 8]
        chunks.append((kind, png[place + 8 : place + 8 + length]))
        place += 12 + length
    return chunks
