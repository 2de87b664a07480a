"""The sensors, called as the daemon calls them: the right requests, once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.factory import build_definitions, build_resources
from rl_pipeline.defs.registration import register
from rl_pipeline.settings import Settings
from rl_pipeline_tests.helpers.lab import NO_END, TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.recorded import record_made, record_run, record_version


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.write_job("demo", 101, end=TIME_LIMIT)
    lab.write_job("demo", 102, end=TIME_LIMIT, hours=2.0)
    return lab


def tick(
    lab: Lab,
    instance: dg.DagsterInstance,
    name: str,
    cursor: str | None = None,
    *,
    settings: Settings | None = None,
):
    """One evaluation, with the partitions added as the daemon does before it launches runs."""
    definitions = build_definitions(settings or lab.settings)
    context = dg.build_sensor_context(
        instance=instance,
        instance_ref=instance.get_ref(),
        repository_def=definitions.get_repository_def(),
        cursor=cursor,
        resources=build_resources(settings or lab.settings),
    )
    data = definitions.resolve_sensor_def(name).evaluate_tick(context)
    for request in data.dynamic_partitions_requests or ():
        instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
    return data


def keys(data) -> list[str]:
    return sorted(request.partition_key for request in data.run_requests or ())


def test_new_jobs_are_asked_for_in_the_look_that_adds_their_partitions(lab: Lab, instance: dg.DagsterInstance):
    data = tick(lab, instance, "finished_jobs")

    assert keys(data) == ["demo_101", "demo_102"]
    assert instance.get_dynamic_partitions("rl_jobs") == ["demo_101", "demo_102"]
    assert instance.get_dynamic_partitions("rl_experiments") == ["demo"]
    assert {request.tags["rl_pipeline/experiment"] for request in data.run_requests} == {"demo"}


def test_partitions_are_added_once(lab: Lab, instance: dg.DagsterInstance):
    tick(lab, instance, "finished_jobs")

    again = tick(lab, instance, "finished_jobs")

    assert not again.dynamic_partitions_requests


def test_an_experiment_is_asked_for_when_its_jobs_are_made_and_once(lab: Lab, instance: dg.DagsterInstance):
    tick(lab, instance, "finished_jobs")
    too_early = tick(lab, instance, "finished_experiments")
    for job in lab.discovered().experiments[0].jobs:
        record_made(instance, job)
    tick(lab, instance, "finished_jobs")

    first = tick(lab, instance, "finished_experiments", too_early.cursor)
    second = tick(lab, instance, "finished_experiments", first.cursor)
    [request] = second.run_requests
    record_run(instance, "report_experiment", dg.DagsterRunStatus.STARTED, {"dagster/partition": "demo"})
    third = tick(lab, instance, "finished_experiments", second.cursor)

    assert (keys(too_early), keys(first), keys(second), keys(third)) == ([], [], ["demo"], [])
    assert request.run_key.startswith("demo:")
    assert third.skip_message == "1 experiment due, 1 on their way"


def test_the_index_follows_when_no_report_is_due_any_more_and_once(lab: Lab, instance: dg.DagsterInstance):
    record_version(instance, "metrics_report", "demo", "v1")

    first = tick(lab, instance, "finished_experiments")
    [request] = first.run_requests
    record_run(instance, "index_experiments", dg.DagsterRunStatus.STARTED, {"dagster/run_key": request.run_key})
    while_it_runs = tick(lab, instance, "finished_experiments")
    record_version(instance, "experiment_index", None, request.run_key)
    made = tick(lab, instance, "finished_experiments")

    assert request.job_name == "index_experiments"
    assert not while_it_runs.run_requests
    assert not made.run_requests


def test_running_jobs_are_asked_for_as_of_now(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 103, end=NO_END, hours=4.0)
    tick(lab, instance, "finished_jobs")

    data = tick(lab, instance, "running_jobs")
    again = tick(lab, instance, "running_jobs", data.cursor)

    [request] = data.run_requests
    assert request.partition_key == "demo_103"
    assert "rl_pipeline/as_of" in request.tags
    assert not again.run_requests


def test_nothing_is_watched_without_a_root(lab: Lab, instance: dg.DagsterInstance):
    data = tick(lab, instance, "finished_jobs", settings=replace(lab.settings, roots=()))

    assert data.skip_message == "no folder to watch: set RL_PIPELINE_ROOTS"


def test_a_failed_run_is_told_once_and_its_end_once(lab: Lab, instance: dg.DagsterInstance):
    tags = {"dagster/partition": "demo_101", "dagster/run_key": "demo_101:1:1:final:p1"}
    record_run(instance, "read_job_log", dg.DagsterRunStatus.FAILURE, tags)
    for _ in range(3):
        tick(lab, instance, "notifications")
    record_run(instance, "read_job_log", dg.DagsterRunStatus.SUCCESS, tags)
    for _ in range(2):
        last = tick(lab, instance, "notifications")

    lines = (lab.settings.home / "notifications" / "notifications.jsonl").read_text().splitlines()
    assert [json.loads(line)["title"] for line in lines] == ["run demo_101 failed", "over: run demo_101 failed"]
    assert last.skip_message == "nothing new; 0 matters stand"


def test_registering_by_hand_and_by_sensor_is_the_same(lab: Lab, instance: dg.DagsterInstance):
    register(lab.discovered().experiments, store_url=lab.settings.store, instance=instance)

    data = tick(lab, instance, "finished_jobs")

    assert not data.dynamic_partitions_requests
    assert keys(data) == ["demo_101", "demo_102"]
