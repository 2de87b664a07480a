"""Charts on Dagster's pages: small ones at once, pictures behind the button, the index over all."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import dagster as dg
import pytest

from rl_pipeline.defs.experiment_index import experiment_index
from rl_pipeline.defs.metadata import INLINE_LIMIT
from rl_pipeline.defs.pictures import OF_REPORT, outcome_bar, pictures, stacked_bar, time_bar
from rl_pipeline.report.charts.chart import Chart, records
from rl_pipeline.report.page.studio import drawn
from rl_pipeline_tests.helpers.lab import Lab
from rl_pipeline_tests.helpers.present import present

HOSTILE = "a](javascript:alert(1))|<img src=x onerror=alert(1)>"


def chart(name: str, title: str = "t") -> Chart:
    rows = ((1, 2.0),)
    spec = {
        "title": {"text": title, "subtitle": "s"},
        "config": {},
        "width": 80,
        "height": 40,
        "data": {"values": records(("x", "y"), rows)},
        "mark": "point",
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    }
    return Chart(name=name, title=title, subtitle="s", alt=title, spec=spec, columns=("x", "y"), rows=rows)


def image(markdown: str) -> ElementTree.Element:
    [data] = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)", markdown)
    return ElementTree.fromstring(base64.b64decode(data))


def test_pictures_are_named_svg_files_in_markdown_and_missing_ones_are_skipped():
    made = pictures(drawn([chart("reward"), chart("other")]), OF_REPORT)

    assert list(made) == ["picture_reward"]
    assert image(str(made["picture_reward"].value)).tag.endswith("svg")


def test_a_title_cannot_end_the_image():
    (made,) = pictures(drawn([chart("reward", HOSTILE)]), ["reward"]).values()

    assert len(re.findall(r"(?<!\\)\]\(", str(made.value))) == 1
    assert "<img" not in str(made.value).replace("\\<img", "")


def test_a_bar_is_shown_at_once_with_its_shares_in_words():
    bar = present(outcome_bar({"solved": 3, "unsolved": 1, "unscored": 0}))

    assert len(str(bar.value)) < INLINE_LIMIT
    assert str(bar.value).endswith("solved 75.0\u202f% · unsolved 25.0\u202f%")
    assert len(list(image(str(bar.value)))) == 2


def test_a_bar_of_many_long_names_stays_short_enough():
    bar = present(time_bar({f"{HOSTILE}{n}" * 9: 1.0 + n for n in range(30)}))

    assert len(str(bar.value)) < INLINE_LIMIT


def test_nothing_has_no_bar():
    assert stacked_bar({}, {}) is None
    assert stacked_bar({"a": 0.0}, {}) is None


@pytest.mark.dagster
def test_the_index_is_made_of_the_reports_that_are_there(tmp_path: Path):
    lab = Lab(tmp_path)
    (lab.settings.reports / "broken").mkdir(parents=True)
    (lab.settings.reports / "broken" / "report.json").write_text("{}")
    with lab.instance() as instance:
        result = dg.materialize([experiment_index], instance=instance, resources=lab.resources())

    [event] = result.get_asset_materialization_events()
    told = event.materialization.metadata
    assert (told["experiments"].value, told["unreadable_reports"].value) == (0, 1)
    assert Path(str(told["index"].value)).is_file()
