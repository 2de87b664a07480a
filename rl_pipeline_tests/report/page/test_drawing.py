"""Pictures of the page: nothing but allowed elements, colours by variable, marks that know their row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from rl_pipeline.analysis.chart_data import chart_data
from rl_pipeline.report.charts.all_charts import all_charts
from rl_pipeline.report.charts.chart import Chart, records
from rl_pipeline.report.page.drawing import ATTRIBUTES, ELEMENTS, drawing, evaluated, legend
from rl_pipeline.report.page.pictures import Picture, png, standalone
from rl_pipeline.report.page.studio import drawn
from rl_pipeline.report.palette import DARK, LIGHT, PAGE
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result

HEX = re.compile(r"#[0-9a-f]{6}\b")


@pytest.fixture(scope="module")
def pictures() -> dict[str, Picture]:
    charts = all_charts(chart_data(reference_frames(), reference_result()), PAGE)
    chosen = [chart for chart in charts if chart.name in {"reward", "step_time", "entropy", "waterfall", "checkpoints"}]
    return {picture.chart.name: picture for picture in drawn(chosen)}


def nodes(svg: str) -> Iterator[ElementTree.Element]:
    return ElementTree.fromstring(svg).iter()


def test_a_picture_holds_allowed_elements_and_attributes_only(pictures: dict[str, Picture]):
    for picture in pictures.values():
        for node in nodes(picture.wide):
            assert node.tag in ELEMENTS
            assert set(node.attrib) <= set(ATTRIBUTES)


def test_its_colours_are_those_of_the_page(pictures: dict[str, Picture]):
    for picture in pictures.values():
        assert HEX.findall(picture.wide) == []
        assert "var(--rule)" in picture.wide


def test_every_mark_is_a_row_of_the_table(pictures: dict[str, Picture]):
    reward = pictures["reward"]
    rows = {int(node.get("data-r", "")) for node in nodes(reward.wide) if node.get("data-r")}

    assert rows == set(range(len(reward.chart.rows)))


def test_a_narrow_picture_is_narrow_and_has_the_same_marks(pictures: dict[str, Picture]):
    picture = pictures["step_time"]
    assert picture.narrow is not None

    def width(svg: str) -> float:
        return float(svg.split('"')[1].split()[2])

    assert [width(picture.narrow), width(picture.wide)] == pytest.approx([360, 820], abs=40)
    assert picture.narrow.count("data-r=") == picture.wide.count("data-r=")
    assert pictures["entropy"].narrow is None


def test_title_and_legend_are_left_to_the_page(pictures: dict[str, Picture]):
    picture = pictures["step_time"]

    assert picture.chart.title[:30] not in picture.wide
    assert "convert_to_training_input" not in picture.wide
    assert [entry.text for entry in legend(picture.chart)][:2] == ["wait_for_generation_buffer", "run_training"]


def test_the_file_has_title_legend_and_the_colours_of_its_theme(pictures: dict[str, Picture]):
    light, dark = standalone(pictures["step_time"]), standalone(pictures["step_time"], DARK)

    for svg, theme in ((light, LIGHT), (dark, DARK)):
        assert "var(" not in svg
        assert theme.paper in svg
        assert "wait_for_generation_buffer takes 58.2" in svg.replace("\u202f", " ")
        assert "convert_to_training_input" in svg
    assert png(pictures["entropy"]).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('fill="red" opacity="0.5"', {"fill": "red", "fill-opacity": "0.5"}),
        ('fill="red" stroke="none" opacity="0"', {"fill": "red", "stroke": "none", "fill-opacity": "0"}),
        (
            'fill="transparent" stroke="red" stroke-opacity="0.55" opacity="0.7"',
            {"fill": "transparent", "stroke": "red", "stroke-opacity": "0.385"},
        ),
        ('fill="red" stroke="blue" opacity="0.5"', {"fill": "red", "stroke": "blue", "opacity": "0.5"}),
        ('opacity="0.5"', {"opacity": "0.5"}),
        ('fill="red" opacity="1" onclick="alert(1)" class="mark"', {"fill": "red"}),
    ],
)
def test_the_opacity_of_a_shape_with_one_paint_is_that_of_the_paint(given: str, kept: dict[str, str]):
    made = drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect {given}/></svg>', "w")

    (rect,) = ElementTree.fromstring(made)
    assert rect.attrib == kept


def test_labels_for_which_an_axis_has_no_room_are_left_out():
    texts = '<text opacity="1">1</text><text opacity="0">2</text><text>3</text>'
    made = drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{texts}</svg>', "w")

    assert [node.text for node in ElementTree.fromstring(made)] == ["1", "3"]


def test_the_page_has_room_for_a_wider_font_and_the_file_keeps_its_size(pictures: dict[str, Picture]):
    picture = pictures["waterfall"]
    tight = replace(picture, wide=drawing(evaluated(picture.chart).wide, "waterfall-w"), pixels=None)

    left, top, *_ = (float(size) for size in picture.wide.split('"')[1].split())
    assert (left < 0, top) == (True, 0)
    assert tight.wide.startswith('<svg viewBox="0 0 ')
    assert png(picture) == png(tight)
    assert f"translate({-left:g}," in standalone(picture)


def chart_of(values: list[str], **mark: Any) -> Chart:
    rows = tuple((value, place) for place, value in enumerate(values))
    spec = {
        "title": {"text": "t", "subtitle": "s"},
        "config": {},
        "width": 100,
        "height": 60,
        "data": {"values": records(("name", "x"), rows)},
        "mark": {"type": "point", **mark},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "name", "type": "nominal", "sort": values},
        },
    }
    return Chart(name="c", title="t", subtitle="s", alt="a", spec=spec, columns=("name", "x"), rows=rows)


def wide(chart: Chart) -> str:
    return drawing(evaluated(chart).wide, "w")


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "]]>&amp;\"'", "a\u2028b", "\x00\x1b[31m", "\ufffe", "${x}", "' + alert(1) + '"],
)
def test_text_of_a_log_stays_text_and_never_stops_the_drawing(text: str):
    svg = wide(chart_of([text, "other"]))

    assert {node.tag for node in nodes(svg)} <= ELEMENTS
    assert "<script" not in svg


def test_the_opacity_of_a_group_stays_that_of_all_it_holds():
    group = '<g fill="red" opacity="0.5"><rect/><rect/></g>'
    made = drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{group}</svg>', "w")

    assert ElementTree.fromstring(made)[0].attrib == {"fill": "red", "opacity": "0.5"}


def test_a_long_name_of_a_log_is_cut_and_a_long_number_is_not():
    made = chart_of(["n" * 100_000, "other"])
    axis = {"values": [1], "labelExpr": "pad('1', 64, '0', 'right')"}
    encoding = {**made.spec["encoding"], "x": {"field": "x", "type": "quantitative", "axis": axis}}
    svg = wide(replace(made, spec={**made.spec, "encoding": encoding}))

    assert "n…" in svg
    assert "n" * 100 not in svg
    assert "1" + "0" * 63 in svg


def test_what_only_a_pointer_or_a_screen_reader_of_the_drawing_would_meet_is_not_drawn():
    plain, pointed = chart_of(["a", "b"]), chart_of(["a", "b"], tooltip=True)

    assert evaluated(pointed) == evaluated(plain)
    assert "X-axis" not in evaluated(plain).wide


def test_the_same_chart_gives_the_same_picture():
    assert wide(chart_of(["a", "b"])) == wide(chart_of(["a", "b"]))


def test_a_narrow_picture_of_very_many_points_draws_some_of_them():
    made = chart_of(["a"] * 2_000, size=20)
    chart = replace(made, spec={**made.spec, "encoding": {"x": made.spec["encoding"]["x"]}})

    drawings = evaluated(chart)

    assert drawing(drawings.wide, "w").count("data-r=") == 2_000
    assert drawing(drawings.narrow or "", "n").count("data-r=") == 667
