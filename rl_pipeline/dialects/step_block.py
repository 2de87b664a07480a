"""Metric block of SkyRL's console logger.

Printed by every SkyRL and MarinSkyRL trainer whose tracker includes `console`: one logger call per step,
`Step {N}: ` and, from the next line on, the metrics as `pprint` writes a dict. Floats become strings with
four decimals, so small numbers print as '0.0000'; ints, truth values and None stay bare; numbers of other
libraries keep their wrapper. Keys come in code-point order and may begin and end with anything.

One step can have several blocks: upstream's fully-async trainer prints a second one with `timing/`, `ray/` and
`vllm/` keys alone, an evaluation before training has `eval/` keys alone. A crash cuts a block, or (in
later versions) flushes one that is well formed but lacks most of its keys; both are kind partial.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rl_pipeline.dialects.contract import Broken, JobContext, Outcome, Sample
from rl_pipeline.dialects.event_rows import integer
from rl_pipeline.dialects.metric_rows import content_kind, flattened, global_step_of, metric_rows
from rl_pipeline.metric_block import MetricBlock
from rl_pipeline.reader.literals import Malformed, parse_literal, parse_partial_literal
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import (
    BELOW_RESOLUTION,
    CONSOLE,
    EVAL,
    MEASURED,
    NOT_FINITE,
    PARTIAL,
    TEXT,
    TIMING,
    TRAIN,
    JobRow,
    StepMetric,
)

NAME = "step_block"
NEEDLES = (b"Step ",)
HEADED = True

BLOCK_HEAD = re.compile(r"Step (\d+): ?$")
BLOCK = re.compile(r"Step (\d+): ?(?:\n|\Z)")
PATTERNS = (BLOCK,)

# A train block with less than this share of the keys of the train block before it may have been flushed by a crash.
# Evaluation and error counts come and go, so they do not take part.
WHOLE_SHARE = 0.5
ODD_FORMS = 8  # forms of smaller blocks that are remembered
PASSING = ("eval/", "generate/errors/", "generate/exception_", "timing/save", "timing/eval")


@dataclass(frozen=True, slots=True)
class Block:
    """A well-formed training block: its rows, the keys that do not come and go, its step."""

    rows: MetricBlock
    lasting: frozenset[str]
    step: int | None


class StepBlocks:
    """Reads blocks; one that may have been flushed by a crash is held back until the next training block.

    It is partial when the step was done again, when no training came after it, or when the step after it has the keys
    that it lacks. A form that training went on from is whole when it comes again: trackers log less on some steps.
    """

    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.whole: frozenset[str] = frozenset()  # keys of the last whole training block
        self.held: Block | None = None
        self.odd: deque[frozenset[str]] = deque(maxlen=ODD_FORMS)

    def parse(self, message: Message) -> Outcome:
        """The metrics of a block; of a broken one, those that were closed by a comma."""
        head = BLOCK.match(message.payload)
        if head is None:
            return None
        number = integer(head.group(1))
        if number is not None:
            self.context.step_marker = number
        body = message.payload[head.end() :]
        if not body.strip():
            return Broken("a block's head without its metrics")
        metrics = parse_literal(body)
        if isinstance(metrics, Malformed):
            return self._partial(message, body, number, metrics)
        if not isinstance(metrics, dict):
            return Broken("the head is followed by a literal that is no dict")
        named = list(flattened(metrics))
        kind = content_kind(name for name, _ in named)
        step = global_step_of(metrics, number)
        rows = metric_rows(self.context, message, named, kind=kind, global_step=step, source=CONSOLE)
        return self._judged(rows, step) if kind == TRAIN else rows

    def _partial(self, message: Message, body: str, number: int | None, malformed: Malformed) -> Broken:
        part = parse_partial_literal(body)
        metrics = {} if isinstance(part, Malformed) else part.value
        rows: Sequence[JobRow] = ()
        if isinstance(metrics, dict) and metrics:
            step = global_step_of(metrics, number)
            rows = metric_rows(
                self.context, message, flattened(metrics), kind=PARTIAL, global_step=step, source=CONSOLE
            )
        reason = malformed.reason if message.complete else "the log went on, or ended, before it was closed"
        return Broken(f"metric block cut: {reason}", rows)

    def close(self) -> Sequence[JobRow]:
        """The block that was held back: the last of its attempt."""
        return self._released(None)

    def _judged(self, rows: MetricBlock, step: int | None) -> Sequence[JobRow]:
        """A training block, after the one that was held back; held back itself when it looks cut."""
        lasting = frozenset(metric for metric in rows.metrics if not metric.startswith(PASSING))
        block = Block(rows, lasting, step)
        released = self._released(block)
        if lacks_most(lasting, self.whole):
            self.held = block
            return released
        self.whole = lasting
        return (*released, *rows) if released else rows

    def _released(self, following: Block | None) -> Sequence[JobRow]:
        """The rows of the held block, now that it is known what came after it."""
        held, self.held = self.held, None
        if held is None:
            return ()
        went_on = following is not None and (held.step is None or following.step is None or following.step > held.step)
        if went_on and following is not None and not lacks_most(held.lasting, following.lasting):
            self.odd.append(held.lasting)
            self.whole = held.lasting
            return held.rows
        if any(are_alike(held.lasting, shape) for shape in self.odd):
            return held.rows
        if went_on:
            self.odd.append(held.lasting)
        return replace(held.rows, kind=PARTIAL)


def lacks_most(lasting: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a block has so few of another's keys that a crash may have flushed it."""
    return len(lasting) < len(others) and len(lasting & others) < WHOLE_SHARE * len(others)


def are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two blocks share at least half of the keys of either."""
    return len(one & other) >= WHOLE_SHARE * max(len(one), len(other))


def parser(context: JobContext) -> StepBlocks:
    """A fresh parser for one job."""
    return StepBlocks(context)


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
        metric=metric, value=value, text=text, state=state, source=CONSOLE,
    )  # fmt: skip


SAMPLES = (
    Sample(
        "Step 7: \n{'async/staleness_mean': '0.8125',\n 'generate/errors/SomeError': 2,\n"
        " 'policy/final_loss': '-0.0000',\n 'policy/policy_lr': '0.0000',\n 'policy/policy_kl': 'nan',\n"
        " 'reward/avg_raw_reward': '0.2031',\n 'timing/step': '812.4400',\n 'trainer/epoch': 0,\n"
        " 'trainer/global_step': 7,\n 'vllm/kv_cache_usage_perc': '0.4123'}",
        (
            _row("async/staleness_mean", 0.8125),
            _row("generate/errors/SomeError", 2.0),
            _row("policy/final_loss", -0.0, BELOW_RESOLUTION),
            _row("policy/policy_lr", 0.0, BELOW_RESOLUTION),
            _row("policy/policy_kl", None, NOT_FINITE, text="nan"),
            _row("reward/avg_raw_reward", 0.2031),
            _row("timing/step", 812.44),
            _row("trainer/epoch", 0.0),
            _row("trainer/global_step", 7.0),
            _row("vllm/kv_cache_usage_perc", 0.4123),
        ),
    ),
    Sample(
        "Step 8: \n{'environment/names': ['a', 'b'],\n 'loss/by_part': {'kl': '0.5000', 'pg': np.float32(0.25)},\n"
        " 'policy/is_on': True,\n 'policy/missing': None,\n 'policy/note': 'a long text '\n"
        "                'in two pieces',\n"
        " 'policy/spread': np.float32(nan),\n 'reward/mean': tensor(0.5),\n 'trainer/global_step': 8}",
        (
            _row("environment/names", None, TEXT, step=8, text='["a", "b"]'),
            _row("loss/by_part/kl", 0.5, step=8),
            _row("loss/by_part/pg", 0.25, step=8),
            _row("policy/is_on", 1.0, step=8),
            _row("policy/missing", None, TEXT, step=8, text="None"),
            _row("policy/note", None, TEXT, step=8, text="a long text in two pieces"),
            _row("policy/spread", None, NOT_FINITE, step=8, text="nan"),
            _row("reward/mean", 0.5, step=8),
            _row("trainer/global_step", 8.0, step=8),
        ),
    ),
    Sample(
        "Step 0: \n{'eval/all/avg_score': '0.2500', 'eval/all/pass_at_1': '0.2500'}",
        (
            _row("eval/all/avg_score", 0.25, kind=EVAL, step=0),
            _row("eval/all/pass_at_1", 0.25, kind=EVAL, step=0),
        ),
    ),
    Sample(
        "Step 7: \n{'ray/gpu.util.avg': '71.2000',\n 'timing/step': '812.4400'}",
        (_row("ray/gpu.util.avg", 71.2, kind=TIMING), _row("timing/step", 812.44, kind=TIMING)),
    ),
    Sample(
        "Step 9: \n{'async/staleness_mean': '0.8125',\n 'async/staleness_min': 0,\n 'generate/avg_num_tok",
        (
            _row("async/staleness_mean", 0.8125, kind=PARTIAL, step=9),
            _row("async/staleness_min", 0.0, kind=PARTIAL, step=9),
        ),
        broken=True,
        complete=False,
    ),
)
