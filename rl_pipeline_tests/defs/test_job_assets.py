"""One partition of a job: its log, its tables, its trials, its checks."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.job_assets import job_tables, job_trials, raw_log
from rl_pipeline.defs.members import members_of
from rl_pipeline_tests.helpers.lab import NO_END, TIME_LIMIT, Lab

ASSETS = [raw_log, job_tables, job_trials]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, steps=(1, 2, 3))
    lab.write_trials("demo", 6)
    return lab


def materialized(lab: Lab, instance: dg.DagsterInstance, key: str = "demo_101") -> dg.ExecuteInProcessResult:
    return dg.materialize(ASSETS, partition_key=key, instance=instance, resources=lab.resources(), raise_on_error=False)


def event_of(result: dg.ExecuteInProcessResult, asset: str) -> dg.AssetMaterialization:
    [event] = [event for event in result.get_asset_materialization_events() if event.asset_key == dg.AssetKey(asset)]
    return event.materialization


def version_of(result: dg.ExecuteInProcessResult, asset: str) -> str:
    return str((event_of(result, asset).tags or {})["dagster/data_version"])


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {
        f"{check.asset_key.to_user_string()}:{check.check_name}": check.passed
        for check in result.get_asset_check_evaluations()
    }


def test_a_healthy_job_gives_all_tables_and_passes_every_check(lab: Lab):
    with lab.instance() as instance:
        result = materialized(lab, instance)

    assert result.success
    assert set(checks_of(result).values()) == {True}
    assert event_of(result, "step_metrics").metadata["last_step"].value == 3
    assert event_of(result, "rollout_batches").metadata["dagster/row_count"].value == 3
    assert event_of(result, "job_trials").metadata["dagster/row_count"].value == 6


def test_tables_carry_the_version_of_their_content(lab: Lab):
    with lab.instance() as instance:
        result = materialized(lab, instance)

    log = version_of(result, "raw_log")
    tables = version_of(result, "step_metrics")
    assert tables.split("-")[0] == log.split(".")[0]
    assert log.endswith(".final")


def test_a_chart_and_a_preview_are_on_the_page(lab: Lab):
    with lab.instance() as instance:
        result = materialized(lab, instance)
    metadata, events = (event_of(result, name).metadata for name in ("step_metrics", "job_events"))

    assert str(metadata["chart"].value).startswith("![reward/avg_raw_reward](data:image/svg+xml;base64,")
    assert "(data:image/svg+xml;base64," in str(events["kinds"].value)
    assert str(metadata["preview"].value).startswith("| global_step | metric | value |")


def test_a_job_that_still_runs_is_told_as_such_and_stops_nothing(tmp_path: Path):
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, end=NO_END)

    with lab.instance() as instance:
        result = materialized(lab, instance)

    assert result.success
    assert [name for name, passed in checks_of(result).items() if not passed] == ["raw_log:job_has_finished"]
    assert version_of(result, "raw_log").endswith(".open")


def test_a_log_that_is_gone_fails_with_what_to_do_and_keeps_the_tables(lab: Lab):
    with lab.instance() as instance:
        materialized(lab, instance)
        lab.log_path("demo", 101).unlink()
        result = materialized(lab, instance)

        [failure] = [event for event in result.all_events if event.is_step_failure]

    assert not result.success
    assert "register its new place" in str(failure.step_failure_data.error_display_string)
    assert lab.store().read_job("demo_101")["step_metrics"].num_rows > 0


def test_a_partition_that_nobody_registered_fails_with_what_to_do(lab: Lab):
    with lab.instance() as instance:
        instance.add_dynamic_partitions("rl_jobs", ["unknown_7"])
        result = materialized(lab, instance, "unknown_7")

    [failure] = [event for event in result.all_events if event.is_step_failure and event.step_key == "raw_log"]
    assert not result.success
    assert "rl-pipeline discover ROOT --register" in str(failure.step_failure_data.error_display_string)


def test_a_file_without_a_byte_stops_at_its_blocking_check(lab: Lab):
    with lab.instance() as instance:
        lab.log_path("demo", 101).write_bytes(b"")
        result = materialized(lab, instance)

    assert not result.success
    assert checks_of(result)["raw_log:log_has_content"] is False
    assert result.asset_materializations_for_node("raw_log")
    assert not any(event.is_step_start and event.step_key == "job_tables" for event in result.all_events)


def test_a_file_of_an_unknown_format_stops_at_its_blocking_check_and_enters_no_experiment(lab: Lab):
    lab.log_path("demo", 101).write_text("nothing that anybody would recognise\n")

    with lab.instance() as instance:
        result = materialized(lab, instance)

    assert not result.success
    assert checks_of(result)["step_metrics:log_is_of_a_known_format"] is False
    assert members_of(lab.resources()["store"], "demo").missing == ("demo_101",)


def test_a_job_that_died_before_its_first_step_only_warns(tmp_path: Path):
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, steps=(), end=TIME_LIMIT)

    with lab.instance() as instance:
        result = materialized(lab, instance)

    assert result.success
    assert [name for name, passed in checks_of(result).items() if not passed] == ["step_metrics:log_has_metric_blocks"]


def test_one_table_can_be_asked_for_alone(lab: Lab):
    with lab.instance() as instance:
        materialized(lab, instance)
        result = dg.materialize(
            ASSETS,
            selection=["vllm_stats"],
            partition_key="demo_101",
            instance=instance,
            resources=lab.resources(),
        )

    assert [event.asset_key for event in result.get_asset_materialization_events()] == [dg.AssetKey("vllm_stats")]
