"""One partition of an experiment: all trials once, the comparison, the findings, the report."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.experiment_assets import experiment_results, trials
from rl_pipeline.defs.job_assets import job_tables, job_trials, raw_log
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, steps=(1, 2, 3), end=TIME_LIMIT)
    lab.write_job("demo", 102, steps=(3, 4), hours=2.0)
    lab.write_trials("demo", 6)
    return lab


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


def metadata_of(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, dg.MetadataValue]:
    [event] = [event for event in result.get_asset_materialization_events() if event.asset_key == dg.AssetKey(asset)]
    return dict(event.materialization.metadata)


def test_an_experiment_gives_its_trials_and_its_report(lab: Lab):
    with lab.instance() as instance:
        for key in ("demo_101", "demo_102"):
            make_job(lab, instance, key)
        result = make_experiment(lab, instance)

    assert result.success
    assert metadata_of(result, "trials")["dagster/row_count"].value == 6
    assert metadata_of(result, "cross_log_comparison")["dagster/row_count"].value == 2
    assert "verdict" in metadata_of(result, "findings")
    report = lab.settings.reports / "demo" / "metrics_report.md"
    assert metadata_of(result, "metrics_report")["report"].value == str(report)
    assert report.is_file()


def test_the_comparison_and_the_trials_lie_in_the_store(lab: Lab):
    with lab.instance() as instance:
        make_job(lab, instance, "demo_101")
        make_experiment(lab, instance)

    store = lab.store()
    assert store.read_comparison("demo").column("job").to_pylist() == ["job_101"]
    assert store.read_experiment("demo", "trials").num_rows == 6


def test_a_job_without_tables_is_told_and_the_others_are_reported(lab: Lab):
    with lab.instance() as instance:
        make_job(lab, instance, "demo_101")
        result = make_experiment(lab, instance)

    [check] = [check for check in result.get_asset_check_evaluations() if check.check_name == "every_job_is_read"]
    assert result.success
    assert not check.passed
    assert check.severity == dg.AssetCheckSeverity.WARN
    assert check.metadata["missing"].value == ["demo_102"]


def test_an_experiment_without_any_table_says_what_to_do_first(lab: Lab):
    with lab.instance() as instance:
        result = make_experiment(lab, instance)

    [failure] = [
        event for event in result.all_events if event.is_step_failure and event.step_key == "experiment_results"
    ]
    assert not result.success
    assert "materialize the group `jobs`" in str(failure.step_failure_data.error_display_string)


def test_the_report_is_of_the_version_that_its_jobs_have(lab: Lab):
    with lab.instance() as instance:
        make_job(lab, instance, "demo_101")
        first = make_experiment(lab, instance)
        make_job(lab, instance, "demo_102")
        second = make_experiment(lab, instance)
        again = make_experiment(lab, instance)

    def version(result: dg.ExecuteInProcessResult) -> str:
        [event] = result.asset_materializations_for_node("experiment_results")[-1:]
        return str((event.tags or {})["dagster/data_version"])

    assert version(first) != version(second)
    assert version(second) == version(again)
