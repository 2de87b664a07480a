"""All metrics in one table: meaning, unit, numbers over the steps that count, course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rl_pipeline.analysis.metric_overview import MetricOverview
from rl_pipeline.report.formatting import readable, typographic
from rl_pipeline.report.page.findings import metric_anchor
from rl_pipeline.report.page.spark import spark
from rl_pipeline.wording import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCell:
    """A number as text, and the number to sort by; None sorts last."""

    text: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric."""

    anchor: str
    name: str
    meaning: str
    note: str
    unit: str
    better: str
    n: NumberCell
    numbers: tuple[NumberCell, ...]
    remark: str
    spark: Markup


BELOW = "< 0.0001"
NUMBER_TITLES = ("Mean", "SD", "Min", "Max", "First", "Last")


def metric_rows(overviews: Sequence[MetricOverview]) -> tuple[MetricRow, ...]:
    """One row per metric, by name."""
    return tuple(_row(entry) for entry in overviews)


def _row(entry: MetricOverview) -> MetricRow:
    values = (entry.mean, entry.std, entry.minimum, entry.maximum, entry.first, entry.last)
    return MetricRow(
        anchor=metric_anchor(entry.metric),
        name=entry.metric,
        meaning=entry.meaning or "not in the catalogue",
        note=entry.note,
        unit="" if entry.unit in {None, "1"} else str(entry.unit),
        better=entry.better or "",
        n=NumberCell(text=str(entry.n), value=float(entry.n)),
        numbers=tuple(NumberCell(text=_text(value, entry), value=value) for value in values),
        remark=_remark(entry),
        spark=spark(entry.course, width=90, height=20),
    )


def _text(value: float | None, entry: MetricOverview) -> str:
    """The number; a zero of a metric that was printed as 0.0000 is only known to be small."""
    return BELOW if value == 0 and entry.below_resolution else typographic(readable(value))


def _remark(entry: MetricOverview) -> str:
    found = []
    if entry.n < entry.of_steps:
        found.append(f"in {entry.n} of {plural(entry.of_steps, 'step')}")
    if entry.below_resolution:
        found.append(f"printed as 0.0000 in {plural(entry.below_resolution, 'step')}")
    if entry.not_finite:
        found.append(f"not finite in {plural(entry.not_finite, 'step')}")
    return "; ".join(found)
