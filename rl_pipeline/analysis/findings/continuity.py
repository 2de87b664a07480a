"""R13, R14, R25, R29, R30: how steps follow each other, in time and across links."""

from __future__ import annotations

from itertools import pairwise

from rl_pipeline.analysis.endings import FATAL_STATES, LinkEnd
from rl_pipeline.analysis.findings.context import STEP, WAIT, RunContext
from rl_pipeline.analysis.findings.finding import (
    HIGH,
    INFO,
    LOW,
    MEDIUM,
    Answer,
    Evidence,
    clear,
    fired,
    not_measurable,
)
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent, signed, significant, steps_text
from rl_pipeline.analysis.growth import Growth, growth_within_links
from rl_pipeline.analysis.outliers import stragglers
from rl_pipeline.wording import plural

STEPS_POPULATION = "canonical steps"
LINKS_POPULATION = "links of the chain"
UNKNOWN_STATES = ("unknown", "running")
PLANNED = "planned_steps"
BIAS_LEVEL = 0.05


@rule(
    "R13",
    "growth-within-links",
    severity=MEDIUM,
    title="Step or wait time grows within a link",
    threshold="links of ≥ {link_steps}, warm-up left out, pooled: Mann–Kendall p < {p_value}, and slope × length ÷ "
    "median of the link ≥ {growth}",
    action="Look for leaks: sandboxes and sessions that stay, memory of the driver, growing trials. Measure them at "
    "the start and the end of the next link.",
    overturned_by="Trials that grow for a good reason (longer responses that earn reward) at the same rate.",
)
def growth_in_links(context: RunContext) -> Answer:
    """Time that rises inside links and falls back at a restart points at something that accumulates.

    Reads `timing/step` and `timing/wait_for_generation_buffer` by step inside links long enough; scores and slopes are
    pooled over links, never across a restart. Thresholds are proposals.
    """
    minimum = context.count("R13", "link_steps")
    found = [growth_within_links(context.steps.rows, name, minimum_steps=minimum) for name in (WAIT, STEP)]
    measured = [growth for growth in found if growth.reason is None]
    if not measured:
        return not_measurable(f"a link of {minimum} steps with {STEP} or {WAIT}", population=STEPS_POPULATION)
    grown = [growth for growth in measured if _grows(context, growth)]
    n = measured[0].slope.n
    evidence = [
        context.over_steps(_growth_text(growth), key=growth.metric, value=growth.slope.value) for growth in measured
    ]
    if not grown:
        return clear(
            f"No growth that matters: {_growth_text(measured[0])}.", evidence, n=n, population=STEPS_POPULATION
        )
    evidence += _reset_evidence(grown[0])
    texts = "; ".join(_growth_text(growth) for growth in grown)
    summary = f"Time grows within links: {texts}. {_reset_text(grown[0])} Cause not measured."
    return fired(summary, evidence, n=n, population=STEPS_POPULATION)


def _grows(context: RunContext, growth: Growth) -> bool:
    if growth.p_value is None or growth.growth is None or not growth.slope.value or growth.slope.value <= 0:
        return False
    return growth.p_value < context.value("R13", "p_value") and growth.growth >= context.value("R13", "growth")


def _growth_text(growth: Growth) -> str:
    slope = growth.slope
    interval = f"[{number(slope.lower, 1)}, {number(slope.upper, 1)}]"
    return (
        f"{growth.metric} {signed(slope.value, 1)} s per step {interval}, τ = {number(growth.tau, 3)}, p = "
        f"{significant(growth.p_value)}, {percent(growth.growth, 0)} of the median over a link"
    )


def _reset_text(growth: Growth) -> str:
    if not growth.resets:
        return "Whether it falls back at a restart needs two long links."
    fell = [reset for reset in growth.resets if reset.median_after < reset.median_before]
    return f"It falls back at {len(fell)} of {plural(len(growth.resets), 'restart')} between long links."


def _reset_evidence(growth: Growth) -> list[Evidence]:
    return [
        Evidence(
            text=f"restart at step {reset.restart_step}: median {number(reset.median_before, 0)} s before, "
            f"{number(reset.median_after, 0)} s after (p = {significant(reset.p_value)})",
            step_range=(reset.restart_step, reset.restart_step),
            key=growth.metric,
            value=reset.median_after,
        )
        for reset in growth.resets
    ]


@rule(
    "R14",
    "restart-overhead",
    severity=MEDIUM,
    title="Restarts cost time",
    threshold="excess of the first steps after restarts over the link's median, and redone steps, ÷ step time > "
    "{overhead_share}",
    action="Save the generation buffer with the checkpoint, use longer links, save closer to the end of a link.",
    overturned_by="First steps that were long for another reason, such as compilation that every start needs.",
)
def restart_overhead(context: RunContext) -> Answer:
    """Step time lost to restarts: slow first steps and steps trained twice.

    Reads `timing/step` of every row in the logs. The fresh start pays the same excess; it is told apart and does not
    count. Needs the shared minimum of steps. Start-up and queue gaps are told where clocks exist, elsewhere. Threshold
    is a proposal after goodput accounting.
    """
    costs = context.restarts
    n = len(costs.starts)
    restarts = [start for start in costs.starts if start.is_restart]
    if not costs.step_seconds or len(context.all_steps) < context.minimum_steps:
        return not_measurable(f"{context.minimum_steps} steps with {STEP} above 0", n=n, population=LINKS_POPULATION)
    evidence = [
        Evidence(
            text=f"{start.job}: first {start.steps} steps {number(start.excess_seconds, 1)} s over the median "
            f"{number(start.median_seconds, 1)} s ({'restart' if start.is_restart else 'fresh start, not counted'})",
            job=start.job,
            file=context.file_of(start.job),
            key=STEP,
            value=start.excess_seconds,
        )
        for start in costs.starts
    ]
    if not restarts and not costs.redone_seconds:
        return clear("No restart in these logs.", evidence, n=n, population=LINKS_POPULATION)
    if costs.restarts_seconds is None:
        return not_measurable("settled steps after a restart to compare with", evidence=evidence, n=n)
    lost = max(costs.restarts_seconds, 0.0) + (costs.redone_seconds or 0.0)
    share = lost / costs.step_seconds
    summary = (
        f"{'1 restart costs' if len(restarts) == 1 else f'{len(restarts)} restarts cost'} "
        f"{number(costs.restarts_seconds, 0)} s in {'its' if len(restarts) == 1 else 'their'} first steps and "
        f"{number(costs.redone_seconds, 1)} s of redone steps: {percent(share)} of step time (all starts "
        f"{number(costs.all_starts_seconds, 0)} s, {percent(costs.all_starts_share)})."
    )
    make = fired if share > context.value("R14", "overhead_share") else clear
    return make(summary, evidence, n=n, population=LINKS_POPULATION, notes=_bias_notes(context))


def _bias_notes(context: RunContext) -> tuple[str, ...]:
    bias, biased = context.restarts.reward_bias, context.restarts.biased_links
    shown = min(bias.welch_p or 1.0, bias.mann_whitney_p or 1.0) < BIAS_LEVEL
    if bias.mean_difference.value is None or not biased or not shown:
        return ()
    p_values = f"Welch p = {significant(bias.welch_p)}, Mann–Whitney p = {significant(bias.mann_whitney_p)}"
    return (
        f"Reward of the first steps of each link differs by {signed(bias.mean_difference.value)} from the others "
        f"({p_values}); {len(biased)} of {len(context.restarts.starts)} links lie above the usual range "
        f"({', '.join(biased)}).",
    )


@rule(
    "R25",
    "straggler-steps",
    severity=LOW,
    title="Straggler steps",
    threshold="robust z of the step time within its link > {z} and > {median_ratio} × the link's median, warm-up "
    "left out; links of ≥ {link_steps}",
    action="Find the slowest trials of these steps.",
    overturned_by="An evaluation or a save that the step timer includes at these steps.",
)
def straggler_steps(context: RunContext) -> Answer:
    """Single steps far slower than their link.

    Reads `timing/step` of canonical steps, links with enough settled steps. z uses the median absolute deviation
    (Iglewicz and Hoaglin 1993); the ratio is a proposal.
    """
    settled = context.steps.rows[~context.steps.warmup & context.steps.column(STEP).notna()]
    sizes = settled.groupby("link")["job"].transform("size")
    usable = settled[sizes >= context.count("R25", "link_steps")] if len(settled) else settled
    if usable.empty:
        return not_measurable(
            f"a link of {context.count('R25', 'link_steps')} settled steps with {STEP}", n=len(settled)
        )
    found = stragglers(usable, z=context.value("R25", "z"), ratio=context.value("R25", "median_ratio"))
    n = len(usable)
    if not found:
        return clear(f"No straggler among {n} steps.", n=n, population="settled canonical steps")
    evidence = []
    for step in found:
        row = int(context.steps.rows.index[context.steps.steps == step.global_step][0])
        text = (
            f"step {step.global_step}: {number(step.value, 1)} s, {signed(step.excess, 1)} s over the median (z "
            f"{number(step.z, 1)})"
        )
        evidence.append(context.at_step(text, row, key=STEP))
    lost = sum(step.excess for step in found)
    steps = steps_text(step.global_step for step in found)
    each = ", ".join(f"{signed(step.excess, 0)} s" for step in found)
    summary = f"Steps {steps} stand out by {each}: {number(lost, 0)} s together."
    return fired(summary, evidence, n=n, population="settled canonical steps")


@rule(
    "R29",
    "step-sequence",
    severity=INFO,
    title="Duplicate, missing or out-of-order steps",
    threshold="any duplicate, hole, disorder, lost block, or step past the planned maximum",
    action="Use the canonical series (the link whose weights went on); the cost of what was thrown away is told here.",
    overturned_by="A log that is not in the inputs.",
)
def step_sequence(context: RunContext) -> Answer:
    """Whether the global steps count up once.

    Reads `trainer/global_step` of every block, resume lines, step markers and the planned number of steps. Needs one
    step. A chain that starts above 1 is told as "the earlier part is not in the inputs".
    """
    lineage = context.lineage
    if not lineage.rows:
        return not_measurable("a training block")
    evidence = [*_duplicate_evidence(context), *_hole_evidence(context), *_past_plan(context)]
    notes = tuple(note[0].upper() + note[1:] + "." for note in lineage.notes)
    n, population = lineage.rows, "step rows in all logs"
    if not evidence:
        summary = f"Steps {lineage.first_step}–{lineage.last_step} occur once each."
        return clear(summary, n=n, population=population, notes=notes)
    parts = []
    if lineage.thrown_away:
        steps = steps_text(step.global_step for step in lineage.thrown_away)
        parts.append(
            f"{len(lineage.thrown_away)} trained in vain (step {steps}, {number(lineage.thrown_away_seconds, 1)} s)"
        )
    missing = sum(gap.steps for gap in lineage.gaps)
    parts += [f"{missing} missing"] if missing else []
    parts += [f"{len(lineage.lost_blocks)} without a readable block"] if lineage.lost_blocks else []
    parts += [f"{len(lineage.disordered)} out of order"] if lineage.disordered else []
    parts += ["some past the planned maximum"] if _past_plan(context) else []
    summary = f"{lineage.rows} step rows, {lineage.distinct_steps} distinct steps: {'; '.join(parts)}."
    return fired(summary, evidence, n=n, population=population, notes=notes)


def _duplicate_evidence(context: RunContext) -> list[Evidence]:
    return [
        Evidence(
            text=f"step {step.global_step} of {step.job} was thrown away: reward {number(step.reward, 4)} (kept "
            f"{number(step.kept_reward, 4)} of {step.kept_job or 'no later link'}), {number(step.seconds, 1)} s "
            f"(kept {number(step.kept_seconds, 1)} s), {number(step.samples, 0)} samples",
            job=step.job,
            file=context.file_of(step.job),
            line=step.line,
            step_range=(step.global_step, step.global_step),
            key=STEP,
            value=step.seconds,
        )
        for step in context.lineage.thrown_away
    ]


def _hole_evidence(context: RunContext) -> list[Evidence]:
    found = [
        Evidence(
            text=f"steps {gap.first_step}–{gap.last_step} are missing: {gap.explanation}",
            step_range=(gap.first_step, gap.last_step),
        )
        for gap in context.lineage.gaps
    ]
    for block in context.lineage.lost_blocks:
        text = f"step {block.global_step}: {block.evidence}{'' if block.finished else ' (the step did not finish)'}"
        found.append(context.at_line(text, block.job, block.line))
    for job, step in context.lineage.disordered:
        found.append(
            Evidence(
                text=f"step {step} follows a higher one", job=job, file=context.file_of(job), step_range=(step, step)
            )
        )
    return found


def _past_plan(context: RunContext) -> list[Evidence]:
    events = context.frames.job_events
    planned = events[(events["kind"] == PLANNED) & (events["name"] == "training") & events["value"].notna()]
    if planned.empty or context.lineage.last_step is None:
        return []
    last = planned.iloc[-1]
    limit = int(last["value"])
    if context.lineage.last_step <= limit:
        return []
    text = f"step {context.lineage.last_step} is past the planned {limit}"
    return [context.at_line(text, last["job"], last["line"], value=float(limit))]


@rule(
    "R30",
    "repeated-failure",
    severity=HIGH,
    title="The same failure again",
    threshold="the same signature (exception and last own frame, or out of memory, or node failure) in ≥ {repeats} "
    "in a row",
    action="Repair the cause before submitting again; the same death twice is deterministic.",
    overturned_by="Different causes behind the same exception.",
)
def repeated_failure(context: RunContext) -> Answer:
    """Successive links die of the same thing.

    Reads how each link ended and the last crash line before that. A time limit, a cancellation or a preemption is no
    death. Needs two links; an end that nobody saw cannot be compared. Threshold from operating notes.
    """
    endings = context.lineage.endings
    n = len(endings)
    evidence = [
        context.at_line(f"{end.job}: {end.state}{f', {end.signature}' if end.signature else ''}", end.job, end.line)
        for end in endings
    ]
    repeats = [death for death in context.lineage.repeated_deaths if len(death.jobs) >= context.count("R30", "repeats")]
    if repeats:
        worst = max(repeats, key=lambda death: len(death.jobs))
        summary = f"{len(worst.jobs)} links in a row died of the same: {worst.signature} ({', '.join(worst.jobs)})."
        return fired(summary, evidence, n=n, population=LINKS_POPULATION)
    if n == 0:
        return not_measurable("a job log")
    if n == 1:
        return clear("One link, nothing to repeat.", evidence, n=n, population=LINKS_POPULATION)
    unclear = [_may_repeat(before, after) for before, after in pairwise(endings)]
    if any(unclear):
        jobs = [end.job for end in endings if _unclear(end.state, end.signature)]
        return not_measurable(f"how {', '.join(jobs)} ended", evidence=evidence, n=n, population=LINKS_POPULATION)
    return clear("No failure repeats in successive links.", evidence, n=n, population=LINKS_POPULATION)


def _may_repeat(before: LinkEnd, after: LinkEnd) -> bool:
    """Whether two deaths could be the same for all that is known."""
    unclear = [_unclear(end.state, end.signature) for end in (before, after)]
    deaths = [end.signature is not None for end in (before, after)]
    return any(unclear) and all(u or d for u, d in zip(unclear, deaths, strict=True))


def _unclear(state: str, signature: str | None) -> bool:
    """An end nobody saw, or a death whose cause is not in the log."""
    return signature is None and state in (*UNKNOWN_STATES, *FATAL_STATES)
