"""Charts: one definition each, a Vega-Lite specification with its numbers inside.

The same definition gives the PNG beside the Markdown, the SVG in Dagster's metadata and the
interactive chart of a page. `all_charts` lists those that have something to draw.
"""

from __future__ import annotations

from collections.abc import Callable

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.charts.engines import engine_chart
from rl_pipeline.report.charts.errors import error_chart
from rl_pipeline.report.charts.reward import reward_chart
from rl_pipeline.report.charts.step_time import step_time_chart
from rl_pipeline.report.charts.turns import turns_chart
from rl_pipeline.report.palette import LIGHT, Theme

MAKERS: tuple[Callable[[ChartData, Theme], Chart | None], ...] = (
    reward_chart,
    error_chart,
    step_time_chart,
    engine_chart,
    turns_chart,
)


def all_charts(data: ChartData, theme: Theme = LIGHT) -> tuple[Chart, ...]:
    """Every chart that has data, in the order of the report."""
    made = (make(data, theme) for make in MAKERS)
    return tuple(chart for chart in made if chart is not None)
