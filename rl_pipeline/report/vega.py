"""Vega-Lite specifications to SVG, and SVG to PNG: vl-convert, without a browser or a network.

vl-convert runs Vega in the process, which takes some 120 MB of memory and half a second once, and a tenth of a second
per chart. It stores PNG pixels barely compressed, so they are packed again here, which loses nothing and makes
the files a third of their size; zlib-ng does it as well as what Python brings in a quarter of the time. Imports little:
helper processes import it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any

import msgspec

SCALE = 2.0  # pixels per CSS pixel: sharp on dense screens
GRAMMAR = "5.20"  # of the specifications; bundled with vl-convert
# Everything outside the Char production of XML 1.0, and the two line ends that Vega's expressions choke on.
UNDRAWABLE = re.compile("[^\t\n\r\x20-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ESCAPED = re.compile(r"\\(?:u|b|f)")  # how JSON writes control characters; may also be found in plain text
SIGNATURE = b"\x89PNG\r\n\x1a\n"
COMPRESSION = 5  # of pixels; the next levels take longer and gain little


def svg_of(spec: Mapping[str, Any]) -> str:
    """The specification as SVG."""
    import vl_convert  # noqa: PLC0415 - a parent of helper processes does without

    return str(vl_convert.vegalite_to_svg(json_of(spec), vl_version=GRAMMAR))


def png_of(svg: str) -> bytes:
    """The drawing as pixels, at twice its size."""
    import vl_convert  # noqa: PLC0415

    return packed(bytes(vl_convert.svg_to_png(drawable(svg), scale=SCALE)))


def json_of(spec: Mapping[str, Any]) -> str:
    """The drawable specification as JSON; one with nothing undrawable, as nearly all are, is gone through once."""
    try:
        text = msgspec.json.encode(spec).decode()
    except (TypeError, UnicodeEncodeError):  # a mapping of another kind, half of a character
        text = ""
    if text and not UNDRAWABLE.search(text) and not ESCAPED.search(text):
        return text
    return msgspec.json.encode(drawable(spec)).decode()


def drawable(value: Any) -> Any:  # noqa: ANN401 - any part of a specification
    """The same specification without characters that XML or Vega cannot hold: the renderer would abort the process."""
    if isinstance(value, str):
        return UNDRAWABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {drawable(key): drawable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [drawable(item) for item in value]
    return value


def packed(png: bytes) -> bytes:
    """The same image with its pixel data compressed; other data is returned as it is."""
    from zlib_ng import zlib_ng  # noqa: PLC0415

    if not png.startswith(SIGNATURE):
        return png
    chunks = _chunks(png)
    pixels = zlib_ng.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    packed_chunks = [(kind, body) for kind, body in chunks if kind not in {b"IDAT", b"IEND"}]
    packed_chunks += [(b"IDAT", zlib_ng.compress(pixels, COMPRESSION)), (b"IEND", b"")]
    return SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib_ng.crc32(kind + body))
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
