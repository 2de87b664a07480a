"""Reading a job log: `parse_job` against the common way to read one, and against `grep` for the same byte strings.

    python bench/make_log.py /tmp/log200.out --megabytes 200
    python bench/logs.py /tmp/log200.out [/tmp/log2000.out] [--rounds 5]

The common way reads the file as text, takes colours off with a regular expression, splits lines, takes prefixes off
each, and searches each pattern over the whole: one pattern for each kind of line that `parse_job` reads. Each candidate
is a process of its own on one core; with two logs the time of the second is also given as a multiple of the first's.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Cost, measure, measure_command, rounds, table, timed

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PREFIX = re.compile(r"^(?:\d+: )?(?:\([^)]{1,200}\) )+")


def naive_patterns() -> list[re.Pattern[str]]:
    """One pattern for each kind of line that the dialects read, as one would write them; searched anywhere."""
    words = (
        r"Engine (\d+): Avg prompt throughput: ([\d.]+) tokens/s, Avg generation throughput: ([\d.]+) tokens/s, "
        r"Running: (\d+) reqs, Waiting: (\d+) reqs, GPU KV cache usage: ([\d.]+)%, Prefix cache hit rate: ([\d.]+)%",
        r"Avg prompt throughput: ([\d.]+) tokens/s, .* Swapped: (\d+) reqs",
        r"Trajectory TrajectoryID\(([^)]*)\) failed with .*\(type=(\w+), exclude_from_baseline=(\w+)\)",
        r"Trajectory TrajectoryID\(([^)]*)\): (\w+) classified as PASSTHROUGH",
        r"Starting batch generation for (\d+) trials(?: \(mode=(\w+)\))?",
        r"Batch generation complete: (\d+)/(\d+) successful, (\d+) failed instances(?:, (\d+) masked)?",
        r"Exception breakdown: (\{.*\})",
        r"Started: '([^']+)'",
        r"Finished: '([^']+)', time cost: ([\d.]+)s",
        r"Step (\d+): *$",
        r"^[{ ]'([\w/@-]+)': '?(-?[\d.]+(?:e[+-]?\d+)?)'?[,}]",
        r"WANDB_MIRROR kind=(\w+) step=(\d+) metrics=(\{.*\})",
        r"Step (\d+): effective_batch=(\d+)",
        r"vLLM Stats \(step (\d+)\): (.*)",
        r"No checkpoint found|Checkpoint resumption disabled",
        r"Resuming from global_step: (\d+)",
        r"checkpoint state from global_step_(\d+)",
        r"Resumed training from global_step (\d+)",
        r"Total (?:training )?steps: (\d+)",
        r"reward/avg_pass_at_(\d+): ([\d.]+)",
        r"Discarding stale group .* staleness (\d+)",
        r"Saving checkpoint at step (\d+)",
        r"Successfully saved checkpoint for global_step_(\d+)",
        r"Successfully saved model weights",
        r"Training done!|Reached max|Training already complete",
        r"Process still alive (\d+)",
        r"Traceback \(most recent call last\)",
        r"^([\w.]+(?:Error|Exception)): (.*)$",
        r"slurmstepd: error: (.*)",
        r"srun: (.*)",
        r"Train(?:ing| loop) failed at (?:global_)?step (\d+)",
        r"(ActorDiedError|WorkerCrashedError|NodeDiedError|OutOfMemoryError|ObjectStoreFullError)",
        r"CUDA (?:error: )?out of memory",
        r"(Killed|Segmentation fault|Terminated|Aborted)",
        r"(num_\w+|max_\w+|batch_size|learning_rate|epochs|tensor_parallel_size|samples_per_prompt)[:=] ?(\S+)",
        r"(hf_\w{20,}|sk-\w{20,}|ghp_\w{20,}|AKIA\w{16}|eyJ[\w.-]{20,})",
        r"(?:api_key|token|password|secret)['\"]?[:=] ?['\"]?(\S+)",
    )
    return [re.compile(pattern, re.MULTILINE) for pattern in words]


def naive(path: Path) -> list[list[Any]]:
    """Text, colours, lines, prefixes, patterns."""
    text = COLOURS.sub("", path.read_text(encoding="utf-8", errors="replace"))
    text = "\n".join(PREFIX.sub("", line) for line in text.split("\n"))
    return [pattern.findall(text) for pattern in naive_patterns()]


def ours(path: Path) -> Callable[[], None]:
    """`parse_job`, its tables counted; what it imports is in place."""
    import pandas  # noqa: F401, PLC0415 - pyarrow imports it for the first array

    from rl_pipeline.discovery import discover  # noqa: PLC0415 - not in the other candidates' processes
    from rl_pipeline.pipeline import parse_job  # noqa: PLC0415

    log = discover([path]).only().jobs[0]
    return lambda: print(parse_job(log).tables.rows(), file=sys.stderr)


def candidates_of(path: Path, needles: Path) -> dict[str, Any]:
    """What is compared on one log."""
    grep = ["grep", "-c", "-a", "-F", "-f", str(needles), str(path)]

    def grepped() -> Cost:
        return measure_command(grep)

    return {
        f"naive, {path.name}": lambda: measure([__file__, str(path), "--work", "naive"]),
        f"grep, {path.name}": grepped,
        f"parse_job, {path.name}": lambda: measure([__file__, str(path), "--work", "ours"]),
    }


def write_needles(target: Path) -> None:
    """The byte strings that the scan looks for, a line each."""
    from rl_pipeline.dialects import NEEDLES  # noqa: PLC0415

    target.write_bytes(b"\n".join(NEEDLES) + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-naive", action="store_true", help="for logs that it has no memory for")
    parser.add_argument("--work", choices=("naive", "ours"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        path = asked.logs[0]
        timed(ours(path) if asked.work == "ours" else lambda: naive(path))
        return
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        needles = Path(folder) / "needles"
        write_needles(needles)
        for path in asked.logs:
            candidates = candidates_of(path, needles)
            if asked.without_naive:
                del candidates[f"naive, {path.name}"]
            costs = rounds(asked.rounds, candidates)
            print(table(costs, next(iter(candidates))), flush=True)
            seconds = statistics.median(cost.cpu_s for cost in costs[f"parse_job, {path.name}"])
            print(f"{path.stat().st_size / 1e6 / seconds:.0f} MB/s of CPU time\n", flush=True)


if __name__ == "__main__":
    main()
