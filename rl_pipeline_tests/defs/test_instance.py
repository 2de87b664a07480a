"""One instance, wherever it is opened from; in PostgreSQL when a URL says so; and never a second one without a word."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rl_pipeline.defs.instance import config_folder, driver_url, foreign_home, open_instance
from rl_pipeline.errors import ConfigurationError
from rl_pipeline_tests.helpers.lab import Lab


def test_what_one_process_records_the_next_one_knows_whatever_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = Lab(tmp_path).settings
    with open_instance(settings) as instance:
        instance.add_dynamic_partitions("rl_jobs", ["demo_1"])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    with open_instance(settings) as instance:
        assert instance.get_dynamic_partitions("rl_jobs") == ["demo_1"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_everything_of_the_history_lies_in_the_home(tmp_path: Path):
    settings = Lab(tmp_path).settings

    with open_instance(settings) as instance:
        folders = {instance.root_directory, instance.storage_directory()}

    assert all(folder.startswith(str(settings.home)) for folder in folders)


def test_the_environment_is_as_it_was_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("RL_PIPELINE_POSTGRES_URL", raising=False)
    monkeypatch.setenv("RL_PIPELINE_HOME", "/another/home")

    with open_instance(Lab(tmp_path).settings):
        pass

    assert os.environ["RL_PIPELINE_HOME"] == "/another/home"
    assert "RL_PIPELINE_POSTGRES_URL" not in os.environ


def test_telemetry_and_the_newsletter_dialog_are_off_and_runs_are_watched(tmp_path: Path):
    with open_instance(Lab(tmp_path).settings) as instance:
        settings = instance.get_settings

        assert not instance.telemetry_enabled
        assert not instance.nux_enabled
        assert instance.run_monitoring_enabled
        assert instance.run_launcher.supports_check_run_worker_health
        assert (instance.run_retries_enabled, instance.run_retries_max_retries) == (True, 2)
        assert settings("retention")["sensor"]["purge_after_days"]["success"] == 30
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert queue.max_concurrent_runs == 4
        assert [(limit["key"], limit["limit"]) for limit in queue.tag_concurrency_limits] == [
            ("rl_pipeline/experiment", 2)
        ]


@pytest.mark.parametrize(
    ("url", "used"),
    [
        ("postgresql://u:p@db/rl", "postgresql+psycopg2://u:p@db/rl"),
        ("postgres://u:p@db/rl", "postgresql+psycopg2://u:p@db/rl"),
        ("postgresql+psycopg2://u:p@db/rl", "postgresql+psycopg2://u:p@db/rl"),
    ],
)
def test_a_database_url_names_its_driver(url: str, used: str):
    assert driver_url(url) == used


def test_a_home_that_cannot_be_made_says_what_to_do(tmp_path: Path):
    (tmp_path / "file").write_text("")
    settings = replace(Lab(tmp_path).settings, home=tmp_path / "file" / "home")

    with pytest.raises(ConfigurationError, match="RL_PIPELINE_HOME"), open_instance(settings):
        pass


def test_a_dagster_home_of_ours_is_no_foreign_one(tmp_path: Path):
    shutil.copy(config_folder() / "dagster.yaml", tmp_path)

    assert foreign_home({}) is None
    assert foreign_home({"DAGSTER_HOME": str(config_folder())}) is None
    assert foreign_home({"DAGSTER_HOME": str(tmp_path)}) is None


@pytest.mark.parametrize("content", [None, "telemetry: {enabled: false}\n"])
def test_another_dagster_home_is_told_with_what_to_do(tmp_path: Path, content: str | None):
    if content is not None:
        (tmp_path / "dagster.yaml").write_text(content)

    told = foreign_home({"DAGSTER_HOME": str(tmp_path)})

    assert told is not None
    assert f"DAGSTER_HOME is {tmp_path}" in told
    assert str(config_folder()) in told
