"""A small laboratory on disk: a folder of experiments with logs and trials, and a home of its own.

lab = Lab(tmp_path)
lab.write_job("demo", 101, steps=(1, 2, 3))
with lab.instance() as instance:
    lab.register(instance)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from rl_pipeline.defs.factory import build_resources
from rl_pipeline.defs.registration import register
from rl_pipeline.discovery import Discovery, discover
from rl_pipeline.settings import Settings
from rl_pipeline.tables.store import TableStore
from rl_pipeline_tests.helpers.log_writer import START, LogWriter, engine_actors

DONE, TIME_LIMIT, NO_END = "done", "time limit", "no end"
STEP_SECONDS = {"generate": 300.0, "run_training": 60.0}


@dataclass(frozen=True)
class Lab:
    """Folders of one test."""

    folder: Path

    @property
    def root(self) -> Path:
        """The experiments folder."""
        return self.folder / "experiments"

    @property
    def settings(self) -> Settings:
        """Settings that keep everything below the test's folder."""
        settings = Settings.from_environment({"RL_PIPELINE_HOME": str(self.folder / "home")})
        return replace(settings, roots=(str(self.root),), tick_seconds=1)

    def environment(self) -> dict[str, str]:
        """The same settings as variables, for processes."""
        return {
            "RL_PIPELINE_HOME": str(self.settings.home),
            "RL_PIPELINE_ROOTS": str(self.root),
            "RL_PIPELINE_TICK_SECONDS": "1",
        }

    def log_path(self, experiment: str, job_id: int) -> Path:
        """Where the log of a job lies."""
        return self.root / experiment / "logs" / f"{experiment}_{job_id}.out"

    def write_job(
        self, experiment: str, job_id: int, *, steps: Sequence[int] = (1, 2), end: str = DONE, hours: float = 0.0
    ) -> Path:
        """Write the whole log of a job that began `hours` after the first one."""
        path = self.log_path(experiment, job_id)
        return job_writer(job_id, steps=steps, end=end, hours=hours).write(path)

    def write_trials(self, experiment: str, count: int, *, hours: float = 0.0) -> None:
        """Write trials that ran one after another, every third one solved."""
        folder = self.root / experiment / "run1" / "trace_jobs"
        for number in range(count):
            trial = folder / f"task-{number % 4}__{number:04d}"
            trial.mkdir(parents=True, exist_ok=True)
            start = START + timedelta(hours=hours, seconds=20 * number)
            (trial / "result.json").write_text(json.dumps(trial_document(trial.name, start, solved=number % 3 == 0)))

    def discovered(self) -> Discovery:
        """What lies in the experiments folder."""
        return discover([self.root])

    def register(self, instance: dg.DagsterInstance) -> None:
        """Make everything on disk known."""
        register(self.discovered().experiments, store_url=self.settings.store, instance=instance)

    def resources(self) -> dict[str, Any]:
        """The resources of the deployment."""
        return build_resources(self.settings)

    def store(self) -> TableStore:
        """The tables of the deployment."""
        return TableStore(self.settings.store)

    @contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        """An instance on disk, where everything that lies in the experiments folder is registered."""
        with dg.instance_for_test() as instance:
            if self.root.is_dir():
                self.register(instance)
            yield instance


def job_writer(job_id: int, *, steps: Sequence[int] = (1, 2), end: str = DONE, hours: float = 0.0) -> LogWriter:
    """The lines of a job: a start or resume, steps with batches and engine lines, and its end."""
    engine = engine_actors(1)[0]
    log = LogWriter(start=START + timedelta(hours=hours), engines=(engine,), seed=job_id)
    log = log.fresh_start() if steps and steps[0] == 1 else log.resume(steps[0] - 1 if steps else 0)
    for step in steps:
        log.batch(7, failed_groups=1, exceptions={"AgentTimeoutError": 1})
        log.engine(engine, prompt=900.0, generation=450.0, running=12, waiting=1, kv_percent=40.0)
        log.step(step, {"reward/avg_raw_reward": 0.1 + 0.01 * step, "policy/final_loss": -0.02}, seconds=STEP_SECONDS)
    if end == DONE:
        return log.training_done()
    return log.time_limit(str(job_id)) if end == TIME_LIMIT else log


def trial_document(name: str, start: datetime, *, solved: bool) -> dict[str, object]:
    """A Harbor `result.json`, the parts that count."""
    end = start + timedelta(seconds=15)
    return {
        "trial_name": name,
        "task_name": name.split("__", maxsplit=1)[0],
        "started_at": f"{start.isoformat()}Z",
        "finished_at": f"{end.isoformat()}Z",
        "agent_info": {"name": "terminus-2"},
        "agent_result": {"n_input_tokens": 900, "n_output_tokens": 120, "metadata": {"n_episodes": 4}},
        "verifier_result": {"rewards": {"reward": 1.0 if solved else 0.0}},
        "exception_info": None,
    }
