"""Making jobs and experiments known: records in the index, partitions in the Dagster instance."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from rl_pipeline.defs.job_index import JobIndex, Registration
from rl_pipeline.defs.partitions import EXPERIMENTS, JOBS
from rl_pipeline.discovery import ExperimentOnDisk


def register(experiments: Sequence[ExperimentOnDisk], *, store_url: str, instance: dg.DagsterInstance) -> Registration:
    """Write the index, then add the partitions; both only add, so that doing it twice changes nothing.

    The index comes first: a partition that exists can be materialized.
    """
    registration = JobIndex(store_url).register(experiments)
    instance.add_dynamic_partitions(str(JOBS.name), list(registration.job_keys))
    instance.add_dynamic_partitions(str(EXPERIMENTS.name), list(registration.experiment_keys))
    return registration
