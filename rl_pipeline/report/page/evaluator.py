"""The helper process that evaluates: a chart comes in, its drawings as Vega leaves them go out.

It alone starts the JavaScript engine, which takes half a second and some 100 MB and gets faster the longer it runs, so
one process evaluates all charts. What is left to do with a drawing needs no engine, and another does it (`finisher`).
"""

from __future__ import annotations

from rl_pipeline.report.page.chart_messages import CHART, ENCODE, FAILED
from rl_pipeline.report.page.drawing import evaluated
from rl_pipeline.report.vega import svg_of

svg_of({"data": {"values": []}, "mark": "point"})  # starts the engine while nothing is asked yet


def answer(message: bytes) -> bytes:
    """The drawings, or why there are none."""
    try:
        return ENCODE(evaluated(CHART.decode(message)))
    except ValueError as error:
        return ENCODE((FAILED, str(error)))
