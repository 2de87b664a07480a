"""The two sets of partitions: one key per job log, one key per experiment.

Both are dynamic, and the keys are slugs of `discovery.keys`. They never map onto each other in
Dagster: mappings between dynamic sets do not survive the daemon, so an experiment's asset depends on
all jobs for lineage alone, and reads its own members from the store.
"""

from __future__ import annotations

import dagster as dg

JOBS = dg.DynamicPartitionsDefinition(name="rl_jobs")
EXPERIMENTS = dg.DynamicPartitionsDefinition(name="rl_experiments")
EXPERIMENT_TAG = "rl_pipeline/experiment"  # on every run, for the limit of `dagster.yaml`


def from_every_job(*assets: str) -> list[dg.AssetDep]:
    """Dependencies of an experiment's asset on job assets, for the picture of lineage."""
    return [dg.AssetDep(asset, partition_mapping=dg.AllPartitionMapping()) for asset in assets]
