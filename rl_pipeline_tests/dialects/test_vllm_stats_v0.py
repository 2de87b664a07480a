"""Statistics lines of vLLM V0 engines."""

from __future__ import annotations

from rl_pipeline.dialects import vllm_stats, vllm_stats_v0
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline_tests.dialects.feeding import OTHER, feed, message, values

STATS = vllm_stats_v0.STATS
PREFIX = "Prefix cache hit rate: GPU: 41.20%, CPU: 0.00%"


def test_the_prefix_rate_goes_into_the_row_before_it_of_the_same_process():
    rows = feed(
        vllm_stats_v0,
        message(STATS, line=1),
        message(STATS, line=2, source=OTHER),
        message(PREFIX, line=3),
        message(STATS, line=4),
    )

    assert values(rows, "line", "prefix_cache_hit_rate") == [(1, 0.412), (2, None), (4, None)]


def test_a_prefix_rate_alone_is_broken():
    assert isinstance(vllm_stats_v0.parser(JobContext("job_1")).parse(message(PREFIX)), Broken)


def test_pending_requests_are_waiting_ones():
    (row,) = feed(vllm_stats_v0, STATS)

    assert (row.waiting, row.swapped, row.cpu_kv_cache_usage, row.engine_index) == (2, 0, 0.0, None)


def test_the_newer_dialect_leaves_these_lines_alone():
    assert vllm_stats.parser(JobContext("job_1")).parse(message(STATS)) is None
