"""What a helper process answers that draws: a chart comes in as MessagePack, its drawings go out."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.pictures import Picture, picture_of

Drawn = tuple[str, str | None, bytes | None]

FAILED = "failed"
ENCODE = msgspec.msgpack.Encoder().encode
CHART = msgspec.msgpack.Decoder(Chart)
ANSWER: msgspec.msgpack.Decoder[Drawn] = msgspec.msgpack.Decoder(Drawn)


def asked(chart: Chart) -> bytes:
    """The message that asks for a chart; of its table only the number of rows matters."""
    return ENCODE(replace(chart, rows=((),) * len(chart.rows)))


def answer(message: bytes) -> bytes:
    """The picture, or why there is none."""
    try:
        picture = picture_of(CHART.decode(message))
    except ValueError as error:
        return ENCODE((FAILED, str(error), None))
    return ENCODE((picture.wide, picture.narrow, picture.pixels))


def picture_in(answered: bytes, chart: Chart) -> Picture:
    """The picture that a helper made of the chart.

    Raises:
        ValueError: it is none that can be drawn.
    """
    wide, narrow, pixels = ANSWER.decode(answered)
    if pixels is None:
        raise ValueError(narrow)
    return Picture(chart=chart, wide=wide, narrow=narrow, pixels=pixels)
