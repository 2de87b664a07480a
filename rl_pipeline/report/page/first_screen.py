"""The first screen: what run, the verdict in a sentence, five numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from rl_pipeline.analysis.findings.finding import (
    CRITICAL,
    FIRED,
    HEALTHY,
    HIGH,
    NEEDS_ATTENTION,
    SEVERITIES,
    STOP_RECOMMENDED,
    Finding,
    Verdict,
)
from rl_pipeline.analysis.first_numbers import SPEED_NUMBER, FirstNumber
from rl_pipeline.analysis.summary import ExperimentResult
from rl_pipeline.report.formatting import ABSENT, NARROW_SPACE, duration, fixed, percent, thousands, typographic
from rl_pipeline.report.page.spark import spark
from rl_pipeline.report.views.section import sentence
from rl_pipeline.wording import plural

TONES = {STOP_RECOMMENDED: "bad", NEEDS_ATTENTION: "warn", HEALTHY: "good"}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One finding named in the verdict's sentence, and where it is told."""

    id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """The verdict.

    Attributes:
        status: as a sentence begins.
        tone: good, warn, bad or quiet.
        reasons: findings behind it, worst first.
        text: words where no finding stands behind it.
    """

    status: str
    tone: str
    reasons: tuple[Reason, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TileView:
    """One number: label, value, interval, population, its course."""

    label: str
    value: str
    interval: str
    population: str
    spark: Markup


def facts(result: ExperimentResult, trials: int, form: str | None) -> tuple[str, ...]:
    """What run it was, in a few words each."""
    lineage, fall = result.lineage, result.time.waterfall
    found = [f"{plural(lineage.distinct_steps, 'step')} in {plural(len(lineage.links), 'job')}"]
    starts = [link.started_at for link in lineage.links if link.started_at]
    ends = [link.ended_at for link in lineage.links if link.ended_at]
    if starts and ends:
        found.append(dates(min(starts), max(ends)))
    if fall.total_seconds:
        found.append(f"{duration(fall.total_seconds)}{'' if fall.queue_seconds is not None else ' accounted'}")
    if trials:
        found.append(plural(trials, "trial"))
    if fall.gpus:
        found.append(plural(fall.gpus, "GPU"))
    if form:
        found.append(form)
    return tuple(found)


def dates(first: datetime, last: datetime) -> str:
    """One day, or from one day to another: `3–4 June 2026`."""
    end = f"{last.day} {MONTHS[last.month - 1]} {last.year}"
    if first.date() == last.date():
        return end
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{end}"
    year = f" {first.year}" if first.year != last.year else ""
    return f"{first.day} {MONTHS[first.month - 1]}{year} – {end}"


def verdict_view(verdict: Verdict, findings: Sequence[Finding]) -> VerdictView:
    """The verdict with the findings that made it; the first reason in words where none did."""
    grave = [f for f in findings if f.status == FIRED and f.severity in {CRITICAL, HIGH}]
    grave.sort(key=lambda f: (SEVERITIES.index(f.severity), int(f.id[1:])))
    status = f"{verdict.status[:1].upper()}{verdict.status[1:]}."
    text = "" if grave or not verdict.reasons else typographic(sentence(verdict.reasons[0]))
    return VerdictView(
        status=status,
        tone=TONES.get(verdict.status, "quiet"),
        reasons=tuple(Reason(id=f.id, title=f.title) for f in grave),
        text=text,
    )


def tiles(numbers: Sequence[FirstNumber]) -> tuple[TileView, ...]:
    """The five numbers as text."""
    return tuple(_tile(number) for number in numbers)


def _tile(number: FirstNumber) -> TileView:
    estimate, kind = number.estimate, number.name
    if estimate.value is None:
        return TileView(
            label=number.label,
            value=ABSENT,
            interval="",
            population=f"not measurable: {estimate.reason or 'the inputs do not show it'}",
            spark=Markup(""),
        )
    has_interval = estimate.lower is not None and estimate.upper is not None
    level = f"{estimate.level * 100:.0f}{NARROW_SPACE}% interval" if has_interval else "no interval"
    population = f"{level} · n = {thousands(estimate.n)} · {estimate.population}"
    return TileView(
        label=number.label,
        value=typographic(_written(estimate.value, kind)),
        interval=_interval(estimate.lower, estimate.upper, kind),
        population=population,
        spark=spark(number.course),
    )


def _written(value: float, kind: str) -> str:
    if kind == "reward":
        return fixed(value, 3)
    return fixed(value, 1) if kind == SPEED_NUMBER else percent(value)


def _interval(lower: float | None, upper: float | None, kind: str) -> str:
    """`42.5–45.0 %`."""
    if lower is None or upper is None:
        return ""
    low, high = _written(lower, kind), _written(upper, kind)
    if high.endswith("%"):
        low = low.removesuffix("%").rstrip()
    return typographic(f"{low}–{high}")
