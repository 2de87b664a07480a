"""What run, verdict, five numbers: as words."""

from __future__ import annotations

from datetime import datetime

import pytest

from rl_pipeline.analysis.estimates import Estimate, not_measurable
from rl_pipeline.analysis.findings.finding import Verdict
from rl_pipeline.analysis.first_numbers import FirstNumber
from rl_pipeline.report.page.first_screen import dates, facts, tiles, verdict_view
from rl_pipeline_tests.helpers.reference_result import reference_result

THIRD = datetime(2026, 6, 3, 15, 0)


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (datetime(2026, 6, 3, 23, 0), "3 June 2026"),
        (datetime(2026, 6, 4, 1, 0), "3–4 June 2026"),
        (datetime(2026, 7, 1), "3 June – 1 July 2026"),
        (datetime(2027, 1, 1), "3 June 2026 – 1 January 2027"),
    ],
)
def test_dates_say_no_more_than_they_need(last: datetime, words: str):
    assert dates(THIRD, last) == words


def test_the_published_run_in_a_line():
    # source: published report; its frames here hold no clock
    assert facts(reference_result(), 44_526, "async MarinSkyRL trainer") == (
        "80 steps in 3 jobs", "19.92 h accounted", "44,526 trials", "async MarinSkyRL trainer",
    )  # fmt: skip


def test_the_verdict_names_the_findings_behind_it_worst_first():
    result = reference_result()
    view = verdict_view(result.verdict, result.findings)

    assert (view.status, view.tone) == ("Needs attention.", "warn")
    assert [reason.id for reason in view.reasons] == ["R1", "R19", "R26"]


def test_a_verdict_without_findings_is_told_in_words():
    view = verdict_view(Verdict(status="not enough evidence", reasons=("2 canonical steps: too few",)), ())

    assert (view.status, view.tone, view.text) == ("Not enough evidence.", "quiet", "2 canonical steps: too few.")


def estimate(value: float, lower: float | None = None, upper: float | None = None) -> Estimate:
    return Estimate(value=value, lower=lower, upper=upper, n=1200, population="scored trials", method="test")


@pytest.mark.parametrize(
    ("name", "number", "value", "interval"),
    [
        ("reward", estimate(-0.3774, -0.41, 0.34), "−0.377", "−0.410–0.340"),
        ("solved", estimate(0.4373, 0.425, 0.45), "43.7\u202f%", "42.5–45.0\u202f%"),
        ("wait", estimate(0.0, 0.0, 0.002), "0\u202f%", "0–0.2\u202f%"),
        ("speed", estimate(4.04, 3.71, 4.5), "4.0", "3.7–4.5"),
        ("speed", estimate(4.04), "4.0", ""),
    ],
)
def test_a_number_is_written_with_its_interval(name: str, number: Estimate, value: str, interval: str):
    (tile,) = tiles([FirstNumber(name=name, label="what", estimate=number)])

    assert (tile.value, tile.interval) == (value, interval)
    assert "n = 1,200 · scored trials" in tile.population


def test_a_number_that_does_not_exist_says_why():
    (tile,) = tiles([FirstNumber(name="wait", label="what", estimate=not_measurable("no step has it"))])

    assert (tile.value, tile.interval, tile.population) == ("—", "", "not measurable: no step has it")
