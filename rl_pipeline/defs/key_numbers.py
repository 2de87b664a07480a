"""The numbers of a job's tables that Dagster plots over partitions, and the series it charts.

Plain counts, sums, means and maxima, to see at a glance that a partition is like its neighbours; the
statistics of the report are made in `analysis` and are not these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rl_pipeline.schema import OUTCOMES, TRAIN

REWARD = "reward/avg_raw_reward"

Numbers = Mapping[str, float | None]


class Series(NamedTuple):
    """Values to draw in order, and what they are."""

    title: str
    values: list[float | None]


def _number(value: pa.Scalar) -> float | None:
    return value.as_py()  # type: ignore[no-any-return]


def rewards_by_step(step_metrics: pa.Table) -> Series:
    """Mean raw reward of each training block, in file order."""
    is_reward = pc.and_(pc.equal(step_metrics["metric"], REWARD), pc.equal(step_metrics["kind"], TRAIN))
    return Series(REWARD, step_metrics.filter(is_reward).sort_by("line")["value"].to_pylist())


def step_metric_numbers(table: pa.Table) -> Numbers:
    """Steps seen and the mean reward."""
    rewards = [value for value in rewards_by_step(table).values if value is not None]
    return {
        "first_step": _number(pc.min(table["global_step"])),
        "last_step": _number(pc.max(table["global_step"])),
        "metric_names": _number(pc.count_distinct(table["metric"])),
        "mean_reward": sum(rewards) / len(rewards) if rewards else None,
    }


def rollout_batch_numbers(table: pa.Table) -> Numbers:
    """Trials that the batches counted; folded lines count as often as they were printed."""
    successful = pc.sum(pc.multiply(table["successful"], table["repeat_count"])).as_py() or 0
    total = pc.sum(pc.multiply(table["total"], table["repeat_count"])).as_py() or 0
    return {
        "trials_successful": int(successful),
        "trials_total": int(total),
        "failed_share": 1 - successful / total if total else None,
    }


def vllm_numbers(table: pa.Table) -> Numbers:
    """Means over the statistics lines (tokens/s, requests) and the fullest KV cache (fraction)."""
    return {
        "mean_generation_throughput": _number(pc.mean(table["generation_throughput"])),
        "mean_running": _number(pc.mean(table["running"])),
        "mean_waiting": _number(pc.mean(table["waiting"])),
        "max_kv_cache_usage": _number(pc.max(table["kv_cache_usage"])),
    }


def phase_numbers(table: pa.Table) -> Numbers:
    """Timers that ended, timers that did not, and seconds in the outermost one."""
    steps = table.filter(pc.equal(table["name"], "step"))
    return {
        "finished_timers": int(pc.sum(table["finished"]).as_py() or 0),
        "unfinished_timers": int(pc.sum(pc.invert(table["finished"])).as_py() or 0),
        "mean_step_seconds": _number(pc.mean(steps["seconds"])),
    }


def event_numbers(table: pa.Table) -> Numbers:
    """Checkpoints saved and failure lines."""
    kinds = table["kind"].to_pylist()
    return {"checkpoints_saved": kinds.count("checkpoint_saved"), "failure_lines": kinds.count("failure")}


def outcome_counts(table: pa.Table) -> dict[str, int]:
    """Trials by outcome."""
    outcomes = table["outcome"].to_pylist()
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES}


def trial_numbers(table: pa.Table) -> Numbers:
    """Outcomes, mean reward of scored trials, mean turns."""
    return {
        **outcome_counts(table),
        "with_exception": table.num_rows - table["exception_type"].null_count,
        "mean_reward_scored": _number(pc.mean(table["reward"])),
        "mean_turns": _number(pc.mean(table["n_turns"])),
    }


NUMBERS: Mapping[str, Callable[[pa.Table], Numbers]] = {
    "step_metrics": step_metric_numbers,
    "rollout_batches": rollout_batch_numbers,
    "vllm_stats": vllm_numbers,
    "phase_timings": phase_numbers,
    "job_events": event_numbers,
    "trials": trial_numbers,
}


def generation_throughput(table: pa.Table) -> Series:
    """Generation throughput line by line, in tokens/s."""
    return Series("generation throughput (tokens/s)", table["generation_throughput"].to_pylist())


def failed_by_batch(table: pa.Table) -> Series:
    """Trials that failed, batch by batch."""
    return Series("failed trials by batch", pc.subtract(table["total"], table["successful"]).to_pylist())


def step_seconds(table: pa.Table) -> Series:
    """Seconds of the `step` timer, in file order."""
    return Series("seconds per step", table.filter(pc.equal(table["name"], "step"))["seconds"].to_pylist())


SERIES: Mapping[str, Callable[[pa.Table], Series]] = {
    "step_metrics": rewards_by_step,
    "rollout_batches": failed_by_batch,
    "vllm_stats": generation_throughput,
    "phase_timings": step_seconds,
}
