"""Runs a measurement in a process of its own: seconds, CPU seconds, and the memory of it and its children.

Machines are shared, so what is compared is interleaved: one round runs every candidate once, and ratios are taken
within a round. CPU seconds count the children that ended.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LOOK_EVERY_S, LOOK_CLOSELY_EVERY = 0.05, 5
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 2**20


class Cost(NamedTuple):
    """What one run cost."""

    wall_s: float
    cpu_s: float
    peak_mib: float  # resident, of all processes together at one moment; pages they share count several times
    once_mib: float = 0.0  # the same with every page counted once, in a quarter of the looks
    largest_mib: float = 0.0  # resident, of the largest process


def timed(work: Callable[[], object]) -> None:
    """Do the work in this process and print what it cost, for `measure` to read."""
    began, cpu = time.perf_counter(), _cpu_s()
    work()
    print(json.dumps({"wall_s": time.perf_counter() - began, "cpu_s": _cpu_s() - cpu}), flush=True)


def _cpu_s() -> float:
    return sum(os.times()[:4])


def measure(arguments: Sequence[str]) -> Cost:
    """Run a Python program that ends with `timed`; only what it timed counts."""
    out, cost = _run([sys.executable, *arguments])
    told = json.loads(out.splitlines()[-1])
    return cost._replace(wall_s=told["wall_s"], cpu_s=told["cpu_s"])


def measure_command(command: Sequence[str]) -> Cost:
    """Run a command; everything counts, its start and its children included."""
    return _run(command)[1]


def _run(command: Sequence[str]) -> tuple[str, Cost]:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak, once, largest, looks = 0, 0, 0, 0
    ended, status, usage = 0, 0, None
    while not ended:
        sizes = resident_bytes(process.pid)
        peak, largest, looks = max(peak, sum(sizes)), max(largest, *sizes), looks + 1
        if looks % LOOK_CLOSELY_EVERY == 1:
            once = max(once, sum(own_share_bytes(pid) for pid in tree(process.pid)))
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        time.sleep(0 if ended else LOOK_EVERY_S)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    out = process.stdout.read() if process.stdout else ""
    if process.returncode or usage is None:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return out, Cost(wall, usage.ru_utime + usage.ru_stime, peak / MIB, once / MIB, largest / MIB)


def tree(pid: int) -> list[int]:
    """A process and all below it, whichever of its threads started them."""
    try:
        threads = [thread.name for thread in Path(f"/proc/{pid}/task").iterdir()]
        children = [child for thread in threads for child in _children(pid, thread)]
    except OSError:
        return []
    return [pid, *(below for child in children for below in tree(int(child)))]


def _children(pid: int, thread: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii").split()
    except OSError:  # the thread ended meanwhile
        return []


def resident_bytes(pid: int) -> list[int]:
    """Resident memory of a process and of each below it."""
    return [_resident(one) for one in tree(pid)] or [0]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0


def own_share_bytes(pid: int) -> int:
    """Resident memory of one process in which a page shared by n counts an nth (the kernel's PSS)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def rounds(count: int, candidates: Mapping[str, Callable[[], Cost]]) -> dict[str, list[Cost]]:
    """Every candidate once a round."""
    costs: dict[str, list[Cost]] = {name: [] for name in candidates}
    for number in range(count):
        for name, run in candidates.items():
            costs[name].append(run())
            print(f"  round {number + 1}/{count} {name}: {costs[name][-1].wall_s:.2f} s", file=sys.stderr, flush=True)
    return costs


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def table(costs: Mapping[str, Sequence[Cost]], baseline: str) -> str:
    """Medians of each candidate, and the median of the ratios to the baseline of the same round."""
    names = ("wall s", "CPU s", "MiB, sum", "MiB, pages once", "MiB, largest", "× wall", "× CPU")
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name, runs in costs.items():
        pairs = list(zip(costs[baseline], runs, strict=True))
        cells = [
            f"{median(run.wall_s for run in runs):.2f}",
            f"{median(run.cpu_s for run in runs):.2f}",
            *(f"{max(sizes):.0f}" for sizes in zip(*(run[2:] for run in runs), strict=True)),
            f"{median(base.wall_s / run.wall_s for base, run in pairs):.1f}",
            f"{median(base.cpu_s / run.cpu_s for base, run in pairs):.1f}",
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
