"""Every chart says what is seen, carries its numbers, and is drawn by the renderer without a complaint."""

from __future__ import annotations

from typing import Any

import pytest

from rl_pipeline.analysis.chart_data import ChartData, chart_data
from rl_pipeline.report.charts.all_charts import all_charts
from rl_pipeline.report.charts.chart import Chart
from rl_pipeline.report.images import chart_svg
from rl_pipeline.report.palette import DARK, LIGHT
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


@pytest.fixture(scope="module")
def data() -> ChartData:
    return chart_data(reference_frames(), reference_result())


@pytest.fixture(scope="module")
def charts(data: ChartData) -> dict[str, Chart]:
    return {chart.name: chart for chart in all_charts(data)}


def test_the_published_run_has_the_charts_that_its_tables_allow(charts: dict[str, Chart]):
    drawn = set(charts)

    assert {"reward", "pass_at_8", "errors_by_step", "step_time", "turns", "waterfall", "checkpoints"} <= drawn
    # these frames hold no engine line and the trainer logs no KL
    assert not {"engine_load", "engine_map", "kl_to_the_reference"} & drawn


def test_titles_say_what_is_seen(charts: dict[str, Chart]):
    # source: shares and counts of the published run, analysis of its step tables
    assert charts["reward"].title.endswith("mean reward 0.352 in the first 10 settled steps, 0.377 in the last 10")
    assert (
        charts["errors_by_step"].title
        == "ContextLengthExceededError is the most frequent of 7,189 failures in batch lines"
    )
    assert "wait_for_generation_buffer takes 58.2" in charts["step_time"].title
    assert charts["turns"].title == "Trials with 7 turns are the most frequent; the longest took 116"


def test_every_chart_has_words_for_those_who_do_not_see_it(charts: dict[str, Chart]):
    for chart in charts.values():
        assert chart.title in chart.alt
        assert chart.subtitle


def test_every_number_drawn_is_in_the_table(charts: dict[str, Chart]):
    for chart in charts.values():
        assert chart.rows
        assert {len(row) for row in chart.rows} == {len(chart.columns)}
    assert len(charts["reward"].rows) == 81


def test_a_step_thrown_away_is_in_the_table_and_not_stacked(charts: dict[str, Chart]):
    chart = charts["step_time"]
    drawn = [record for record in chart.spec["data"]["values"] if record["global_step"] == 9]

    assert {record["job"] for record in drawn} == {"job_567550"}
    assert {row[0] for row in chart.rows if row[1] == 9} == {"job_567548", "job_567550"}


def test_the_checkpoint_to_keep_is_ringed(charts: dict[str, Chart]):
    filters = [layer.get("transform", [{}])[0].get("filter", "") for layer in charts["reward"].spec["layer"]]

    assert any("global_step === 70" in text for text in filters)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_renderer_draws_every_chart(data: ChartData, theme: Any):
    for chart in all_charts(data, theme):
        svg = chart_svg(chart)
        assert svg.startswith("<svg")
        assert chart.title.split(":")[0][:20] in svg


def test_no_chart_asks_for_anything_outside_itself(charts: dict[str, Chart]):
    def addresses(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [
                address for key, item in value.items() for address in ([str(item)] if key == "url" else addresses(item))
            ]
        return [address for item in value for address in addresses(item)] if isinstance(value, list) else []

    assert [addresses(dict(chart.spec)) for chart in charts.values()] == [[]] * len(charts)


def test_nothing_to_draw_gives_no_chart():
    assert all_charts(chart_data(experiment_frames())) == ()


def test_a_name_from_the_log_is_drawn_as_text():
    name = "</svg><script>alert(1)</script>"
    frames = experiment_frames(
        jobs=[job_row(name)],
        step_metrics=[row for step in (1, 2) for row in block_rows(name, step, step, {"reward/avg_raw_reward": 0.5})],
    )
    (chart,) = all_charts(chart_data(frames))

    assert "<script" not in chart_svg(chart)
