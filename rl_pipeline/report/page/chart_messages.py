"""What the processes that draw are asked and answer, as MessagePack; nothing in a message can be run."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.drawing import Evaluated
from rl_pipeline.report.page.pictures import Picture

FAILED = "failed"
Drawn = tuple[str, str | None]  # wide and narrow as Vega leaves them; or `FAILED` and why
Finished = tuple[str, str | None, bytes | None]  # wide, narrow, pixels; or `FAILED` and why

ENCODE = msgspec.msgpack.Encoder().encode
CHART = msgspec.msgpack.Decoder(Chart)
QUESTION: msgspec.msgpack.Decoder[tuple[bytes, Evaluated]] = msgspec.msgpack.Decoder(tuple[bytes, Evaluated])
DRAWN: msgspec.msgpack.Decoder[Drawn] = msgspec.msgpack.Decoder(Drawn)
FINISHED: msgspec.msgpack.Decoder[Finished] = msgspec.msgpack.Decoder(Finished)


def asked(chart: Chart) -> bytes:
    """The message that asks for a chart's drawings; of its table only the number of rows matters."""
    return ENCODE(replace(chart, rows=((),) * len(chart.rows)))


def drawings_in(answered: bytes) -> Evaluated:
    """The drawings that were answered.

    Raises:
        ValueError: the chart is none that can be drawn.
    """
    wide, narrow = DRAWN.decode(answered)
    if wide == FAILED:
        raise ValueError(narrow)
    return Evaluated(wide, narrow)


def question(chart: bytes, drawings: Evaluated) -> bytes:
    """The message that asks for a picture; the chart as `asked` makes it."""
    return ENCODE((chart, drawings))


def picture_in(answered: bytes, chart: Chart) -> Picture:
    """The picture that was answered.

    Raises:
        ValueError: it is none that can be drawn.
    """
    wide, narrow, pixels = FINISHED.decode(answered)
    if pixels is None:
        raise ValueError(narrow)
    return Picture(chart=chart, wide=wide, narrow=narrow, pixels=pixels)
