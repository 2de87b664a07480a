"""What the helper process answers that evaluates: a chart comes in, its drawings as Vega leaves them go out.

It alone starts the JavaScript engine, which takes half a second and some 100 MB and gets faster the longer it runs, so
one process evaluates all charts. What is left to do with a drawing needs no engine, and another does it (`finisher`).
"""

from __future__ import annotations

import msgspec

from rl_pipeline.report.page.chart_messages import CHART, ENCODE, FAILED
from rl_pipeline.report.page.drawing import Evaluated, evaluated

Raw = tuple[str, str | None]  # the drawings, or `FAILED` and why
ANSWER: msgspec.msgpack.Decoder[Raw] = msgspec.msgpack.Decoder(Raw)


def answer(message: bytes) -> bytes:
    """The drawings, or why there are none."""
    try:
        return ENCODE(evaluated(CHART.decode(message)))
    except ValueError as error:
        return ENCODE((FAILED, str(error)))


def drawings_in(answered: bytes) -> Evaluated:
    """The drawings that the helper made.

    Raises:
        ValueError: the chart is none that can be drawn.
    """
    wide, narrow = ANSWER.decode(answered)
    if wide == FAILED:
        raise ValueError(narrow)
    return Evaluated(wide, narrow)
