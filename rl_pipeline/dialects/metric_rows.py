"""Metric values, as trainers print them, to rows of step_metrics.

Shared by the dialects that carry whole metric dicts. A printed value keeps its state: a four-decimal string
of zeros only says that the value is below the print's resolution, `nan` is a value and no number, and what is
neither number nor truth value stays text. `None` is text too (`None`): the metric was logged, its value was not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rl_pipeline.dialects.contract import JobContext
from rl_pipeline.dialects.stored_values import LARGEST_INTEGER, stored_names, stored_text
from rl_pipeline.metric_block import MetricBlock, Reading
from rl_pipeline.reader.literals import Call
from rl_pipeline.reader.message import Message
from rl_pipeline.schema import BELOW_RESOLUTION, EVAL, MEASURED, NOT_FINITE, TEXT, TIMING, TRAIN

TEXT_LIMIT = 1000  # characters kept of a value that is text
DEEPEST_DICT = 20  # dicts inside dicts whose names are joined; what lies deeper is text
TOO_DEEP = "nested too deeply to be shown"
LABELS = frozenset({"trainer/epoch", "trainer/global_step"})
TIMING_PREFIXES = ("timing/", "ray/", "vllm/")

ZERO = re.compile(r"-?0\.0000")  # `f"{value:.4f}"` of anything below 5e-5
PRINTED = re.compile(r"-?[0-9]{1,12}\.[0-9]{4}")
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?")
NOT_A_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
WRAPPED = re.compile(r"(?:tensor|(?:np|numpy)\.\w+)\(([^(),]{1,60})(?:, [^()]{0,80})?\)")


def read_value(value: object) -> Reading:
    """Value, text and state of one printed value."""
    if type(value) is str and PRINTED.fullmatch(value) and (number := float(value)) != 0.0:
        return number, None, MEASURED  # nearly all there are
    if isinstance(value, bool):
        return float(value), None, MEASURED
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, str):
        return _quoted(value)
    return None, stored_text(_text_of(value), TEXT_LIMIT), TEXT


def _number(value: float) -> Reading:
    try:
        number = float(value)
    except OverflowError:
        return None, "a whole number too large for a float", NOT_FINITE
    return (number, None, MEASURED) if math.isfinite(number) else (None, str(number), NOT_FINITE)


def _quoted(text: str) -> Reading:
    stripped = text.strip()
    wrapped = WRAPPED.fullmatch(stripped)
    inner = wrapped.group(1).strip() if wrapped else stripped
    if ZERO.fullmatch(inner):
        return float(inner), None, BELOW_RESOLUTION
    if len(inner) <= 400 and NUMBER.fullmatch(inner):
        return _number(float(inner))
    if NOT_A_NUMBER.fullmatch(inner):
        return None, inner, NOT_FINITE
    return None, stored_text(text, TEXT_LIMIT), TEXT


def _text_of(value: object) -> str:
    if isinstance(value, Call):
        return f"{value.name}({value.text})" if value.name and value.name != "<>" else value.text
    try:
        return _json_of(value) if isinstance(value, (list, tuple)) else str(value)
    except (RecursionError, ValueError):  # the latter: a whole number of too many digits
        return TOO_DEEP


def _json_of(value: object) -> str:
    try:
        return json.dumps(value, default=_text_of, ensure_ascii=False)
    except TypeError:  # a dict inside with keys that JSON does not have
        return str(value)


def flattened(metrics: Mapping[Any, object]) -> Iterator[tuple[str, object]]:
    """Names, as they are stored, and values of a dict; the names of a dict inside it are joined with a slash."""
    leaves = list(_leaves(metrics, "", 1))
    return zip(stored_names(name for name, _ in leaves), (value for _, value in leaves), strict=True)


def _leaves(metrics: Mapping[Any, object], prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    for key, value in metrics.items():
        name = f"{prefix}{key if isinstance(key, str) else _text_of(key)}"
        if isinstance(value, dict) and value and depth < DEEPEST_DICT:
            yield from _leaves(value, f"{name}/", depth + 1)
        else:
            yield name, value


def global_step_of(metrics: Mapping[Any, object], head: int | None) -> int | None:
    """`trainer/global_step` when the dict has it as a whole number, else the number in the head."""
    step = metrics.get("trainer/global_step")
    if isinstance(step, str):
        number = read_value(step)[0]
        step = int(number) if number is not None and number.is_integer() else None
    fits = isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= LARGEST_INTEGER
    return int(step) if fits and isinstance(step, int) else head


def content_kind(names: Iterable[str], *, only_timing: bool = True) -> str:
    """What a block holds: eval when all is evaluation, timing when all is about time and load, else train.

    A block with `trainer/global_step` is a step's main block, whatever else is missing, unless it evaluates.
    """
    names = list(names)
    told = [name for name in names if name not in LABELS]
    if told and all(name.startswith("eval/") for name in told):
        return EVAL
    if only_timing and told == names and told and all(name.startswith(TIMING_PREFIXES) for name in told):
        return TIMING
    return TRAIN


def metric_rows(
    context: JobContext,
    message: Message,
    metrics: Iterable[tuple[str, object]],
    *,
    kind: str,
    global_step: int | None,
    source: str,
) -> MetricBlock:
    """One row per metric, under a block number of their own; names are unique, the last value wins."""
    values = dict(metrics)
    return MetricBlock(
        job=context.job,
        block=context.next_block(),
        line=message.line,
        kind=kind,
        global_step=global_step,
        source=source,
        logged_at=message.logged_at,
        zone=message.zone,
        metrics=list(values),
        readings=[read_value(printed) for printed in values.values()],
    )
