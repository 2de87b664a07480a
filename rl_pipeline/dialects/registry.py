"""All dialects, in the order in which they are asked, and what follows from the list.

A new format is a new module with the five parts of `contract` and a line in `DIALECTS`; the contract test then
tries its samples without more being written.
"""

from __future__ import annotations

import re
from typing import cast

from rl_pipeline.dialects import (
    configuration,
    credentials,
    effective_batch,
    failures,
    job_course,
    job_parser,
    rollout_batches,
    slurm_tail,
    step_block,
    timers,
    tracebacks,
    trajectory_failures,
    vllm_stats,
    vllm_stats_v0,
    vllm_summary,
    wandb_mirror,
)
from rl_pipeline.dialects.contract import Dialect

__all__ = ["BLOCK_HEAD", "DIALECTS", "NEEDLES", "TRACEBACK_HEAD", "JobParser"]

# In the order in which they are asked: frequent messages first, loose patterns last.
DIALECTS: tuple[Dialect, ...] = tuple(
    cast(Dialect, module)
    for module in (
        vllm_stats,
        vllm_stats_v0,
        trajectory_failures,
        rollout_batches,
        timers,
        step_block,
        wandb_mirror,
        effective_batch,
        vllm_summary,
        job_course,
        tracebacks,
        slurm_tail,
        failures,
        configuration,
        credentials,
    )
)

# What the reader looks for: bytes of which every message of a dialect holds at least one.
NEEDLES: tuple[bytes, ...] = tuple(dict.fromkeys(needle for dialect in DIALECTS for needle in dialect.NEEDLES))
BLOCK_HEAD: re.Pattern[str] = step_block.BLOCK_HEAD
TRACEBACK_HEAD: re.Pattern[str] = tracebacks.TRACEBACK_HEAD


class JobParser(job_parser.JobParser):
    """All dialects on the messages of one job: `parse` each message in file order, then `close`."""

    def __init__(self, job: str) -> None:
        """A parser for the job of that short name, e.g. `job_567548`."""
        super().__init__(job, DIALECTS)
