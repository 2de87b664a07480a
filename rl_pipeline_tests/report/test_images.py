"""Charts become PNG, SVG and CSV with the same bytes every time."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
import vl_convert

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.images import chart_csv, chart_png, chart_svg
from rl_pipeline.report.vega import SIGNATURE, _chunks, drawable, json_of, packed


@pytest.fixture(scope="module")
def chart() -> Chart:
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 60,
        "height": 30,
        "data": {"values": [{"x": 1, "y": 2}, {"x": 2, "y": 3}]},
        "mark": "line",
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    }
    rows = (("=cmd()", 1, 0.5, None, True), ("b", -2, 1.0, None, False))
    return Chart(name="c", title="t", subtitle="s", alt="a", spec=spec, columns=("a", "b", "c", "d", "e"), rows=rows)


def test_the_picture_is_the_same_every_time(chart: Chart):
    assert chart_png(chart) == chart_png(chart)
    assert chart_svg(chart) == chart_svg(chart)


def test_packing_loses_no_pixel(chart: Chart):
    raw = vl_convert.vegalite_to_png(dict(chart.spec), scale=2)
    smaller = packed(raw)

    def pixels(png: bytes) -> bytes:
        return zlib.decompress(b"".join(body for kind, body in _chunks(png) if kind == b"IDAT"))

    assert len(smaller) < len(raw)
    assert pixels(smaller) == pixels(raw)
    assert [kind for kind, _ in _chunks(smaller)][-1] == b"IEND"
    assert struct.unpack(">I", smaller[-4:])[0] == zlib.crc32(b"IEND")


def test_what_is_no_png_is_left_alone():
    assert packed(b"GIF89a") == b"GIF89a"
    assert SIGNATURE.startswith(b"\x89PNG")


def test_numbers_are_written_so_that_no_spreadsheet_runs_them(chart: Chart):
    assert chart_csv(chart) == "a,b,c,d,e\n'=cmd(),1,0.5,,true\nb,-2,1.0,,false\n"


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x0b", "\ufffe", "\ud800"])
def test_a_character_that_xml_can_not_hold_does_not_abort_the_renderer(chart: Chart, character: str):
    named = {**chart.spec, "title": f"A{character}B", "data": {"values": [{"x": f"c{character}", "y": 2}]}}
    hostile = replace(chart, spec=named)

    assert chart_png(hostile).startswith(SIGNATURE)
    assert "A\ufffdB" in chart_svg(hostile)


@pytest.mark.parametrize(
    "text",
    [
        "plain ä \u202f 𝛼",
        "tab\tline\n",
        "</script>",
        "back\\slash",
        "\\u0000",
        "\\b",
        "\x08",
        "\x00",
        "\u2028",
        "\ufffe",
        "\ud800",
    ],
)
@pytest.mark.parametrize("kind", [dict, MappingProxyType])
def test_a_specification_becomes_json_without_what_cannot_be_drawn(text: str, kind: Any):
    spec = kind({"title": text, "data": {"values": [{text: [text, 1.5, None, True]}]}})

    assert json.loads(json_of(spec)) == drawable(spec)
