"""Registering says what is new, which logs count where an experiment lies in two places, and leaves its mark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.index_assets import PROBLEMS_CHECK, record_index
from rl_pipeline.defs.registration import Registered, notes, register, told
from rl_pipeline.discovery import discover
from rl_pipeline_tests.helpers.lab import Lab


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")


def registered(lab: Lab, instance: dg.DagsterInstance, root: Path | None = None) -> Registered:
    found = discover([root or lab.root])
    return register(found.experiments, store_url=lab.settings.store, instance=instance)


def test_it_says_how_many_are_new_and_how_many_were_known(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    first = told(registered(lab, instance))
    lab.write_job("demo", 102, steps=(2, 3))
    second = told(registered(lab, instance))

    assert first == "registered: 1 job partition (1 new, 0 known), 1 experiment partition (1 new, 0 known)"
    assert second == "registered: 2 job partitions (1 new, 1 known), 1 experiment partition (0 new, 1 known)"


def test_an_experiment_of_the_same_name_in_another_folder_is_told_with_the_logs_that_count(
    lab: Lab, instance: dg.DagsterInstance, tmp_path: Path
):
    lab.write_job("demo", 101)
    lab.write_job("demo", 102, steps=(2, 3))
    registered(lab, instance)
    second = Lab(tmp_path / "second")
    second.write_job("demo", 102, steps=(7,))

    [note] = notes(registered(lab, instance, second.root))

    here, before = second.root / "demo" / "logs", lab.root / "demo" / "logs"
    assert f"read from {here} from now on, and no more from {before}: 1" in note
    assert f"members beside those in {here}, from {before}: 1" in note
    index = lab.resources()["store"].index()
    assert [Path(job.path).parent for job in index.experiment("demo").jobs] == [before, here]


def test_a_folder_that_was_moved_is_no_second_place(lab: Lab, instance: dg.DagsterInstance, tmp_path: Path):
    lab.write_job("demo", 101)
    registered(lab, instance)
    shutil.move(lab.root, tmp_path / "archive")

    assert notes(registered(lab, instance, tmp_path / "archive")) == []


def test_what_a_command_registers_shows_as_made(lab: Lab, instance: dg.DagsterInstance):
    lab.write_job("demo", 101)
    found = discover([lab.root])
    registration = register(found.experiments, store_url=lab.settings.store, instance=instance)

    record_index(instance, found, registration, [str(lab.root)])

    made = instance.get_latest_materialization_event(dg.AssetKey("job_index"))
    assert made is not None
    assert made.asset_materialization is not None
    assert made.asset_materialization.metadata["jobs"].value == 1
    [check] = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(dg.AssetKey("job_index"), PROBLEMS_CHECK), limit=5
    )
    assert check.status.value == "SUCCEEDED"
