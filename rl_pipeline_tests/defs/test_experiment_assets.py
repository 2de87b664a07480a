"""One partition of an experiment: all trials once, the comparison, the findings, the report.

One story, told once and looked at by all tests: a report before any job is made, with one of two jobs, with
both, and again.
"""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg
import pytest

from rl_pipeline.defs.experiment_assets import experiment_results, trials
from rl_pipeline.defs.job_assets import job_tables, job_trials, raw_log
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab


@dataclass(frozen=True)
class Story:
    """The laboratory, and what each attempt at its experiment gave."""

    lab: Lab
    too_early: dg.ExecuteInProcessResult
    with_one: dg.ExecuteInProcessResult
    with_both: dg.ExecuteInProcessResult
    again: dg.ExecuteInProcessResult


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.write_job("demo", 101, steps=(1, 2, 3), end=TIME_LIMIT)
    lab.write_job("demo", 102, steps=(3, 4), hours=2.0)
    lab.write_trials("demo", 6)
    with lab.instance() as instance:
        too_early = make_experiment(lab, instance)
        make_job(lab, instance, "demo_101")
        with_one = make_experiment(lab, instance)
        make_job(lab, instance, "demo_102")
        with_both = make_experiment(lab, instance)
        return Story(lab, too_early, with_one, with_both, make_experiment(lab, instance))


def make_job(lab: Lab, instance: dg.DagsterInstance, key: str) -> None:
    dg.materialize([raw_log, job_tables, job_trials], partition_key=key, instance=instance, resources=lab.resources())


def make_experiment(lab: Lab, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return dg.materialize(
        [trials, experiment_results],
        partition_key="demo",
        instance=instance,
        resources=lab.resources(),
        raise_on_error=False,
    )


def event_of(result: dg.ExecuteInProcessResult, asset: str) -> dg.AssetMaterialization:
    [event] = [event for event in result.get_asset_materialization_events() if event.asset_key == dg.AssetKey(asset)]
    return event.materialization


def version_of(result: dg.ExecuteInProcessResult) -> str:
    return str((event_of(result, "metrics_report").tags or {})["dagster/data_version"])


def test_an_experiment_gives_its_trials_and_its_report(story: Story):
    report = story.lab.settings.reports / "demo" / "metrics_report.md"

    assert story.with_both.success
    assert event_of(story.with_both, "trials").metadata["dagster/row_count"].value == 6
    assert event_of(story.with_both, "cross_log_comparison").metadata["dagster/row_count"].value == 2
    assert "verdict" in event_of(story.with_both, "findings").metadata
    shown = event_of(story.with_both, "metrics_report").metadata
    assert shown["report"].value == str(report)
    assert shown["page"].value == str(report.with_name("report.html"))
    assert shown["verdict"].value == event_of(story.with_both, "findings").metadata["verdict"].value
    assert str(shown["is_it_learning"].value).startswith("Too early to say.")
    assert {f"findings_{severity}" for severity in ("critical", "high", "medium", "low", "info")} <= set(shown)
    assert 0 < float(str(shown["mean_reward_canonical"].value)) < 1
    assert report.is_file()


def test_the_comparison_and_the_trials_lie_in_the_store(story: Story):
    store = story.lab.store()

    assert store.read_comparison("demo").column("job").to_pylist() == ["job_101", "job_102"]
    assert store.read_experiment("demo", "trials").num_rows == 6


def test_a_job_without_tables_is_told_and_the_others_are_reported(story: Story):
    checks = {check.check_name: check for check in story.with_one.get_asset_check_evaluations()}

    assert story.with_one.success
    assert not checks["every_job_is_read"].passed
    assert checks["every_job_is_read"].severity == dg.AssetCheckSeverity.WARN
    assert checks["every_job_is_read"].metadata["missing"].value == ["demo_102"]


def test_an_experiment_without_any_table_says_what_to_do_first(story: Story):
    failures = {
        event.step_key: event.step_failure_data for event in story.too_early.all_events if event.is_step_failure
    }

    assert not story.too_early.success
    assert "materialize the group `jobs`" in str(failures["experiment_results"].error_display_string)


def test_the_report_is_of_the_version_that_its_jobs_have(story: Story):
    assert version_of(story.with_one) != version_of(story.with_both)
    assert version_of(story.with_both) == version_of(story.again)
