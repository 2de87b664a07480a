"""`rl-pipeline discover`: what lies under a folder, and what Dagster is told about it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import click

from rl_pipeline.addresses import address
from rl_pipeline.commands.named_experiment import only_named
from rl_pipeline.commands.progress import Progress
from rl_pipeline.discovery import (
    Discovery,
    ExperimentOnDisk,
    JobState,
    Look,
    discover,
    first_printed_time,
    job_state,
    parse_log_pattern,
    successor_starts,
)
from rl_pipeline.discovery.found import printable as shown_path
from rl_pipeline.settings import Settings


def run(root: Path, *, as_json: bool, register: bool, experiment: str | None) -> None:
    """List experiments and jobs with partition key, state and evidence; register them if asked.

    Raises:
        ConfigurationError: the folder does not exist.
        DataError: no job log below it.
    """
    settings = Settings.from_environment(os.environ)
    patterns = [parse_log_pattern(text) for text in settings.log_patterns]
    found = only_named(discover([root], patterns=patterns), experiment)
    states = {item.key: states_of(item, settings) for item in found.experiments}
    if as_json:
        click.echo(json_of(document(found, states)))
    else:
        click.echo("\n".join(lines(found, states)))
    if register:
        click.echo(registered(found, root, settings), err=as_json)


def states_of(experiment: ExperimentOnDisk, settings: Settings) -> dict[str, JobState]:
    """How each job of an experiment stands, by its key."""
    starts = {job.job_key: start for job in experiment.jobs if (start := first_printed_time(job.path))}
    return {
        job.job_key: job_state(
            job,
            Look(
                now=time.time(),
                quiet_period_s=settings.quiet_minutes * 60,
                successor_starts=successor_starts(job, experiment.jobs, starts),
            ),
        )
        for job in experiment.jobs
    }


def document(found: Discovery, states: dict[str, dict[str, JobState]]) -> dict[str, Any]:
    """The answer for programs."""
    return {
        "experiments": [
            {
                "experiment": item.experiment,
                "partition_key": item.key,
                "trial_roots": [address(path) for path in item.trial_roots],
                "jobs": [
                    {
                        "job": job.job,
                        "partition_key": job.job_key,
                        "path": address(job.path),
                        "size_bytes": job.size_bytes,
                        "state": states[item.key][job.job_key].state,
                        "finished": states[item.key][job.job_key].finished,
                        "decided_by": states[item.key][job.job_key].by,
                        "evidence": states[item.key][job.job_key].evidence,
                        "line": states[item.key][job.job_key].line,
                        "byte": states[item.key][job.job_key].byte,
                    }
                    for job in item.jobs
                ],
            }
            for item in found.experiments
        ],
        "problems": [{"path": address(item.path), "what": item.what, "do": item.do} for item in found.problems],
    }


def json_of(told: dict[str, Any]) -> str:
    """JSON in UTF-8; a byte of a path that is not UTF-8 stands there as JSON escapes it, and Python reads the path."""
    return json.dumps(told, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


def lines(found: Discovery, states: dict[str, dict[str, JobState]]) -> list[str]:
    """The answer for people: an experiment, its jobs, how each stands and why."""
    text = []
    for item in found.experiments:
        text += [f"{item.experiment}  (partition {item.key})"]
        for job in item.jobs:
            state = states[item.key][job.job_key]
            word = "finished" if state.finished else "not finished"
            text += [f"  {job.job_key}  {state.state}, {word}  {job.size_bytes / 1e6:,.1f} MB"]
            text += [f"      {printable(state.evidence)}"]
        text += [f"  trials: {shown_path(path)}" for path in item.trial_roots] or ["  no trial folder found"]
    text += [f"note: {problem}" for problem in found.problems]
    return text


def printable(evidence: str) -> str:
    """Evidence from a log as one line that cannot steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in evidence)[:160]


def registered(found: Discovery, root: Path, settings: Settings) -> str:
    """Add the partitions to the Dagster instance and say what was added."""
    from rl_pipeline.defs.index_assets import record_index
    from rl_pipeline.defs.instance import foreign_home, open_instance
    from rl_pipeline.defs.registration import notes, register, told

    progress = Progress()
    if warning := foreign_home(os.environ):
        progress.warn(f"note: {warning}")
    progress.say("registering with Dagster")
    with open_instance(settings) as instance:
        done = register(found.experiments, store_url=settings.store, instance=instance)
        record_index(instance, found, done, [str(root)])
    for note in notes(done):
        progress.warn(f"note: {note}")
    return told(done)
