"""Whether the process of an id still runs: ids are used again, and a killed process stays as a zombie for a while."""

from __future__ import annotations

import os
from pathlib import Path

CLOCK_SLACK_SECONDS = 5.0


def is_alive(pid: int, named_at: float) -> bool:
    """Whether the process that had this id at that time still runs.

    Process ids are used again, so a process that began later is another one; a zombie is dead.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    began = _began_at(pid)
    return began is None or began <= named_at + CLOCK_SLACK_SECONDS


def _began_at(pid: int) -> float | None:
    """When a process began, in seconds since 1970; infinity for a zombie; None where `/proc` cannot tell."""
    try:
        # The name in parentheses may hold blanks; the state is the first field behind it.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot = next(line for line in Path("/proc/stat").read_text(encoding="utf-8").splitlines() if line[:5] == "btime")
        if fields[0] == "Z":
            return float("inf")
        return int(boot.split()[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None
