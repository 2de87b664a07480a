"""A hundred job logs over one worker and over two: both walls in one run, and their ratio.

    python bench/workers.py [--jobs 100] [--megabytes 2]

Starts a PostgreSQL and a Redis server and workers with one slot each (`rl-pipeline worker`), as on machines of their
own; writes small logs; hands all runs to the broker and waits until the last is done. Needs the programs postgres and
redis-server. On one machine two workers share its cores, its disk and the servers, so two cores give less than 2.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.launcher import LaunchRunContext

from rl_pipeline.defs.instance import open_instance
from rl_pipeline.defs.registration import register
from rl_pipeline.defs.runs import READ_LOG
from rl_pipeline.defs.workers import launcher_of
from rl_pipeline.discovery import discover
from rl_pipeline.settings import Settings
from rl_pipeline_tests.helpers.lab import TIME_LIMIT, job_writer
from rl_pipeline_tests.helpers.postgres import postgres_server
from rl_pipeline_tests.helpers.redis_server import redis_server, worker

FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
LOOK_SECONDS = 0.2


def write_logs(root: Path, jobs: int, megabytes: float) -> None:
    """Logs of one experiment each, so that nothing is shared but the machine."""
    for number in range(jobs):
        name = f"bench{number:03d}"
        path = root / name / "logs" / f"{name}_{1000 + number}.out"
        job_writer(1000 + number, steps=range(1, 21), end=TIME_LIMIT).write(path)
        filler = b"(AgentLoopWorker pid=123, ip=10.0.0.1) nothing that anybody asked for is said in this line\n"
        with path.open("ab") as file:
            file.write(filler * int(megabytes * 1e6 / len(filler)))


def hand_out(instance: dg.DagsterInstance, settings: Settings, keys: list[str]) -> list[str]:
    """Hand one run for each key to the broker; gives their ids."""
    launcher = launcher_of(settings, None)
    launcher.register_instance(instance)
    repository = ReconstructableRepository.for_module("rl_pipeline.definitions", "defs", str(Path.cwd()))
    job = repository.get_reconstructable_job(READ_LOG)
    ids = []
    for key in keys:
        run = instance.create_run_for_job(
            job.get_definition(), job_code_origin=job.get_python_origin(), tags={"dagster/partition": key}
        )
        launcher.launch_run(LaunchRunContext(dagster_run=run, workspace=None))
        ids.append(run.run_id)
    return ids


def wall_of(instance: dg.DagsterInstance, settings: Settings, keys: list[str]) -> float:
    """Seconds from the first run handed out to the last one done.

    Raises:
        RuntimeError: a run did not succeed.
    """
    began = time.perf_counter()
    ids = hand_out(instance, settings, keys)
    while len(instance.get_runs(dg.RunsFilter(run_ids=ids, statuses=FINISHED))) < len(ids):
        time.sleep(LOOK_SECONDS)
    wall = time.perf_counter() - began
    states = Counter(run.status.value for run in instance.get_runs(dg.RunsFilter(run_ids=ids)))
    if set(states) != {"SUCCESS"}:
        raise RuntimeError(f"not all runs succeeded: {dict(states)}")
    return wall


def measure(folder: Path, jobs: int, megabytes: float) -> tuple[float, float]:
    """The walls over one worker and over two."""
    root = folder / "experiments"
    write_logs(root, jobs, megabytes)
    with ExitStack() as stack:
        variables = {
            "RL_PIPELINE_HOME": str(folder / "home"),
            "RL_PIPELINE_ROOTS": str(root),
            "RL_PIPELINE_STORE": str(folder / "store"),
            "RL_PIPELINE_POSTGRES_URL": stack.enter_context(postgres_server()),
            "RL_PIPELINE_BROKER_URL": stack.enter_context(redis_server(folder)),
            "RL_PIPELINE_WORKER_PATIENCE_SECONDS": "86400",
        }
        os.environ.update(variables)
        settings = replace(Settings.from_environment(variables))
        instance = stack.enter_context(open_instance(settings))
        found = discover([root]).experiments
        register(found, store_url=settings.store, instance=instance)
        keys = [job.job_key for experiment in found for job in experiment.jobs]
        walls = []
        for number in (1, 2):
            stack.enter_context(worker(variables, folder / f"worker{number}"))
            wall_of(instance, settings, keys[: 2 * number])  # their first run imports everything
            walls.append(wall_of(instance, settings, keys))
            print(f"{number} worker(s): {jobs} jobs in {walls[-1]:.1f} s", file=sys.stderr)
    return walls[0], walls[1]


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--megabytes", type=float, default=2.0, help="size of each log")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rl_workers_") as folder:
        one, two = measure(Path(folder), options.jobs, options.megabytes)
    print(
        f"| jobs | cores | 1 worker | 2 workers | ratio |\n|---|---|---|---|---|\n"
        f"| {options.jobs} | {os.cpu_count()} | {one:.1f} s | {two:.1f} s | {one / two:.2f} |"
    )


if __name__ == "__main__":
    main()
