"""What the helper process answers that finishes: a chart and what Vega drew of it come in, the picture goes out."""

from __future__ import annotations

import msgspec

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.chart_messages import CHART, ENCODE, FAILED
from rl_pipeline.report.page.drawing import Evaluated
from rl_pipeline.report.page.pictures import Picture, finished

Finished = tuple[str, str | None, bytes | None]  # wide, narrow, pixels; or `FAILED` and why

QUESTION: msgspec.msgpack.Decoder[tuple[bytes, Evaluated]] = msgspec.msgpack.Decoder(tuple[bytes, Evaluated])
ANSWER: msgspec.msgpack.Decoder[Finished] = msgspec.msgpack.Decoder(Finished)


def question(chart: bytes, drawings: Evaluated) -> bytes:
    """The message that asks for a picture; the chart as `chart_messages.asked` makes it."""
    return ENCODE((chart, drawings))


def answer(message: bytes) -> bytes:
    """The picture, or why there is none."""
    chart, drawings = QUESTION.decode(message)
    try:
        picture = finished(CHART.decode(chart), drawings)
    except ValueError as error:
        return ENCODE((FAILED, str(error), None))
    return ENCODE((picture.wide, picture.narrow, picture.pixels))


def picture_in(answered: bytes, chart: Chart) -> Picture:
    """The picture that the helper made of the chart.

    Raises:
        ValueError: it is none that can be drawn.
    """
    wide, narrow, pixels = ANSWER.decode(answered)
    if pixels is None:
        raise ValueError(narrow)
    return Picture(chart=chart, wide=wide, narrow=narrow, pixels=pixels)
