"""The numbers on an asset's page, on tables small enough to add up by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rl_pipeline.defs.key_numbers import NUMBERS, SERIES

METRICS = pa.table(
    {
        "kind": ["train", "train", "eval", "train"],
        "global_step": pa.array([1, 1, 2, 2], pa.int64()),
        "metric": ["reward/avg_raw_reward", "policy/loss", "reward/avg_raw_reward", "reward/avg_raw_reward"],
        "value": [0.25, -1.0, 0.9, 0.75],
        "line": [10, 11, 12, 30],
    }
)


def test_the_mean_reward_is_that_of_training_blocks():
    assert NUMBERS["step_metrics"](METRICS) == {
        "first_step": 1,
        "last_step": 2,
        "metric_names": 2,
        "mean_reward": 0.5,
    }


def test_rewards_are_drawn_in_file_order():
    assert SERIES["step_metrics"](METRICS.take([3, 0, 1])).values == [0.25, 0.75]


def test_folded_batch_lines_count_as_often_as_they_were_printed():
    batches = pa.table({"successful": [60, 64], "total": [64, 64], "repeat_count": [1, 3]})

    assert NUMBERS["rollout_batches"](batches) == {
        "trials_successful": 252,
        "trials_total": 256,
        "failed_share": pytest.approx(4 / 256),
    }


def test_no_batch_gives_no_share():
    batches = pa.table({name: pa.array([], pa.int64()) for name in ("successful", "total", "repeat_count")})

    assert NUMBERS["rollout_batches"](batches)["failed_share"] is None


def test_a_timer_that_never_ended_is_counted_apart():
    timings = pa.table(
        {"name": ["step", "step", "generate"], "seconds": [10.0, None, 3.0], "finished": [True, False, True]}
    )

    assert NUMBERS["phase_timings"](timings) == {
        "finished_timers": 2,
        "unfinished_timers": 1,
        "mean_step_seconds": 10.0,
    }


def test_events_and_trials_are_counted_by_kind():
    events = pa.table({"kind": ["resume", "checkpoint_saved", "checkpoint_saved", "failure"]})
    trials = pa.table(
        {
            "outcome": ["solved", "unsolved", "unscored"],
            "exception_type": [None, None, "AgentTimeoutError"],
            "reward": [1.0, 0.0, None],
            "n_turns": pa.array([4, None, 8], pa.int64()),
        }
    )

    assert NUMBERS["job_events"](events) == {"checkpoints_saved": 2, "failure_lines": 1}
    assert NUMBERS["trials"](trials) == {
        "solved": 1,
        "unsolved": 1,
        "unscored": 1,
        "with_exception": 1,
        "mean_reward_scored": 0.5,
        "mean_turns": 6.0,
    }


def test_engines_give_means_and_the_fullest_cache():
    stats = pa.table(
        {
            "generation_throughput": [100.0, 300.0],
            "running": pa.array([8, 16], pa.int64()),
            "waiting": pa.array([0, None], pa.int64()),
            "kv_cache_usage": [0.5, 0.9],
        }
    )

    assert NUMBERS["vllm_stats"](stats) == {
        "mean_generation_throughput": 200.0,
        "mean_running": 12.0,
        "mean_waiting": 0.0,
        "max_kv_cache_usage": 0.9,
    }
