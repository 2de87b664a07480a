"""What SLURM says about jobs, where it can be asked; never required, and never waited for long.

Both commands are asked for exactly the jobs that were seen to be unfinished, in one call each: `sacct`,
which remembers, and `squeue` about what `sacct` does not know, since not every cluster keeps accounts.
Where a command is missing, fails or takes too long, the answer is "nothing known" and the logs decide.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from rl_pipeline.discovery import SacctState, parse_sacct

TIMEOUT_SECONDS = 10.0
MOST_JOBS = 500  # ids in one call
SACCT = ("-P", "-n", "-X", "-o", "JobID,State", "-j")
SQUEUE = ("-h", "-t", "all", "-o", "%i|%T", "-j")


def ask_slurm(job_ids: Sequence[str], *, sacct: str = "sacct", squeue: str = "squeue") -> Mapping[str, SacctState]:
    """States by job id of those that `sacct` or `squeue` knows."""
    ids = [job_id for job_id in job_ids if job_id.replace("_", "").isdecimal()][:MOST_JOBS]
    states = _answer("sacct", [sacct, *SACCT], ids)
    return states | _answer("squeue", [squeue, *SQUEUE], [job_id for job_id in ids if job_id not in states])


def _answer(name: str, command: Sequence[str], ids: Sequence[str]) -> dict[str, SacctState]:
    if not ids:
        return {}
    try:
        done = subprocess.run([*command, ",".join(ids)], capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_sacct(done.stdout.decode("utf-8", "replace"), command=name) if done.returncode == 0 else {}


def ask_nobody(_job_ids: Sequence[str]) -> Mapping[str, SacctState]:
    """The answer where no scheduler is asked."""
    return {}
