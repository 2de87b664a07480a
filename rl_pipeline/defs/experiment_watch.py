"""Which experiments are due: all their finished jobs are made, and their report is of other content.

Several jobs that finish together give one report: an experiment is asked for when nothing of it is
waiting and its wanted version is the one that the look before wanted too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rl_pipeline.defs.job_index import JobIndex
from rl_pipeline.defs.log_version import LogVersion
from rl_pipeline.defs.memory import Standing
from rl_pipeline.defs.versions import experiment_version
from rl_pipeline.discovery import ExperimentOnDisk


@dataclass(frozen=True, slots=True)
class Due:
    """An experiment and the version that its assets should have."""

    key: str
    version: str

    @property
    def run_key(self) -> str:
        """Names the run by the content that it reports on."""
        return f"{self.key}:{self.version}"


def due_experiments(
    experiments: Sequence[ExperimentOnDisk],
    *,
    standing: Standing,
    complete: Mapping[str, LogVersion],
    recorded: Mapping[str, str],
    index: JobIndex,
) -> list[Due]:
    """The experiments whose report is not of the wanted version.

    The members on disk are compared first, since that costs nothing; where they differ from what was
    recorded, the members in the index decide, which also know jobs whose log is gone.

    Args:
        experiments: what lies on disk.
        standing: what is waiting.
        complete: versions of jobs that are made, by job key.
        recorded: versions of reports, by experiment key.
        index: knows all members.
    """
    due = []
    for experiment in experiments:
        version = _wanted([job.job_key for job in experiment.jobs], complete)
        if version is None or version == recorded.get(experiment.key) or standing.waiting.get(experiment.key):
            continue
        registered = index.find_experiment(experiment.key)
        members = _wanted([job.job_key for job in registered.jobs], complete) if registered else None
        if members is not None and members != recorded.get(experiment.key):
            due.append(Due(experiment.key, members))
    return due


def _wanted(job_keys: Sequence[str], complete: Mapping[str, LogVersion]) -> str | None:
    """The version of an experiment with these jobs; None while none of them has finished."""
    finished = {key: complete[key] for key in job_keys if key in complete and complete[key].is_final}
    return experiment_version(finished) if finished else None


def steady(due: Sequence[Due], wanted_before: Mapping[str, str]) -> list[Due]:
    """Those that were due with the same version at the look before."""
    return [item for item in due if wanted_before.get(item.key) == item.version]
