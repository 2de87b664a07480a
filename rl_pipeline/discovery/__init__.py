"""Experiments and jobs on disk: what is there, has a job finished, and by what evidence.

Only names, file facts and the ends of files are read here; what a log says is for `reader` and
`dialects`.
"""

from rl_pipeline.discovery.checkpoints import CheckpointOnDisk, checkpoint_steps, find_checkpoints
from rl_pipeline.discovery.discover import discover
from rl_pipeline.discovery.file_names import LogPattern, parse_log_pattern
from rl_pipeline.discovery.found import Discovery, ExperimentOnDisk, JobLog, Problem
from rl_pipeline.discovery.grouping import group
from rl_pipeline.discovery.inventory import Changes, Inventory, changes, scan
from rl_pipeline.discovery.job_state import JobState, Look, first_printed_time, job_state, successor_starts
from rl_pipeline.discovery.keys import is_partition_key, job_key, partition_key
from rl_pipeline.discovery.sacct import SacctState, parse_sacct
from rl_pipeline.discovery.trial_roots import find_trial_roots

__all__ = [
    "Changes",
    "CheckpointOnDisk",
    "Discovery",
    "ExperimentOnDisk",
    "Inventory",
    "JobLog",
    "JobState",
    "LogPattern",
    "Look",
    "Problem",
    "SacctState",
    "changes",
    "checkpoint_steps",
    "discover",
    "find_checkpoints",
    "find_trial_roots",
    "first_printed_time",
    "group",
    "is_partition_key",
    "job_key",
    "job_state",
    "parse_log_pattern",
    "parse_sacct",
    "partition_key",
    "scan",
    "successor_starts",
]
