"""The two sets of partitions, and what stands before all of them: the files that clusters write.

Both sets are dynamic, and the keys are slugs of `discovery.keys`. They never map onto each other in
Dagster: mappings between dynamic sets do not survive the daemon, so an experiment's asset depends on
all jobs for lineage alone, and reads its own members from the store.
"""

from __future__ import annotations

import dagster as dg

JOBS = dg.DynamicPartitionsDefinition(name="rl_jobs")
EXPERIMENTS = dg.DynamicPartitionsDefinition(name="rl_experiments")
EXPERIMENT_TAG = "rl_pipeline/experiment"  # on every run, for the limit of `dagster.yaml`

INPUTS_GROUP, JOBS_GROUP, EXPERIMENTS_GROUP = "inputs", "jobs", "experiments"

LOG_FILES = dg.AssetSpec(
    "job_log_files",
    group_name=INPUTS_GROUP,
    kinds={"file"},
    description="The logs that jobs write, wherever the cluster keeps them. Found by `job_index` and the sensors.",
)
TRIAL_FOLDERS = dg.AssetSpec(
    "trial_folders",
    group_name=INPUTS_GROUP,
    kinds={"json"},
    description="One folder per Harbor trial with its `result.json`, below `trace_jobs` of a training run.",
)


def from_every_job(*assets: str) -> list[dg.AssetDep]:
    """Dependencies on all partitions of some assets, for the picture of lineage."""
    return [dg.AssetDep(asset, partition_mapping=dg.AllPartitionMapping()) for asset in assets]
