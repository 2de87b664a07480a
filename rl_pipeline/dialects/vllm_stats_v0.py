"""Statistics lines of vLLM V0 engines (to about version 0.8).

`Avg prompt throughput: … Running: {n} reqs, Swapped: {n} reqs, Pending: {n} reqs, GPU KV cache usage: {x}%, CPU KV
cache usage: {x}%.` every five seconds, without an engine number. The prefix-cache rate follows on a line of its own,
`Prefix cache hit rate: GPU: {x}%, CPU: {x}%`; it goes into the row of the statistics before it from the same source,
so a row waits until its source speaks again. Pending requests are the column `waiting`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.stored_values import repeated_name
from rl_pipeline.reader.message import Message, Source
from rl_pipeline.schema import JobRow, VllmStat

NAME = "vllm_stats_v0"
NEEDLES = (b" reqs, Pending: ", b"Prefix cache hit rate: GPU: ")
HEADED = True

RATE = r"(\d{1,15}(?:\.\d{1,6})?)"
LINE = re.compile(
    rf"Avg prompt throughput: {RATE} tokens/s, Avg generation throughput: {RATE} tokens/s, "
    r"Running: (\d{1,9}) reqs, Swapped: (\d{1,9}) reqs, Pending: (\d{1,9}) reqs, "
    rf"GPU KV cache usage: {RATE}%, CPU KV cache usage: {RATE}%\.?\s*\Z"
)
PREFIX = re.compile(rf"Prefix cache hit rate: GPU: {RATE}%, CPU: {RATE}%\.?\s*\Z")
CLAIM = re.compile(r"Avg prompt throughput: [^\n]{0,200} reqs, Pending: |Prefix cache hit rate: GPU: ")
PATTERNS = (LINE, PREFIX, CLAIM)

PERCENT = 100.0


class StatLinesV0:
    """Holds the last row of each source until its prefix-cache line, or its next statistics, has come."""

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.waiting: dict[Source, VllmStat] = {}

    def parse(self, message: Message) -> Outcome:
        """The rows that wait no more."""
        if CLAIM.match(message.payload) is None:
            return None
        if (stats := LINE.match(message.payload)) is not None:
            earlier = self.waiting.pop(message.source, None)
            self.waiting[message.source] = self._row(message, stats)
            return () if earlier is None else (earlier,)
        if (prefix := PREFIX.match(message.payload)) is not None:
            row = self.waiting.pop(message.source, None)
            if row is None:
                return Broken("prefix-cache rate without the statistics line it belongs to")
            return (replace(row, prefix_cache_hit_rate=fraction(prefix.group(1))),)
        return Broken("statistics line cut, or in a form not known")

    def _row(self, message: Message, found: re.Match[str]) -> VllmStat:
        return VllmStat(
            job=self.context.job,
            line=message.line,
            logged_at=message.logged_at,
            zone=message.zone,
            pid=message.source.pid,
            ip=message.source.ip and repeated_name(message.source.ip),
            prompt_throughput=float(found.group(1)),
            generation_throughput=float(found.group(2)),
            running=int(found.group(3)),
            swapped=int(found.group(4)),
            waiting=int(found.group(5)),
            kv_cache_usage=fraction(found.group(6)),
            cpu_kv_cache_usage=fraction(found.group(7)),
            repeat_count=message.repeat_count,
        )

    def close(self) -> Sequence[JobRow]:
        """The last row of every source."""
        rows = tuple(sorted(self.waiting.values(), key=lambda row: row.line))
        self.waiting = {}
        return rows


def fraction(percent: str) -> float:
    """A printed percentage as a fraction."""
    return round(float(percent) / PERCENT, 9)


def parser(context: JobContext) -> StatLinesV0:
    """A fresh parser for one job."""
    return StatLinesV0(context)


STATS = (
    "Avg prompt throughput: 120.4 tokens/s, Avg generation throughput: 88.0 tokens/s, Running: 5 reqs, "
    "Swapped: 0 reqs, Pending: 2 reqs, GPU KV cache usage: 12.3%, CPU KV cache usage: 0.0%."
)
ROW = VllmStat(
    job="job_1",
    line=1,
    prompt_throughput=120.4,
    generation_throughput=88.0,
    running=5,
    waiting=2,
    swapped=0,
    kv_cache_usage=0.123,
    cpu_kv_cache_usage=0.0,
)

SAMPLES = (
    Sample(STATS, (ROW,)),
    Sample(
        "Prefix cache hit rate: GPU: 41.20%, CPU: 0.00%", (replace(ROW, prefix_cache_hit_rate=0.412),), before=(STATS,)
    ),
    Sample(STATS[:150], (), broken=True, complete=False),
)
