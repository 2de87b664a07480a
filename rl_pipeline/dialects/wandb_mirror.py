"""MarinSkyRL's `WANDB_MIRROR` line: the metrics of a step as JSON, all digits.

`WANDB_MIRROR kind={train|eval} step={N} metrics={json}` stands on one line just before the console block of
the same step (since May 2026), so a step is in the log twice; both are kept, told apart by `source`. The
tokens NaN, Infinity and -Infinity may stand bare; values that JSON does not have are strings. When the
trainer could not serialise its metrics the object holds `_serialize_error` alone. Lines of tens of
kilobytes are normal, so log collectors cut them; entries closed by a comma are kept then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import integer
from rl_pipeline.dialects.metric_rows import content_kind, flattened, global_step_of, metric_rows
from rl_pipeline.dialects.stored_values import LARGEST_INTEGER
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import EVAL, MEASURED, MIRROR, NOT_FINITE, PARTIAL, TEXT, TRAIN, JobRow, StepMetric

NAME = "wandb_mirror"
NEEDLES = (b"WANDB_MIRROR ",)
HEADED = True

LINE = re.compile(r"WANDB_MIRROR kind=(\w{1,20}) step=(\d+) metrics=(?=\{)")
CLAIM = re.compile(r"WANDB_MIRROR kind=")
PATTERNS = (LINE, CLAIM)

# One entry of a flat object: a key, and a value without nesting that a comma closes.
ENTRY = re.compile(
    r'\s*("[^"\\]*(?:\\.[^"\\]*)*")\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*"|-?[A-Za-z]{1,9}|-?[0-9][0-9.eE+-]{0,40})\s*,'
)


def whole_number(text: str) -> int | float:
    """An int, or a float when no table column could hold the int."""
    return int(text) if len(text) <= len(str(LARGEST_INTEGER)) else float(text)


DECODER = json.JSONDecoder(parse_int=whole_number)


class MirrorLines:
    """Reads mirror lines one by one."""

    def __init__(self, context: JobContext) -> None:
        self.context = context

    def parse(self, message: Message) -> Outcome:
        """The metrics of the line."""
        found = LINE.match(message.payload)
        if found is None:
            return Broken("mirror line without its metrics") if CLAIM.match(message.payload) else None
        step = integer(found.group(2))
        try:
            metrics, end = DECODER.raw_decode(message.payload, found.end())
        except (ValueError, RecursionError):
            return self._partial(message, found.end() + 1, step)
        if message.payload[end:].strip():
            return Broken("text after the metrics of a mirror line")
        if "_serialize_error" in metrics:
            return Broken("the trainer could not write its metrics")
        return self._rows(message, metrics, step)

    def _rows(self, message: Message, metrics: dict[str, object], step: int | None) -> Sequence[JobRow]:
        named = list(flattened(metrics))
        kind = content_kind((name for name, _ in named), only_timing=False)
        step = global_step_of(metrics, step)
        return metric_rows(self.context, message, named, kind=kind, global_step=step, source=MIRROR)

    def _partial(self, message: Message, start: int, step: int | None) -> Broken:
        metrics: dict[str, object] = {}
        while (entry := ENTRY.match(message.payload, start)) is not None:
            try:
                metrics[json.loads(entry.group(1))] = DECODER.decode(entry.group(2))
            except ValueError:
                break
            start = entry.end()
        if not metrics:
            return Broken("mirror line cut, or not JSON")
        step = global_step_of(metrics, step)
        rows = metric_rows(self.context, message, flattened(metrics), kind=PARTIAL, global_step=step, source=MIRROR)
        return Broken("mirror line cut, or not JSON", rows)

    def close(self) -> Sequence[JobRow]:
        """Nothing waits."""
        return ()


def parser(context: JobContext) -> MirrorLines:
    """A fresh parser for one job."""
    return MirrorLines(context)


def _row(
    metric: str,
    value: float | None,
    state: str = MEASURED,
    *,
    kind: str = TRAIN,
    step: int = 7,
    text: str | None = None,
) -> StepMetric:
    return StepMetric(
        job="job_1", block=0, line=1, kind=kind, global_step=step,
        metric=metric, value=value, text=text, state=state, source=MIRROR,
    )  # fmt: skip


SAMPLES = (
    Sample(
        'WANDB_MIRROR kind=train step=7 metrics={"loss/avg_kl": NaN, "policy/policy_lr": 1e-06, '
        '"policy/note": "warm", "reward/avg_raw_reward": 0.203125, "trainer/global_step": 7}',
        (
            _row("loss/avg_kl", None, NOT_FINITE, text="nan"),
            _row("policy/policy_lr", 1e-06),
            _row("policy/note", None, TEXT, text="warm"),
            _row("reward/avg_raw_reward", 0.203125),
            _row("trainer/global_step", 7.0),
        ),
    ),
    Sample(
        'WANDB_MIRROR kind=eval step=0 metrics={"eval/all/avg_score": 0.25}',
        (_row("eval/all/avg_score", 0.25, kind=EVAL, step=0),),
    ),
    Sample('WANDB_MIRROR kind=train step=8 metrics={"_serialize_error": "not serialisable"}', (), broken=True),
    Sample(
        'WANDB_MIRROR kind=train step=9 metrics={"async/staleness_mean": 0.8125, "policy/policy_lr": 1e-0',
        (_row("async/staleness_mean", 0.8125, kind=PARTIAL, step=9),),
        broken=True,
        complete=False,
    ),
)
