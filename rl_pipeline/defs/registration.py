"""Making jobs and experiments known: records in the index, partitions in the Dagster instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from rl_pipeline.defs.job_index import JobIndex, registered
from rl_pipeline.defs.partitions import EXPERIMENTS, JOBS
from rl_pipeline.discovery import ExperimentOnDisk


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """An experiment that was registered from another folder before, where its logs still lie.

    `replaced`: logs that are read no more, since a job of the same id was found here; `joined`: logs of
    other jobs, which stay members.
    """

    experiment: str
    here: str
    replaced: tuple[str, ...]
    joined: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """What was made known: all keys, those that Dagster did not have before, and what lies elsewhere too."""

    job_keys: tuple[str, ...]
    experiment_keys: tuple[str, ...]
    new_jobs: tuple[str, ...]
    new_experiments: tuple[str, ...]
    elsewhere: tuple[Elsewhere, ...]


def register(experiments: Sequence[ExperimentOnDisk], *, store_url: str, instance: dg.DagsterInstance) -> Registered:
    """Write the index, then add the partitions; both only add, so that doing it twice changes nothing.

    The index comes first: a partition that exists can be materialized.
    """
    index = JobIndex(store_url)
    elsewhere = tuple(place for found in experiments for place in _elsewhere(index, found))
    registration = index.register(experiments)
    return Registered(
        job_keys=registration.job_keys,
        experiment_keys=registration.experiment_keys,
        new_jobs=_added(instance, JOBS, registration.job_keys),
        new_experiments=_added(instance, EXPERIMENTS, registration.experiment_keys),
        elsewhere=elsewhere,
    )


def _elsewhere(index: JobIndex, found: ExperimentOnDisk) -> Iterator[Elsewhere]:
    """What was registered from other folders and still lies there; a folder that was moved is no other place."""
    here = {job.job_key: Path(registered(job).path) for job in found.jobs}
    folders = {path.parent for path in here.values()}
    known = index.find_experiment(found.key)
    jobs = [job for job in known.jobs if Path(job.path).parent not in folders] if known else []
    jobs = [job for job in jobs if Path(job.path).is_file()]
    if jobs:
        yield Elsewhere(
            experiment=found.experiment,
            here=str(min(folders)),
            replaced=tuple(job.path for job in jobs if job.job_key in here),
            joined=tuple(job.path for job in jobs if job.job_key not in here),
        )


def _added(
    instance: dg.DagsterInstance, partitions: dg.DynamicPartitionsDefinition, keys: Sequence[str]
) -> tuple[str, ...]:
    """Add partitions; gives those that were not there."""
    known = set(instance.get_dynamic_partitions(str(partitions.name)))
    new = tuple(key for key in keys if key not in known)
    instance.add_dynamic_partitions(str(partitions.name), list(new))
    return new


def told(done: Registered) -> str:
    """How many partitions were added, and how many were known."""
    parts = [
        f"{len(keys)} {kind} partition{'' if len(keys) == 1 else 's'} ({len(new)} new, {len(keys) - len(new)} known)"
        for kind, keys, new in (
            ("job", done.job_keys, done.new_jobs),
            ("experiment", done.experiment_keys, done.new_experiments),
        )
    ]
    return "registered: " + ", ".join(parts)


def notes(done: Registered) -> list[str]:
    """What a person should know about experiments that lie in two places: which logs count."""
    return [_note(item) for item in done.elsewhere]


def _note(item: Elsewhere) -> str:
    words = [f"experiment {item.experiment} was registered from another folder before, and is one experiment for both:"]
    if item.replaced:
        first = Path(item.replaced[0])
        words.append(f"  jobs read from {item.here} from now on, and no more from {first.parent}: {len(item.replaced)}")
    if item.joined:
        first = Path(item.joined[0])
        words.append(f"  jobs that stay members beside those in {item.here}, from {first.parent}: {len(item.joined)}")
    words.append("  do: nothing if they are parts or copies of one run; rename one of the folders if they are two runs")
    return "\n".join(words)
