"""What a helper process answers that draws charts: a specification becomes SVG, SVG becomes PNG."""

from __future__ import annotations

import json

from rl_pipeline.report.vega import png_of, svg_of

SPECIFICATION, DRAWING = b"s", b"d"
MADE, FAILED = b"+", b"-"


def answer(message: bytes) -> bytes:
    """The picture, or why there is none."""
    kind, content = message[:1], message[1:]
    try:
        made = svg_of(json.loads(content)).encode() if kind == SPECIFICATION else png_of(content.decode())
    except ValueError as error:
        return FAILED + str(error).encode()
    return MADE + made
