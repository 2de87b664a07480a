"""What SLURM says about jobs, where it can be asked; never required, and never waited for long.

`sacct` is asked for exactly the jobs that were seen to be unfinished, in one call. Where the command is
missing, fails or takes too long, the answer is "nothing known" and the logs decide alone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from rl_pipeline.discovery import SacctState, parse_sacct

TIMEOUT_SECONDS = 10.0
MOST_JOBS = 500  # ids in one call


def ask_sacct(job_ids: Sequence[str], *, command: str = "sacct") -> Mapping[str, SacctState]:
    """States by job id of those that `sacct` knows."""
    ids = [job_id for job_id in job_ids if job_id.replace("_", "").isdecimal()][:MOST_JOBS]
    if not ids:
        return {}
    arguments = [command, "-P", "-n", "-X", "-o", "JobID,State", "-j", ",".join(ids)]
    try:
        answer = subprocess.run(arguments, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_sacct(answer.stdout.decode("utf-8", "replace")) if answer.returncode == 0 else {}


def ask_nobody(_job_ids: Sequence[str]) -> Mapping[str, SacctState]:
    """The answer where no scheduler is asked."""
    return {}
