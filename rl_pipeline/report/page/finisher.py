"""The helper process that finishes: a chart and what Vega drew of it come in, the picture goes out."""

from __future__ import annotations

import vl_convert  # noqa: F401 - loaded while nothing is asked yet

from rl_pipeline.report.page.chart_messages import CHART, ENCODE, FAILED, QUESTION
from rl_pipeline.report.page.pictures import finished


def answer(message: bytes) -> bytes:
    """The picture, or why there is none."""
    chart, drawings = QUESTION.decode(message)
    try:
        picture = finished(CHART.decode(chart), drawings)
    except ValueError as error:
        return ENCODE((FAILED, str(error), None))
    return ENCODE((picture.wide, picture.narrow, picture.pixels))
