"""Statistics lines of vLLM V1 engines."""

from __future__ import annotations

import pytest

from rl_pipeline.dialects import vllm_stats
from rl_pipeline.dialects.contract import Broken, JobContext
from rl_pipeline.reader.message import Source
from rl_pipeline_tests.dialects.feeding import feed, message, values

RATES = "Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 20.0 tokens/s"
LINE = f"Engine 002: {RATES}, Running: 3 reqs, Waiting: 1 reqs, GPU KV cache usage: 41.0%"


def test_the_engine_is_its_address_pid_and_number():
    engine = Source(actor="AsyncVLLMInferenceEngine", pid=101, ip="10.1.0.7", process="EngineCore_DP0", process_pid=655)

    (row,) = feed(vllm_stats, message(LINE, source=engine, logger="vllm"))

    assert (row.ip, row.pid, row.engine_index, row.scope, row.engines) == ("10.1.0.7", 101, 2, "engine", None)


def test_fields_are_found_in_any_order():
    (row,) = feed(
        vllm_stats,
        f"Engine 000: {RATES}, Prefix cache hit rate: 50.0%, Waiting: 1 reqs, "
        "GPU KV cache usage: 41.0%, Running: 3 reqs",
    )

    assert (row.running, row.waiting, row.kv_cache_usage, row.prefix_cache_hit_rate) == (3, 1, 0.41, 0.5)


def test_an_absent_field_is_null_and_a_printed_zero_is_zero():
    (row,) = feed(
        vllm_stats, f"Engine 000: {RATES}, Running: 0 reqs, Waiting: 0 reqs, Preemptions: 0, GPU KV cache usage: 0.0%"
    )

    assert (row.running, row.preemptions, row.deferred, row.prefix_cache_hit_rate) == (0, 0, None, None)


@pytest.mark.parametrize("device", ["GPU", "XPU", "CPU", "NPU"])
def test_the_cache_of_any_device_counts(device):
    (row,) = feed(vllm_stats, f"Engine 000: {RATES}, Running: 0 reqs, Waiting: 0 reqs, {device} KV cache usage: 99.9%")

    assert row.kv_cache_usage == 0.999


def test_an_aggregated_line_has_the_scope_of_its_server():
    (row,) = feed(
        vllm_stats, f"16 Engines Aggregated: {RATES}, Running: 3 reqs, Waiting: 1 reqs, GPU KV cache usage: 1.0%"
    )

    assert (row.scope, row.engines, row.engine_index) == ("server", 16, None)


def test_a_folded_line_keeps_its_count():
    rows = feed(vllm_stats, message(LINE, repeat_count=7))

    assert values(rows, "repeat_count", "running") == [(7, 3)]


@pytest.mark.parametrize(
    "payload",
    [
        "Engine 000: Iteration(4): 1 context requests, 3 generation requests, GPU KV cache usage: 1.0%",
        "Engine 000: MFU: 120.1 TF/s/device 900.0 GB/s/device",
        "Engine 000: vllm cache_config_info block_size: 16",
        "4 Engines: vllm cache_config_info block_size: 16",
        "SpecDecoding metrics: Mean acceptance length: 2.41, Accepted throughput: 120.10 tokens/s",
        "say: Avg prompt throughput: 1.0 tokens/s",
    ],
)
def test_lookalikes_are_not_statistics(payload):
    assert vllm_stats.parser(JobContext("job_1")).parse(message(payload)) is None


@pytest.mark.parametrize(
    "payload",
    [
        f"Engine 000: {RATES}",
        f"Engine 000: {RATES}, Running: 3 reqs, Waiting: 1",
        f"Engine 000: {RATES}, Running: 3 %, Waiting: 1 reqs, GPU KV cache usage: 1.0%",
        f"Engine 000: {RATES}, Running: 3.5 reqs, Waiting: 1 reqs, GPU KV cache usage: 1.0%",
        "Engine 000: Avg prompt throughput: 1.2.3 tokens/s",
    ],
)
def test_a_line_with_a_part_that_cannot_be_read_is_broken(payload):
    assert isinstance(vllm_stats.parser(JobContext("job_1")).parse(message(payload)), Broken)


def test_nan_is_no_rate():
    (row,) = feed(vllm_stats, LINE.replace("10.0 tokens/s", "nan tokens/s"))

    assert (row.prompt_throughput, row.generation_throughput) == (None, 20.0)
