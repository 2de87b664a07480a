"""MarinSkyRL's `vLLM Stats (step {N}): …` line: engine numbers of one training step.

Printed by a callback since 2026-02-09; its values are in no metric block. They become rows of step_metrics of kind
timing and source summary, under the names the same trainer gives its tracker where these are known. Scope matters:
`engines` is the number of engines; peaks of running and waiting requests are sums over engines of peaks that need
not coincide; throughputs and cache usage are means *per engine*; a p90 is the largest of the engines' p90;
`finished`, `preempted`, `samples` are totals. Percentages become fractions. The first form (one day) had plain values;
a later one has `median/peak` without saying so, and its values in the mirror line too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import integer
from rl_pipeline.dialects.metric_rows import metric_rows
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import MEASURED, SUMMARY, TIMING, JobRow, StepMetric

NAME = "vllm_summary"
NEEDLES = (b"vLLM Stats (step ",)
HEADED = True

HEAD = re.compile(r"vLLM Stats \(step (\d+)\): ")
FIELD = re.compile(
    r"(?P<name>[a-z][a-z0-9_]{0,30})(?:\((?P<parts>[a-z0-9]{1,8}/[a-z0-9]{1,8})\))?="
    r"(?P<first>\d{1,15}(?:\.\d{1,6})?)(?:/(?P<second>\d{1,15}(?:\.\d{1,6})?))?(?P<unit> tok/s|%|s)?(?:, |\s*\Z)"
)
PATTERNS = (HEAD, FIELD)

STEMS = {
    "running": "running_reqs",
    "waiting": "waiting_reqs",
    "prompt_tp": "prompt_throughput",
    "gen_tp": "generation_throughput",
    "generation": "generation_throughput",
    "kv_cache": "kv_cache_usage",
    "gpu_kv_cache": "kv_cache_usage",
    "prefix_hit": "prefix_cache_hit_rate",
    "prefill": "latency_prefill",
    "decode": "latency_decode",
    "e2e": "latency_e2e",
    "queued": "latency_queued",
    "ttft": "latency_ttft",
}
WHOLE = {
    "engines": "num_engines",
    "finished": "total_finished_requests",
    "preempted": "total_preempted_reqs",
}
PARTS = {"peak": "peak_{}", "med": "median_{}", "mean": "{}_mean", "p90": "{}_p90"}
PERCENT = 100.0


class Summaries:
    """Reads the lines one by one."""

    def __init__(self, context: JobContext) -> None:
        self.context = context

    def parse(self, message: Message) -> Outcome:
        """Metric rows of the line."""
        head = HEAD.match(message.payload)
        if head is None:
            return None
        values: list[tuple[str, object]] = []
        position = head.end()
        while position < len(message.payload):
            field = FIELD.match(message.payload, position)
            if field is None:
                return Broken("engine summary cut, or with a field not known")
            values.extend(named_values(field))
            position = field.end()
        if not values or not message.complete:
            return Broken("engine summary cut")
        step = integer(head.group(1))
        return metric_rows(self.context, message, values, kind=TIMING, global_step=step, source=SUMMARY)

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def named_values(field: re.Match[str]) -> Iterator[tuple[str, float]]:
    """Metric names and values of one field."""
    name, parts, first, second, unit = field.group("name", "parts", "first", "second", "unit")
    scale = PERCENT if unit == "%" else 1.0
    if name == "samples":
        numbers = zip(("total_active_samples", "total_samples"), (first, second), strict=True)
    elif parts is None and second is not None:
        stem = STEMS.get(name, name)
        numbers = zip((f"median_{stem}", f"peak_{stem}"), (first, second), strict=True)
    elif parts is None:
        whole = WHOLE.get(name) or STEMS.get(name, name)
        numbers = zip((f"{whole}_mean" if whole.startswith("latency_") else whole,), (first,), strict=True)
    else:
        stem = STEMS.get(name, name)
        names = (PARTS.get(part, "{}_" + part).format(stem) for part in parts.split("/"))
        numbers = zip(names, (first, second), strict=True)
    for metric, number in numbers:
        if number is not None:
            yield f"vllm/{metric}", round(float(number) / scale, 9)


def parser(context: JobContext) -> Summaries:
    """A fresh parser for one job."""
    return Summaries(context)


def _rows(**values: float) -> tuple[StepMetric, ...]:
    return tuple(
        StepMetric(
            job="job_1", block=0, line=1, kind=TIMING, global_step=7,
            metric=f"vllm/{name}", value=value, state=MEASURED, source=SUMMARY,
        )
        for name, value in values.items()
    )  # fmt: skip


SAMPLES = (
    Sample(
        "vLLM Stats (step 7): engines=8, running(peak/med)=61/40, waiting(peak/med)=12/0, "
        "prompt_tp(peak/med)=5120.0/300.5 tok/s, gen_tp(peak/med)=1800.2/900.1 tok/s, kv_cache(peak/med)=71.0/33.5%, "
        "prefill(mean/p90)=0.41/1.20s, queued=0.30s, finished=412, preempted=3, samples=210/240",
        _rows(
            num_engines=8.0,
            peak_running_reqs=61.0,
            median_running_reqs=40.0,
            peak_waiting_reqs=12.0,
            median_waiting_reqs=0.0,
            peak_prompt_throughput=5120.0,
            median_prompt_throughput=300.5,
            peak_generation_throughput=1800.2,
            median_generation_throughput=900.1,
            peak_kv_cache_usage=0.71,
            median_kv_cache_usage=0.335,
            latency_prefill_mean=0.41,
            latency_prefill_p90=1.2,
            latency_queued_mean=0.3,
            total_finished_requests=412.0,
            total_preempted_reqs=3.0,
            total_active_samples=210.0,
            total_samples=240.0,
        ),
    ),
    Sample(
        "vLLM Stats (step 7): running=3, waiting=0, gen_tp=2.0 tok/s, gpu_kv_cache=1.0%, prefix_hit=50.0%",
        _rows(
            running_reqs=3.0,
            waiting_reqs=0.0,
            generation_throughput=2.0,
            kv_cache_usage=0.01,
            prefix_cache_hit_rate=0.5,
        ),
    ),
    Sample(
        "vLLM Stats (step 7): engines=8, running=40.0/61, generation=900.1/1800.2 tok/s, "
        "kv_cache=33.5/71.0%, e2e=21.000s",
        _rows(
            num_engines=8.0,
            median_running_reqs=40.0,
            peak_running_reqs=61.0,
            median_generation_throughput=900.1,
            peak_generation_throughput=1800.2,
            median_kv_cache_usage=0.335,
            peak_kv_cache_usage=0.71,
            latency_e2e_mean=21.0,
        ),
    ),
    Sample("vLLM Stats (step 7): engines=8, running(peak/med)=61", (), broken=True, complete=False),
)
