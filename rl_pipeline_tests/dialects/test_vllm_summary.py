"""MarinSkyRL's engine summary of a step."""

from __future__ import annotations

from rl_pipeline.dialects import vllm_summary
from rl_pipeline.dialects.contract import JobContext
from rl_pipeline_tests.dialects.feeding import feed, values


def test_percentages_become_fractions_and_names_say_what_they_are():
    rows = feed(
        vllm_summary,
        "vLLM Stats (step 7): engines=8, kv_cache(peak/med)=71.0/33.5%, e2e(mean/p90)=21.00/57.30s, ttft=0.52s",
    )

    assert values(rows, "metric", "value") == [
        ("vllm/num_engines", 8.0),
        ("vllm/peak_kv_cache_usage", 0.71),
        ("vllm/median_kv_cache_usage", 0.335),
        ("vllm/latency_e2e_mean", 21.0),
        ("vllm/latency_e2e_p90", 57.3),
        ("vllm/latency_ttft_mean", 0.52),
    ]


def test_the_rows_are_no_block_of_the_console():
    context = JobContext("job_1", blocks=3)

    rows = feed(vllm_summary, "vLLM Stats (step 7): engines=8, finished=412", context=context)

    assert {(row.block, row.kind, row.source, row.global_step) for row in rows} == {(3, "timing", "summary", 7)}
