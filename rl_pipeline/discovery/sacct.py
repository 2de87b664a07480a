"""States of jobs as SLURM's `sacct` prints them, or `squeue` asked for the same columns, where there is one.

    sacct -P -o JobID,State          JobID|State
                                     918273|TIMEOUT
                                     918273.batch|CANCELLED

The job's own row counts, never those of its steps (`.batch`, `.extern`, `.0`), whose states may differ.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# SLURM's job states ("JOB STATE CODES" in the manuals of sacct and squeue) in the words of the `jobs` table.
_STATES = {
    "COMPLETED": "completed",
    "TIMEOUT": "time_limit",
    "DEADLINE": "time_limit",
    "PREEMPTED": "preempted",
    "CANCELLED": "cancelled",
    "REVOKED": "cancelled",
    "NODE_FAIL": "node_failure",
    "BOOT_FAIL": "node_failure",
    "OUT_OF_MEMORY": "out_of_memory",
    "FAILED": "failed",
    "REQUEUED": "requeued",
    "REQUEUE_FED": "requeued",
    "REQUEUE_HOLD": "requeued",
    "SPECIAL_EXIT": "requeued",
    "PENDING": "running",
    "RUNNING": "running",
    "SUSPENDED": "running",
    "RESIZING": "running",
    "COMPLETING": "running",
    "CONFIGURING": "running",
    "SIGNALING": "running",
    "STAGE_OUT": "running",
    "STOPPED": "running",
}
_JOB_ID = re.compile(r"\d{1,12}(?:_\d{1,9})?")
_MOST_ROWS = 1_000_000


class SacctState(NamedTuple):
    """State of a job in the table's words, as printed, and by which command."""

    state: str
    printed: str
    command: str = "sacct"


def parse_sacct(text: str, *, command: str = "sacct") -> dict[str, SacctState]:
    """State by job id; unknown states, steps and rows without an id are left out.

    Columns are found by the header (`JobID`, `State`), separated by `|` or by blanks; without a header the
    first two columns are taken.
    """
    states: dict[str, SacctState] = {}
    id_column, state_column = 0, 1
    for line in text.split("\n")[:_MOST_ROWS]:
        cells = [cell.strip() for cell in line.split("|")] if "|" in line else line.split()
        names = [cell.lower() for cell in cells]
        if "jobid" in names and "state" in names:
            id_column, state_column = names.index("jobid"), names.index("state")
        elif len(cells) > max(id_column, state_column):
            job_id, printed = cells[id_column], cells[state_column]
            state = _state(printed)
            if state is not None and _JOB_ID.fullmatch(job_id):
                states[job_id] = SacctState(state, printed, command)
    return states


def _state(printed: str) -> str | None:
    """State of `TIMEOUT`, `CANCELLED by 1000` or, cut to the column's width, `OUT_OF_ME+`."""
    word = printed.partition(" ")[0]
    if len(word) > len("CANC+") and word.endswith("+"):
        word = next((name for name in _STATES if name.startswith(word[:-1])), "")
    return _STATES.get(word)
