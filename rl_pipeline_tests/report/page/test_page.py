"""The whole page as text: every section, the same bytes every time, and a page for runs that have next to nothing."""

from __future__ import annotations

import re

import pytest

from rl_pipeline.analysis.chart_data import chart_data
from rl_pipeline.analysis.inputs import ExperimentFrames
from rl_pipeline.analysis.provenance import provenance_of
from rl_pipeline.analysis.summary import analyse_experiment
from rl_pipeline.report.charts.all_charts import all_charts
from rl_pipeline.report.page.page import page_view, report_page
from rl_pipeline.report.page.studio import drawn
from rl_pipeline.report.palette import PAGE
from rl_pipeline_tests.helpers.frames import block_rows, experiment_frames, job_row
from rl_pipeline_tests.helpers.reference_frames import reference_frames
from rl_pipeline_tests.helpers.reference_result import reference_result


def page_of(frames: ExperimentFrames) -> str:
    result = analyse_experiment(frames)
    data = chart_data(frames, result)
    return report_page(result, frames, provenance_of(frames), data, drawn(all_charts(data, PAGE)))


@pytest.fixture(scope="module")
def published() -> str:
    frames, result = reference_frames(), reference_result()
    data = chart_data(frames, result)
    return report_page(result, frames, provenance_of(frames), data, drawn(all_charts(data, PAGE)))


def test_the_sections_of_the_published_run(published: str):
    sections = re.findall(r'<section id="(\w+)"', published)

    assert sections == [
        "findings", "timeline", "reward", "time", "trials", "stability", "jobs", "checkpoints", "metrics", "provenance",
    ]  # fmt: skip


def test_headings_state_what_is_seen(published: str):
    headings = re.findall(r'<h2 id="(\w+)-heading">([^<]+)', published)
    told = dict(headings)

    assert told["reward"].startswith("No reward gain demonstrated")
    assert "takes 58.2" in told["time"]
    assert told["checkpoints"].startswith("Step 70 has the best moving average")


def test_nothing_absent_is_printed_as_a_word_of_the_program(published: str):
    words = re.sub(r"<(script|style|svg).*?</\1>", "", published, flags=re.S)

    assert not re.findall(r">(?:nan|None|null|undefined|inf)<", words)


def test_the_page_names_no_address_and_fetches_nothing(published: str):
    without_names = published.replace("http://www.w3.org/2000/svg", "")

    assert not re.findall(r"(?:https?:)?//[a-z]", re.sub(r"<script>.*?</script>", "", without_names, flags=re.S))
    assert not re.findall(r"<(?:img|link|iframe|object|video|audio|form)\b", published)


def test_the_same_run_gives_the_same_page():
    frames = experiment_frames(
        jobs=[job_row("job_1")],
        step_metrics=[
            row
            for n in range(1, 8)
            for row in block_rows("job_1", n, n, {"reward/avg_raw_reward": n / 10, "timing/step": 9.0})
        ],
    )

    assert page_of(frames) == page_of(frames)


@pytest.mark.parametrize(
    "frames",
    [
        experiment_frames("nothing at all"),
        experiment_frames("a log without a step", jobs=[job_row("job_1")]),
        experiment_frames(
            "one step", jobs=[job_row("job_1")], step_metrics=block_rows("job_1", 1, 1, {"own/metric": float("nan")})
        ),
    ],
    ids=lambda frames: frames.experiment,
)
def test_a_run_with_next_to_nothing_has_a_page_that_says_so(frames: ExperimentFrames):
    page = page_of(frames)

    assert "Not enough evidence." in page
    assert page.count("not measurable:") == 5


def test_the_view_has_no_anchor_that_the_page_lacks():
    frames, result = reference_frames(), reference_result()
    data = chart_data(frames, result)
    view = page_view(result, frames, provenance_of(frames), data, ())

    assert {finding.section for finding in view.findings.fired} - {None} <= {anchor for anchor, _ in view.navigation}
