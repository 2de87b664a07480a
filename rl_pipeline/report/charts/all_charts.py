"""Every chart of a report, in its order."""

from __future__ import annotations

from collections.abc import Callable

from rl_pipeline.analysis.chart_data import ChartData
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.charts.checkpoints import checkpoint_chart
from rl_pipeline.report.charts.curves import curve_charts, pass_chart
from rl_pipeline.report.charts.engine_map import engine_map_chart
from rl_pipeline.report.charts.engines import engine_chart
from rl_pipeline.report.charts.errors import error_chart
from rl_pipeline.report.charts.jobs import job_charts
from rl_pipeline.report.charts.reward import reward_chart
from rl_pipeline.report.charts.spreads import context_chart, seconds_chart, tokens_chart
from rl_pipeline.report.charts.step_time import step_time_chart
from rl_pipeline.report.charts.tasks import tasks_chart
from rl_pipeline.report.charts.timeline import timeline_chart
from rl_pipeline.report.charts.trial_courses import failure_chart, outcome_chart
from rl_pipeline.report.charts.turns import turns_chart
from rl_pipeline.report.charts.waterfall import waterfall_chart
from rl_pipeline.report.palette import LIGHT, Theme

Maker = Callable[[ChartData, Theme], Chart | None]


def only(make: Maker) -> Callable[[ChartData, Theme], tuple[Chart, ...]]:
    """A maker of at most one chart as a maker of several."""

    def made(data: ChartData, theme: Theme) -> tuple[Chart, ...]:
        chart = make(data, theme)
        return () if chart is None else (chart,)

    return made


MAKERS: tuple[Callable[[ChartData, Theme], tuple[Chart, ...]], ...] = (
    only(reward_chart),
    only(pass_chart),
    only(error_chart),
    only(step_time_chart),
    only(engine_chart),
    only(turns_chart),
    only(timeline_chart),
    only(waterfall_chart),
    only(engine_map_chart),
    only(outcome_chart),
    only(failure_chart),
    only(tokens_chart),
    only(seconds_chart),
    only(context_chart),
    only(tasks_chart),
    curve_charts,
    job_charts,
    only(checkpoint_chart),
)


def all_charts(data: ChartData, theme: Theme = LIGHT) -> tuple[Chart, ...]:
    """Every chart that has data, in the order of the report."""
    return tuple(chart for make in MAKERS for chart in make(data, theme))
