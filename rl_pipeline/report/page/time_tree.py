"""The closed tree of step time as rows with bars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rl_pipeline.analysis.time_accounting import Span, StepTime
from rl_pipeline.report.formatting import ABSENT, count, duration, percent, typographic
from rl_pipeline.wording import plural

UNATTRIBUTED = "no timer explains it"
SHORTEST = 0.1  # seconds: the last digit that is printed


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """One span: depth in the tree, its share of the whole as text and for the bar (percent)."""

    depth: int
    name: str
    seconds: str
    share: str
    bar: float
    steps: str
    mean: str
    longest: str


def time_tree(steps: StepTime) -> tuple[TreeRow, ...]:
    """The step, its parts and what they leave; spans beside the step below it. Empty when nothing is timed."""
    whole = steps.step_seconds
    if not whole:
        return ()
    rows = [
        TreeRow(
            depth=0,
            name="step",
            seconds=duration(whole),
            share=percent(1.0),
            bar=100.0,
            steps=count(steps.rows),
            mean=_seconds(whole / steps.rows),
            longest=ABSENT,
        )
    ]
    rows += [row for part in steps.parts for row in _rows(part, 1, whole)]
    rows.append(_rest(1, steps.unattributed_seconds, whole))
    rows += [row for part in steps.beside for row in _rows(part, 0, whole)]
    return tuple(rows)


def tree_note(steps: StepTime, *, rows: int, that_count: int) -> str:
    """What the tree is over, and why its shares differ from others of the page.

    Args:
        steps: what the tree was made of.
        rows: of steps in the logs, with a step time or not.
        that_count: steps that count.
    """
    if rows <= that_count:
        return f"Over the {plural(steps.rows, 'step')} with a step time."
    return (
        f"Over all {plural(steps.rows, 'row')} with a step time in the logs, those that a restart threw away included: "
        "their time was spent, too. Shares in the picture of each step and on the first screen are over the "
        f"{plural(that_count, 'step')} that count, and differ for that reason."
    )


def _rows(span: Span, depth: int, whole: float) -> Iterator[TreeRow]:
    yield TreeRow(
        depth=depth,
        name=span.name,
        seconds=_time(span.seconds),
        share=percent(span.seconds / whole),
        bar=_bar(span.seconds, whole),
        steps=count(span.rows),
        mean=_seconds(span.mean_seconds),
        longest=f"{_seconds(span.max_seconds)} (step {span.max_step})",
    )
    for child in span.children:
        yield from _rows(child, depth + 1, whole)
    if span.children:
        yield _rest(depth + 1, span.unattributed_seconds, whole)


def _rest(depth: int, seconds: float | None, whole: float) -> TreeRow:
    share = ABSENT if seconds is None else typographic(percent(seconds / whole))
    return TreeRow(
        depth=depth,
        name=UNATTRIBUTED,
        seconds=typographic(_time(seconds)),
        share=share,
        bar=_bar(seconds or 0.0, whole),
        steps="",
        mean="",
        longest="",
    )


def _time(value: float | None) -> str:
    """A sum as people say it; what is shorter than its last digit is said to be, and only nothing is 0.0 s."""
    if value is None or value == 0 or abs(value) >= SHORTEST / 2:
        return duration(value)
    return f"< {SHORTEST} s" if value > 0 else f"> -{SHORTEST} s"


def _seconds(value: float | None) -> str:
    """`3,072.1 s`; what is shorter than its last digit is said to be."""
    if value is None:
        return ABSENT
    return f"< {SHORTEST} s" if 0 < value < SHORTEST / 2 else f"{value:,.1f} s"


def _bar(seconds: float, whole: float) -> float:
    return round(min(100.0, max(0.0, seconds / whole * 100)), 2)
