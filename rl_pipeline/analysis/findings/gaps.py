"""R36: time between two blocks of a job that nothing explains."""

from __future__ import annotations

import pandas as pd

from rl_pipeline.analysis.findings.context import STEP, RunContext
from rl_pipeline.analysis.findings.finding import MEDIUM, Answer, clear, fired, not_measurable
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number
from rl_pipeline.analysis.waterfall import gaps_between_blocks

# Spans that may lie between the end of a step's timer and the next block.
BESIDE = (
    "timing/save_checkpoints",
    "timing/save_hf_model",
    "timing/cleanup_old_checkpoints",
    "timing/eval",
    "timing/update_ref_with_policy",
)


@rule(
    "R36",
    "gap-between-steps",
    severity=MEDIUM,
    title="Time between steps that nothing explains",
    threshold="time between two blocks of a job − its known spans > {gap_ratio} × the median step time",
    action="Attribute it: a save, a sync, a hang, a pre-empted node.",
    overturned_by="A span that the trainer does not time.",
)
def gap_between_steps(context: RunContext) -> Answer:
    """Holes in time inside a job.

    Reads the times of metric blocks, `timing/step` and the spans that may lie beside it. Time between jobs is queue
    time and not judged here. Needs clocks and the shared minimum of steps. Threshold is a proposal.
    """
    rows, median = context.all_steps.rows, context.time.median_step_seconds
    gaps = _unexplained(context)
    n = int(gaps.notna().sum())
    if median is None or n < context.minimum_steps:
        return not_measurable("times of the metric blocks", n=n, population="pairs of successive blocks")
    large = gaps[gaps > context.value("R36", "gap_ratio") * median]
    if large.empty:
        in_all = sum(gap.seconds for gap in gaps_between_blocks(rows))
        summary = (
            f"No gap: at most {number(float(gaps.max()), 1)} s unexplained between two blocks, "
            f"{number(in_all, 1)} s over all {n} pairs; median step {number(median, 0)} s."
        )
        return clear(summary, n=n, population="pairs of successive blocks")
    evidence = [
        context.at_step(
            f"{number(float(gap), 0)} s before step {rows['global_step'].iloc[row]}", row, series=context.all_steps
        )
        for row, gap in zip(large.index.astype(int), large, strict=True)
    ]
    count = "1 gap" if len(large) == 1 else f"{len(large)} gaps"
    summary = f"{count} of {number(float(large.sum()), 0)} s together; median step {number(median, 0)} s."
    return fired(summary, evidence, n=n, population="pairs of successive blocks")


def _unexplained(context: RunContext) -> pd.Series[float]:
    rows = context.all_steps.rows
    times = pd.to_datetime(rows["logged_at"])
    before = times.groupby(rows["link"]).shift(1)
    known = context.all_steps.column(STEP)
    for name in BESIDE:
        # A save is logged with the step it follows, so its time lies before the next block.
        span = context.all_steps.column(name)
        known = known + pd.concat([span, span.groupby(rows["link"]).shift(1)], axis=1).max(axis=1).fillna(0.0)
    return (times - before).dt.total_seconds() - known
