"""Exceptions per step, two means apart: over the steps that have the type, and over all steps.

A breakdown is printed only for types that occurred, so a mean over the rows that have the key overstates a
rare type by as much as the share of steps it is missing from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.batch_booking import book_batches
from rl_pipeline.analysis.estimates import ratio
from rl_pipeline.analysis.populations import training_batches


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionMeans:
    """One exception type in the batch lines.

    Attributes:
        exception_type: class name.
        total: Σ over steps that have a block.
        steps_with: steps in which it occurred.
        steps: steps with a block.
        conditional_mean: per step, over the steps that have it.
        zero_filled_mean: per step, over all of them.
        overstatement: conditional ÷ zero-filled.
    """

    exception_type: str
    total: int
    steps_with: int
    steps: int
    conditional_mean: float
    zero_filled_mean: float
    overstatement: float | None


def exception_means(batches: pd.DataFrame, rows: pd.DataFrame) -> tuple[ExceptionMeans, ...]:
    """All types by total, most first; steps are the rows of `all_rows`, lines booked to the last step marker."""
    by_step: dict[tuple[str, int], Counter[str]] = {}
    own = book_batches(training_batches(batches), rows).booked
    for job, step, counts in zip(own["job"], own["global_step"], own["exceptions"], strict=True):
        by_step.setdefault((str(job), int(step)), Counter()).update(counts or {})
    total: Counter[str] = Counter()
    steps_with: Counter[str] = Counter()
    for counter in by_step.values():
        total.update(counter)
        steps_with.update(name for name, count in counter.items() if count)
    return tuple(_means(name, total, steps_with, len(rows)) for name, _ in _sorted(total))


def _sorted(total: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(((n, c) for n, c in total.items() if c), key=lambda item: (-item[1], item[0]))


def _means(name: str, total: Mapping[str, int], steps_with: Mapping[str, int], steps: int) -> ExceptionMeans:
    conditional, filled = total[name] / steps_with[name], total[name] / steps
    return ExceptionMeans(
        exception_type=name,
        total=total[name],
        steps_with=steps_with[name],
        steps=steps,
        conditional_mean=conditional,
        zero_filled_mean=filled,
        overstatement=ratio(conditional, filled),
    )
