"""Marks in a page give way to pictures, and nothing else does."""

from __future__ import annotations

from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.page.pictures import Picture
from rl_pipeline.report.page.stand_ins import stand_ins, with_pictures

SECRET = "0123abcd"


def chart(name: str, *, is_small: bool = False) -> Chart:
    return Chart(name=name, title="", subtitle="", alt="", spec={}, columns=(), rows=(), is_small=is_small)


CHARTS = [chart("a"), chart("b", is_small=True)]
PICTURES = [
    Picture(chart=CHARTS[0], wide="<svg>[0123abcd 1 wide]</svg>", narrow="<svg>a narrow</svg>"),
    Picture(chart=CHARTS[1], wide="<svg>b]</svg>", narrow=None),
]


def test_every_mark_becomes_its_picture():
    first, second = stand_ins(CHARTS, SECRET)
    page = f"<p>{first.wide}{first.narrow}</p>[x]{second.wide}[0123abc]"

    assert with_pictures(page, PICTURES, SECRET) == (
        "<p><svg>[0123abcd 1 wide]</svg><svg>a narrow</svg></p>[x]<svg>b]</svg>[0123abc]"
    )


def test_a_small_chart_has_no_narrow_picture():
    assert [picture.narrow is None for picture in stand_ins(CHARTS, SECRET)] == [False, True]


def test_a_page_without_marks_stays():
    assert with_pictures("<p>]</p>", [], SECRET) == "<p>]</p>"
