"""Charts on their way to the processes that draw them."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rl_pipeline.report.charts.chart import Chart

FAILED = "failed"
ENCODE = msgspec.msgpack.Encoder().encode
CHART = msgspec.msgpack.Decoder(Chart)


def asked(chart: Chart) -> bytes:
    """The message that asks for a chart; of its table only the number of rows matters."""
    return ENCODE(replace(chart, rows=((),) * len(chart.rows)))
