"""Everything that is not current is made, nothing else, and one failure stops no other partition."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_pipeline.defs.materialize import CURRENT, FAILED, MADE, materialize_experiments, report_of
from rl_pipeline_tests.helpers.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.write_job("demo", 101)
    lab.write_job("other", 201)
    return lab


def outcomes(lab: Lab, instance) -> dict[str, str]:
    lab.register(instance)
    made = materialize_experiments(lab.discovered().experiments, settings=lab.settings, instance=instance)
    return {outcome.key: outcome.outcome for outcome in made}


def test_everything_is_made_once_and_then_left_alone(lab: Lab):
    with lab.instance() as instance:
        first = outcomes(lab, instance)
        second = outcomes(lab, instance)

    assert set(first.values()) == {MADE}
    assert set(second.values()) == {CURRENT}
    assert report_of(lab.settings, "demo").is_file()


def test_a_log_that_grew_is_read_again_with_its_experiment_alone(lab: Lab):
    with lab.instance() as instance:
        outcomes(lab, instance)
        lab.write_job("demo", 101, steps=(1, 2, 3))
        again = outcomes(lab, instance)

    assert again == {"demo_101": MADE, "demo": MADE, "other_201": CURRENT, "other": CURRENT}


def test_a_failure_is_told_and_the_rest_is_made(lab: Lab):
    with lab.instance() as instance:
        lab.register(instance)
        found = lab.discovered().experiments
        lab.log_path("demo", 101).unlink()
        made = materialize_experiments(found, settings=lab.settings, instance=instance)

    told = {outcome.key: (outcome.outcome, outcome.reason) for outcome in made}
    assert told["demo_101"][0] == told["demo"][0] == FAILED
    assert "register its new place" in told["demo_101"][1]
    assert told["other"] == (MADE, "")
