"""Charts drawn by helper processes are those drawn here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from rl_pipeline.report import vega
from rl_pipeline.report.studio import Studio

SPEC: dict[str, Any] = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "width": 60,
    "height": 30,
    "title": "ä \x00",
    "data": {"values": [{"x": 1, "y": 2.5}, {"x": 2, "y": None}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with Studio(2) as some:
        yield some


def test_a_helper_draws_the_same_picture(studio: Studio):
    svg = vega.svg_of(SPEC)

    assert studio.svg_of(SPEC) == svg
    assert studio.png_of(svg) == vega.png_of(svg)


def test_results_come_in_order(studio: Studio):
    widths = [40, 80, 120, 160]

    drawn = list(studio.map(lambda width: studio.svg_of({**SPEC, "width": width}), widths))

    assert drawn == [vega.svg_of({**SPEC, "width": width}) for width in widths]


def test_what_cannot_be_drawn_is_an_error_and_the_next_one_is_drawn(studio: Studio):
    with pytest.raises(ValueError, match=r"."):
        studio.svg_of({**SPEC, "mark": "nonsense"})

    assert studio.svg_of(SPEC).startswith("<svg")


def test_a_helper_that_died_is_replaced():
    with Studio(1) as some:
        process = some.helpers[0].process
        assert process is not None
        process.kill()
        process.wait()

        assert some.svg_of(SPEC).startswith("<svg")
        assert some.helpers[0].process is not process


@pytest.mark.parametrize("program", ["", "/nowhere/python"])
def test_without_helpers_charts_are_drawn_here(program: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", program)
    with Studio(2) as some, Studio(0) as alone:
        assert some.svg_of(SPEC) == alone.svg_of(SPEC)
