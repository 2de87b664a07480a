"""Everything that is not current is made, nothing else, and one failure stops no other partition.

One story, told once: two experiments are made, looked at again, one of their logs grows, and one goes away
between discovery and reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg
import pytest

from rl_pipeline.defs.materialize import CURRENT, FAILED, MADE, Outcome, materialize_experiments, report_of
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab


@dataclass(frozen=True)
class Story:
    """The laboratory, and the outcomes of each time by partition key."""

    lab: Lab
    first: dict[str, Outcome]
    second: dict[str, Outcome]
    grown: dict[str, Outcome]
    gone: dict[str, Outcome]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.write_job("demo", 101, end=TIME_LIMIT)
    lab.write_job("other", 201, end=TIME_LIMIT)
    with lab.instance() as instance:
        first, second = made(lab, instance), made(lab, instance)
        lab.write_job("demo", 101, steps=(1, 2, 3), end=TIME_LIMIT)
        grown = made(lab, instance)
        lab.write_job("other", 202, hours=2.0)
        return Story(lab, first, second, grown, made(lab, instance, goes_away=("other", 202)))


def made(lab: Lab, instance: dg.DagsterInstance, *, goes_away: tuple[str, int] | None = None) -> dict[str, Outcome]:
    lab.register(instance)
    found = lab.discovered().experiments
    if goes_away:
        lab.log_path(*goes_away).unlink()
    outcomes = materialize_experiments(found, settings=lab.settings, instance=instance)
    return {outcome.key: outcome for outcome in outcomes}


def kinds(outcomes: dict[str, Outcome]) -> dict[str, str]:
    return {key: outcome.outcome for key, outcome in outcomes.items()}


def test_everything_is_made_once_and_then_left_alone(story: Story):
    assert kinds(story.first) == dict.fromkeys(["demo_101", "demo", "other_201", "other"], MADE)
    assert kinds(story.second) == dict.fromkeys(["demo_101", "demo", "other_201", "other"], CURRENT)
    assert report_of(story.lab.settings, "demo").is_file()
    assert (story.lab.settings.reports / "index.html").is_file()


def test_a_log_that_grew_is_read_again_with_its_experiment_alone(story: Story):
    assert kinds(story.grown) == {"demo_101": MADE, "demo": MADE, "other_201": CURRENT, "other": CURRENT}


def test_a_failure_is_told_and_the_rest_stays_as_it_was(story: Story):
    assert kinds(story.gone) == {
        "demo_101": CURRENT, "demo": CURRENT, "other_201": CURRENT, "other_202": FAILED, "other": CURRENT,
    }  # fmt: skip
    assert "register its new place" in story.gone["other_202"].reason
