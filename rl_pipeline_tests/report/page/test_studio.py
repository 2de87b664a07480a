"""Pictures drawn by helper processes are those drawn here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.pictures import picture_of
from rl_pipeline.report.page.studio import Studio, drawn

SPEC: dict[str, Any] = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "title": {"text": "ä \x00", "subtitle": ["one", "two"]},
    "width": 60,
    "height": 30,
    "config": {},
    "data": {"values": [{"x": 1, "y": 2.5, "row": 0}, {"x": 2, "y": None, "row": 1}]},
    "mark": {"type": "point", "size": 20},
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
CHART = Chart(
    name="c", title="t", subtitle="s", alt="a", spec=SPEC, columns=("x", "y"), rows=((1, 2.5), (2, None))
)  # fmt: skip
IMPOSSIBLE = replace(CHART, spec={**SPEC, "mark": "nonsense"})


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with Studio() as some:
        yield some


@pytest.mark.parametrize("chart", [CHART, replace(CHART, is_small=True), replace(CHART, rows=CHART.rows * 900)])
def test_a_helper_draws_the_same_picture(chart: Chart, studio: Studio):
    assert studio.pictures_of([chart]) == (picture_of(chart),)


def test_pictures_come_in_the_order_of_the_charts(studio: Studio):
    charts = [replace(CHART, name=f"c{count}", rows=CHART.rows * count) for count in (1, 3, 2)]

    assert [picture.chart.name for picture in studio.pictures_of(charts)] == ["c1", "c3", "c2"]


def test_nothing_is_started_before_somebody_wants_to():
    with Studio() as some:
        assert [some.evaluator.helper, some.finisher.helper] == [None, None]

        some.start_ahead()
        some.evaluator.pool.submit(lambda: None).result()  # what was asked of it before is done

        helper = some.evaluator.helper
        assert helper is not None
        assert some.finisher.helper is None
        assert some.pictures_of([CHART]) == (picture_of(CHART),)
        assert some.evaluator.helper is helper


def test_what_cannot_be_drawn_is_an_error_and_the_next_one_is_drawn(studio: Studio):
    with pytest.raises(ValueError, match="conversion failed"):
        studio.pictures_of([IMPOSSIBLE])

    assert studio.pictures_of([CHART])[0].wide.startswith("<svg")


@pytest.mark.parametrize("stage", ["evaluator", "finisher"])
def test_a_helper_that_died_is_replaced(stage: str):
    with Studio() as some:
        getattr(some, stage).start()
        helper = getattr(some, stage).helper
        assert helper is not None
        assert helper.process is not None
        helper.process.kill()
        helper.process.wait()

        assert some.pictures_of([CHART])[0].wide.startswith("<svg")
        assert getattr(some, stage).helper is not helper


@pytest.mark.parametrize("program", ["", "/nowhere/python"])
def test_without_helpers_charts_are_drawn_here(program: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", program)

    assert drawn([CHART]) == drawn([CHART], here=True)


def test_no_chart_starts_no_helper():
    assert drawn([]) == ()
