"""The same instance on PostgreSQL, chosen by the environment alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.runs import READ_LOG, REPORT
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.ledger_of_runs import made_of_what_is_on_disk, repeated_contents, runs
from rl_pipeline_tests.helpers.postgres import PASSWORD, postgres_server
from rl_pipeline_tests.helpers.services import daemon, until

pytestmark = [pytest.mark.dagster, pytest.mark.postgres]
SUCCESS = dg.DagsterRunStatus.SUCCESS


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres_server() as url:
        yield url


def test_history_is_kept_in_the_database_and_its_password_nowhere_else(url: str, tmp_path: Path):
    settings = replace(Lab(tmp_path).settings, postgres_url=url)

    with open_instance(settings) as first:
        first.add_dynamic_partitions("rl_jobs", ["kept_1"])
        told = repr(first.get_ref().to_dict())
    with open_instance(settings) as second:
        assert "kept_1" in second.get_dynamic_partitions("rl_jobs")

    assert PASSWORD not in told
    assert not list(settings.home.rglob("*.db"))


@pytest.mark.daemon
def test_the_daemon_makes_everything_on_postgres(url: str, tmp_path: Path):
    lab = Lab(tmp_path)
    lab.write_job("pgdemo", 101, end=TIME_LIMIT)
    lab.write_trials("pgdemo", 3)
    environment = {**lab.environment(), "HOME": str(tmp_path), "RL_PIPELINE_POSTGRES_URL": url}

    with open_instance(replace(lab.settings, postgres_url=url)) as instance:
        with daemon(environment, tmp_path):
            until("everything is made", lambda: made_of_what_is_on_disk(instance, lab), patience=600)

        assert len(runs(instance, READ_LOG, SUCCESS)) == len(runs(instance, REPORT, SUCCESS)) == 1
        assert repeated_contents(instance) == {}
    assert not list(lab.settings.home.rglob("*.db"))
