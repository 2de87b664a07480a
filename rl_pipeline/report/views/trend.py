"""Is it learning: trends with their intervals, changes of level, and the smallest gain the run could have shown."""

from __future__ import annotations

from rl_pipeline.analysis.estimates import Estimate
from rl_pipeline.analysis.training_trends import MetricTrend, TrainingTrends
from rl_pipeline.report.formatting import ABSENT, count, fixed, interval, p_equals, p_value, percent, signed
from rl_pipeline.report.views.section import Block, SectionView, not_measurable, section, sentence
from rl_pipeline.report.views.table import table
from rl_pipeline.wording import plural

STEPS = 10  # slopes are given per ten steps


def trend_section(trends: TrainingTrends) -> SectionView | None:
    """Reward, pass@k, change of level, power; None when neither is logged."""
    found = [entry for entry in (trends.reward, trends.pass_at_k) if entry is not None]
    blocks = [block for entry in found for block in (_trend(entry), _level_change(entry), _power(entry))]
    return section("Is It Learning", blocks)


def _trend(entry: MetricTrend) -> Block:
    trends = [
        (entry.settled.population, entry.settled),
        (entry.all_steps.population, entry.all_steps),
        *((link.job, link.trend) for link in entry.links),
    ]
    rows = (
        (
            name,
            count(found.slope.n),
            _per_ten(found.slope),
            fixed(found.test.tau, 3),
            p_value(found.test.p_value),
            p_value(found.test.corrected_p_value),
        )
        for name, found in trends
    )
    reasons = tuple(f"{name}: {sentence(found.slope.reason)}" for name, found in trends if found.slope.reason)
    titles = "Rows | n | Change per 10 Steps (95 % interval) | Kendall τ | p | p, autocorrelation corrected"
    return Block(
        heading=f"Trend of {entry.metric}",
        table=table(titles, rows),
        notes=(
            f"Mean {_mean(entry.whole)} over all steps that count, {_mean(entry.recent)} over the "
            f"{entry.recent.population}.",
            "Theil–Sen slope with Sen's interval; Mann–Kendall test, corrected after Hamed and Rao. "
            "The first steps after a start are biased, so the rows without them are the headline.",
            *reasons,
        ),
    )


def _mean(found: Estimate) -> str:
    bounds = interval(found.lower, found.upper, 3)
    return f"{fixed(found.value, 3)}{'' if bounds == ABSENT else f' {bounds}'}"


def _per_ten(slope: Estimate) -> str:
    if slope.value is None:
        return ABSENT
    bounds = "" if slope.lower is None or slope.upper is None else f" {_bounds(slope.lower, slope.upper)}"
    return f"{signed(slope.value * STEPS, 4)}{bounds}"


def _bounds(low: float, high: float) -> str:
    return f"[{signed(low * STEPS, 4)}, {signed(high * STEPS, 4)}]"


def _level_change(entry: MetricTrend) -> Block | None:
    change = entry.level_change
    if change.after_step is None:
        return None
    restart = f"; a restart stands there, at step {change.restart_step}: cause open" if change.restart_step else ""
    return Block(
        heading=f"Change of Level of {entry.metric}",
        notes=(
            f"Most likely after step {change.after_step}: mean {fixed(change.mean_before, 3)} before, "
            f"{fixed(change.mean_after, 3)} after (Pettitt, {p_equals(change.p_value)}, n = {change.n}{restart}).",
        ),
    )


def _power(entry: MetricTrend) -> Block:
    gain, heading = entry.detectable, f"Smallest Gain in {entry.metric} the Run Could Have Shown"
    if gain.over_run is None:
        return not_measurable(heading, gain.reason)
    notes = [
        f"Over the whole run {fixed(gain.over_run, 3)} (power {percent(gain.power, 0)}, two-sided α = {gain.alpha:g}, "
        f"residual SD {fixed(gain.residual_spread, 4)}, {plural(gain.n, 'step')}).",
        *(f"Between two windows of {window} steps: {fixed(size, 3)}." for window, size in gain.between_windows.items()),
    ]
    return Block(heading=heading, notes=tuple(notes))
