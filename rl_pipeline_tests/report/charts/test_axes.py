"""Axes of short runs: whole steps, minutes instead of parts of hours; of long ones as they were."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from rl_pipeline.analysis.chart_data import ChartData, chart_data
from rl_pipeline.analysis.engine_bins import engine_bins
from rl_pipeline.report.charts.curves import pass_chart
from rl_pipeline.report.charts.engines import engine_chart
from rl_pipeline.report.charts.errors import error_chart
from rl_pipeline.report.charts.hours_axis import hours_axis
from rl_pipeline.report.charts.steps_axis import step_axis
from rl_pipeline.report.charts.waterfall import BEFORE, BEHIND, label_side
from rl_pipeline.report.palette import LIGHT
from rl_pipeline.report.vega import svg_of
from rl_pipeline.schema import VllmStat
from rl_pipeline_tests.helpers.frames import frame_of
from rl_pipeline_tests.helpers.present import present
from rl_pipeline_tests.helpers.reference_frames import reference_frames

Y = {"field": "y", "type": "quantitative", "axis": None}


def labels(x: dict[str, Any], values: list[dict[str, float]], width: int = 600) -> list[str]:
    """What stands below the axis."""
    layer = {"mark": "line", "encoding": {"x": x, "y": Y}}
    svg = svg_of({"width": width, "data": {"values": values}, "layer": [layer]})
    return re.findall(r">(-?[\d.]+)</text>", svg)


@pytest.mark.parametrize("steps", [range(1, 7), range(51, 54), [4], range(10, 26)])
def test_ticks_of_few_steps_stand_at_whole_steps(steps: range | list[int]):
    values = [{"global_step": float(step), "y": 1.0} for step in steps]

    assert labels(step_axis(list(steps)), values) == [str(step) for step in steps]


def test_ticks_of_many_steps_are_round():
    values = [{"global_step": float(step), "y": 1.0} for step in range(1, 81)]

    assert {int(label) % 5 for label in labels(step_axis(range(1, 81)), values)} == {0}


@pytest.mark.parametrize(
    ("hours", "told"),
    [
        (0.4, ["0", "2", "4", "6", "8", "10", "12", "14", "16", "18", "20", "22", "24"]),
        (1.9, ["0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100", "110"]),
        (0.01, ["0"]),
    ],
)
def test_short_times_are_told_in_minutes(hours: float, told: list[str]):
    made = hours_axis(hours, "since noon")
    values = [{"hours": 0.0, "y": 1.0}, {"hours": hours, "y": 1.0}]

    shown = labels({"field": "hours", "type": "quantitative", "scale": {"nice": False}, **made}, values, width=900)

    assert made["title"] == "minutes since noon"
    assert shown == told


def test_long_times_are_told_in_hours():
    assert hours_axis(2.0) == {"title": "hours"}


def test_all_panels_of_the_engines_tell_one_unit():
    times = [datetime(2026, 1, 1) + timedelta(minutes=minute) for minute in range(30)]
    lines = [
        VllmStat(
            job="job_1", line=number, logged_at=time, scope="engine", pid=1, running=3, waiting=0,
            prompt_throughput=9.0, generation_throughput=5.0, kv_cache_usage=0.1,
        )
        for number, time in enumerate(times)
    ]  # fmt: skip
    data = replace(chart_data(reference_frames()), engine_bins=engine_bins(frame_of(VllmStat, lines)))

    panels = present(engine_chart(data, LIGHT)).spec["vconcat"]

    axes = [panel["encoding"]["x"] for panel in panels]
    assert len({str(axis["axis"]) for axis in axes}) == 1
    assert [axis["title"] for axis in axes] == [None, None, None, "minutes since the first statistics line"]


def test_steps_without_a_failure_have_their_place():
    data: ChartData = chart_data(reference_frames())
    last = max(row.step for row in data.errors)
    earlier = replace(data, errors=tuple(row for row in data.errors if row.step < last - 4))

    domain = present(error_chart(earlier, LIGHT)).spec["layer"][0]["encoding"]["x"]["scale"]["domain"]

    assert domain == [0.5, 80.5]  # source: the published run has steps 1 to 80


def test_a_curve_that_ends_early_stands_on_an_axis_of_all_steps():
    data: ChartData = chart_data(reference_frames())
    curve = present(data.pass_at_k)
    shorter = replace(data, pass_at_k=replace(curve, points=curve.points[5:-7]))

    layers = present(pass_chart(shorter, LIGHT)).spec["layer"]
    domains = [
        layer["encoding"]["x"]["scale"]["domain"] for layer in layers if "scale" in layer["encoding"].get("x", {})
    ]

    # source: the published run has steps 1 to 80
    assert domains
    assert all(first <= 1 and last >= 80 for first, last in domains)


@pytest.mark.parametrize(
    ("begin", "end", "side"),
    [
        (0.0, 0.3, BEHIND),
        (0.1, 0.66, BEHIND),
        (0.5, 0.7, BEFORE),
        (0.9, 1.0, BEFORE),
        (0.24, 0.76, BEHIND),  # no side has room on a phone: before the bar stands the part's name
        (0.0, 1.0, BEHIND),
    ],
)
def test_the_label_of_a_part_stands_where_it_covers_nothing(begin: float, end: float, side: str):
    assert label_side(begin, end) == side
