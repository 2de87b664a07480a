"""Several machines, as far as one can play them: daemon and workers with homes of their own.

What they share is what several machines would: PostgreSQL, Redis, a bucket with the inputs and the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import fsspec
import pytest

from rl_pipeline.defs.instance import config_folder, open_instance
from rl_pipeline.defs.runs import READ_LOG, REPORT
from rl_pipeline.tables.store import TableStore
from rl_pipeline_tests.helpers import redis_server as redis
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, Lab
from rl_pipeline_tests.helpers.ledger_of_runs import runs
from rl_pipeline_tests.helpers.object_store import KEY, object_store
from rl_pipeline_tests.helpers.postgres import PASSWORD, postgres_server
from rl_pipeline_tests.helpers.redis_server import redis_server, runs_of, worker
from rl_pipeline_tests.helpers.services import BIN, service, until

pytestmark = [pytest.mark.dagster, pytest.mark.postgres, pytest.mark.daemon, pytest.mark.workers]
SUCCESS, FAILURE = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE
JOBS = 4


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Lab, dict[str, str]]]:
    """Inputs in a bucket, and the variables that every machine of the cluster gets."""
    lab = Lab(tmp_path)
    for number in range(JOBS):
        lab.write_job("demo", 101 + number, end=TIME_LIMIT, hours=2.0 * number)
    lab.write_trials("demo", 3)
    with object_store() as s3, postgres_server() as history, redis_server(tmp_path) as broker:
        fsspec.filesystem("s3").put(str(lab.root), "lab/experiments", recursive=True)
        yield (
            lab,
            {
                **s3,
                "HOME": str(tmp_path),
                "RL_PIPELINE_POSTGRES_URL": history,
                "RL_PIPELINE_BROKER_URL": broker,
                "RL_PIPELINE_ROOTS": "s3://lab/experiments",
                "RL_PIPELINE_STORE": "s3://lab/store",
                "RL_PIPELINE_REPORTS": str(tmp_path / "reports"),
                "RL_PIPELINE_TICK_SECONDS": "1",
                "DAGSTER_HOME": str(home_with_short_patience(tmp_path / "config")),
            },
        )


def home_with_short_patience(folder: Path) -> Path:
    """The deployment's `dagster.yaml`, but for the times."""
    folder.mkdir()
    told = (config_folder() / "dagster.yaml").read_text()
    for name, seconds in (("start_timeout_seconds", 15), ("poll_interval_seconds", 2)):
        line = next(line for line in told.splitlines() if line.strip().startswith(name))
        told = told.replace(line, f"  {name}: {seconds}")
    (folder / "dagster.yaml").write_text(told)
    return folder


def test_runs_go_to_workers_and_what_is_missing_is_told(
    cluster: tuple[Lab, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lab, variables = cluster
    monkeypatch.setenv("RL_PIPELINE_BROKER_URL", variables["RL_PIPELINE_BROKER_URL"])
    settings = replace(lab.settings, postgres_url=variables["RL_PIPELINE_POSTGRES_URL"])
    command = [str(BIN / "dagster-daemon"), "run", "-w", str(config_folder() / "workspace.yaml")]
    daemon_home = {**variables, "RL_PIPELINE_HOME": str(tmp_path / "daemon")}
    first, second = tmp_path / "machine1", tmp_path / "machine2"

    with (
        open_instance(settings) as instance,
        service(command, daemon_home, folder=tmp_path, log=tmp_path / "daemon.log"),
    ):
        # Nobody takes runs: an error that says so, in the time that dagster.yaml gives.
        failed = until("a run fails for want of a worker", lambda: runs(instance, READ_LOG, FAILURE))[0]
        assert "No worker answers on the broker at redis://127.0.0.1:" in words_of(instance, failed.run_id)

        with worker(variables, first), worker(variables, second) as dying:
            until("both work", lambda: (runs_of(first) > 0 and runs_of(second) > 0) or None, patience=240)
            dying.kill()  # whatever it has in hand is started again elsewhere
            until("the report is made", lambda: runs(instance, REPORT, SUCCESS), patience=240)

        assert set(TableStore("s3://lab/store").list_jobs()) == {f"demo_{101 + number}" for number in range(JOBS)}
        assert (tmp_path / "reports" / "demo" / "report.html").is_file()
        told = "".join(words_of(instance, record.run_id) for record in runs(instance, READ_LOG, FAILURE))
    assert_no_secret(tmp_path, told)


def words_of(instance: dg.DagsterInstance, run_id: str) -> str:
    return "\n".join(entry.message or str(entry.dagster_event) for entry in instance.all_logs(run_id))


def assert_no_secret(folder: Path, told: str) -> None:
    """Passwords are in no message, no log of a process and no file that was made."""
    secrets = (redis.PASSWORD, PASSWORD, KEY)
    bucket = fsspec.filesystem("s3")
    stored = b"".join(bucket.cat(bucket.find("lab/store")).values())
    logs = b"".join(path.read_bytes() for path in folder.rglob("*.log") if path.is_file())
    for secret in secrets:
        assert secret not in told
        assert secret.encode() not in stored
        assert secret.encode() not in logs
