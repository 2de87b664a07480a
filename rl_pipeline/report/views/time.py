"""Where the time went: the closed tree of the step, the waterfall of the run, what restarts cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rl_pipeline.analysis.geometry import Geometry
from rl_pipeline.analysis.outliers import OutlyingStep
from rl_pipeline.analysis.restarts import RestartCosts
from rl_pipeline.analysis.summary import TimeReport
from rl_pipeline.analysis.time_accounting import Span, StepTime, Wait
from rl_pipeline.analysis.waterfall import Waterfall
from rl_pipeline.report.formatting import count, duration, fixed, p_equals, percent, signed
from rl_pipeline.report.views.growth import growth_block
from rl_pipeline.report.views.section import Block, SectionView, not_measurable, section, sentence
from rl_pipeline.report.views.table import table
from rl_pipeline.wording import plural

GAPS_SHOWN = 5
SHORTEST_GAP_S = 60.0  # shorter ones are clock rounding
INDENT = "\u2003"  # an em space: Markdown drops ordinary leading blanks


def time_section(report: TimeReport) -> SectionView | None:
    """The tree of the step, the wait, the waterfall, restarts, growth, stragglers."""
    blocks = (
        _step_time(report.steps),
        _wait(report.steps.wait, report.steps) if report.steps.wait else None,
        _waterfall(report.waterfall, report.geometry),
        _restarts(report.restarts),
        *(growth_block(growth) for growth in report.growth if growth.links or growth.slope.value is not None),
        _stragglers(report.stragglers),
    )
    return section("Time", blocks)


def _step_time(steps: StepTime) -> Block:
    heading = f"The Step, {steps.population}"
    if steps.step_seconds is None:
        return not_measurable(heading, steps.reason)
    rows: list[tuple[str, ...]] = [("step", fixed(steps.step_seconds, 1), percent(1.0), count(steps.rows), "", "")]
    rows += [row for part in steps.parts for row in _span_rows(part, 1)]
    rows.append((f"{INDENT}unattributed", *_amount(steps.unattributed_seconds, steps.step_seconds), "", "", ""))
    rows += [row for part in steps.beside for row in _span_rows(part, 0)]
    notes = [
        f"The parts of the step and what no timer explains add up to it "
        f"(mean difference {fixed(steps.unattributed_per_step, 4)} s of {fixed(steps.median_step_seconds, 1)} s)."
    ]
    if steps.beside:
        names = ", ".join(part.name for part in steps.beside)
        notes.append(
            f"Outside the step timer: {names}; their share is of {duration(steps.accounted_seconds)} accounted in all."
        )
    if steps.rows_without:
        notes.append(f"{plural(steps.rows_without, 'row')} without a step time left out.")
    titles = "Part | Seconds | Share | Steps | Mean (s) | Longest (s)"
    return Block(heading=heading, table=table(titles, rows), notes=tuple(notes))


def _span_rows(part: Span, depth: int) -> Iterator[tuple[str, ...]]:
    yield (
        INDENT * depth + part.name,
        fixed(part.seconds, 1),
        percent(part.share),
        count(part.rows),
        fixed(part.mean_seconds, 1),
        f"{fixed(part.max_seconds, 1)} (step {part.max_step})",
    )
    for child in part.children:
        yield from _span_rows(child, depth + 1)


def _amount(seconds: float | None, whole: float) -> tuple[str, str]:
    return fixed(seconds, 1), percent(None if seconds is None else seconds / whole)


def _wait(wait: Wait, steps: StepTime) -> Block:
    notes = [
        f"The trainer waits for rollouts {percent(wait.share)} of the step time (ratio of sums; mean of the steps' own "
        f"shares {percent(wait.mean_share)}, median {percent(wait.median_share)}; n = {wait.n} steps).",
        f"Without any wait the run could be at most {fixed(wait.ceiling, 2)} times faster: an upper bound.",
        f"Wait against step time: r = {fixed(wait.correlation, 3)}, "
        f"rank correlation {fixed(wait.rank_correlation, 3)}. "
        f"The rest of a step takes {fixed(wait.other_mean, 1)} ± {fixed(wait.other_spread, 1)} s "
        f"(median {fixed(wait.other_median, 1)} s).",
        f"Reward against wait: rank correlation {fixed(wait.reward_rank_correlation, 3)} "
        f"({p_equals(wait.reward_p_value)}).",
    ]
    return Block(heading=f"Waiting for Rollouts, {steps.population}", notes=tuple(notes))


def _waterfall(fall: Waterfall, geometry: Geometry) -> Block:
    heading = "From the First to the Last Second"
    if fall.total_seconds is None:
        return not_measurable(heading, fall.reason)
    rows = [(part.name, part.kind, fixed(part.seconds, 1), percent(part.share)) for part in fall.parts]
    rows.append(("total", "", fixed(fall.total_seconds, 1), percent(1.0)))
    notes = [
        f"Covers {fall.covers}: {duration(fall.total_seconds)}.",
        f"Goodput {percent(fall.goodput)} (steps that count, without the slow start after a restart); "
        f"training alone {percent(fall.training_share)}; {fixed(fall.steps_per_hour, 2)} steps per hour.",
    ]
    evidence = sentence(geometry.evidence)
    if fall.gpus is not None:
        hours = fixed(fall.gpu_hours, 1)
        notes.append(f"{plural(fall.gpus, 'GPU')}: {hours} GPU-hours inside the jobs. {evidence}")
    else:
        notes.append(f"GPU-hours: not measurable, {evidence}")
    notes += [
        f"{gap.job}: {duration(gap.seconds)} after step {gap.after_step} that no known span explains."
        for gap in fall.gaps[:GAPS_SHOWN]
        if gap.seconds >= SHORTEST_GAP_S
    ]
    return Block(heading=heading, table=table("Part | Kind | Seconds | Share", rows, words=2), notes=tuple(notes))


def _restarts(costs: RestartCosts) -> Block | None:
    if not costs.starts:
        return None
    rows = (
        (
            start.job,
            "restart" if start.is_restart else "fresh start",
            count(start.steps),
            fixed(start.excess_seconds, 1),
            fixed(start.median_seconds, 1),
            fixed(start.mean_reward, 4),
        )
        for start in costs.starts
    )
    notes = [
        f"Slow first steps cost {_cost(costs.restarts_seconds, costs.restarts_share)} of the step time of all "
        f"rows in the logs after restarts, "
        f"{_cost(costs.all_starts_seconds, costs.all_starts_share)} over all starts; "
        f"steps trained again cost {_cost(costs.redone_seconds, costs.redone_share)}."
    ]
    bias = costs.reward_bias
    if bias.mean_difference.value is not None:
        notes.append(
            f"The reward of the first steps after a start differs by {signed(bias.mean_difference.value, 3)} "
            f"from the other steps (n = {bias.n_a} against {bias.n_b}; Welch {p_equals(bias.welch_p)}, Mann–Whitney "
            f"{p_equals(bias.mann_whitney_p)}); {len(costs.biased_links)} of {plural(len(costs.starts), 'link')}: "
            f"{', '.join(costs.biased_links) or 'none'}."
        )
    titles = "Link | Start | First Steps | Excess over Median (s) | Median Step (s) | Reward of First Steps"
    return Block(heading="Starts and Restarts", table=table(titles, rows, words=2), notes=tuple(notes))


def _cost(seconds: float | None, share: float | None) -> str:
    return f"{duration(seconds)} ({percent(share)})"


def _stragglers(steps: Sequence[OutlyingStep]) -> Block | None:
    if not steps:
        return None
    rows = (
        (
            count(step.global_step),
            step.job,
            fixed(step.value, 1),
            fixed(step.median, 1),
            fixed(step.excess, 1),
            fixed(step.z, 1),
        )
        for step in steps
    )
    titles = "Step | Link | Seconds | Median of the Link (s) | Excess (s) | Robust z"
    return Block(heading="Straggler Steps", table=table(titles, rows, words=0))
