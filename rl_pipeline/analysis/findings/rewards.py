"""R12, R19, R28, R33: what the reward numbers are made of."""

from __future__ import annotations

from rl_pipeline.analysis.clustering import GradientGroups, gradient_groups
from rl_pipeline.analysis.findings.context import REWARD, RunContext
from rl_pipeline.analysis.findings.finding import HIGH, MEDIUM, Answer, Evidence, clear, fired, not_measurable
from rl_pipeline.analysis.findings.masking import Masking, masking_of
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.task_groups import TaskGroups, task_groups
from rl_pipeline.analysis.findings.wording import number, percent, significant
from rl_pipeline.analysis.replayed_prompts import GROUPS, pass_metric
from rl_pipeline.analysis.token_means import ALL as TOKENS
from rl_pipeline.analysis.token_means import SHORTEST
from rl_pipeline.wording import plural

STEPS_POPULATION = "canonical steps"
ZERO_VARIANCE = "reward/num_zero_variance_filtered"


@rule(
    "R12",
    "few-mixed-groups",
    severity=MEDIUM,
    title="Few groups carry gradient",
    threshold="groups with both outcomes ÷ all groups < {mixed_warn} medium, < {mixed_high} high",
    action="Mix harder and easier tasks, filter or oversample, or use a curriculum.",
    overturned_by="Outcomes by group (trial files with tasks), where only pass@k is known.",
)
def few_mixed_groups(context: RunContext) -> Answer:
    """Groups whose samples all fail or all succeed have no advantage under a group baseline.

    Reads, in this order: outcomes of trial files where groups can be told apart and agree with the logged pass@k;
    logged counts of zero-variance groups; else mean reward and pass@k, with 1 − pass@k as a certain share of all-fail
    groups and a beta-binomial estimate. Unscored samples count as they are logged. Proposals, after TRL
    `frac_reward_zero_std`.
    """
    groups = _gradient_groups(context)
    tasks = task_groups(
        context.trials, group_size=_group_size(context), logged_pass=groups.pass_at_k if groups else None
    )
    notes = (tasks.reason,) if tasks.reason else ()
    if tasks.usable:
        return _from_tasks(context, tasks)
    logged = _logged_zero_variance(context)
    if logged is not None:
        share, n = logged
        text = f"{percent(1 - share)} of {n:,.0f} groups have one outcome only; {percent(share)} are mixed"
        evidence = [context.over_steps(text, key=ZERO_VARIANCE, value=share)]
        return _mixed_answer(context, share, f"{text}.", evidence, n=round(n), population="groups", notes=notes)
    if groups is None or groups.pass_at_k is None or groups.mean_reward is None:
        return not_measurable("groups in trial files, or mean reward and pass@k in the metric blocks", notes=notes)
    return _from_pass_at_k(context, groups, notes)


def _group_size(context: RunContext) -> int | None:
    named = pass_metric(context.steps.rows)
    return named[1] if named else None


def _gradient_groups(context: RunContext) -> GradientGroups | None:
    named = pass_metric(context.steps.rows)
    if named is None or not context.steps.name_of(REWARD):
        return None
    counts = context.steps.column(*GROUPS).dropna()
    both = context.steps.rows[[named[0], REWARD]].dropna()
    advantages = context.steps.column("loss/avg_raw_advantages_abs").dropna()
    return gradient_groups(
        float(both[REWARD].mean()),
        float(both[named[0]].mean()),
        named[1],
        groups=float(counts.median()) if len(counts) else None,
        mean_absolute_advantage=float(advantages.mean()) if len(advantages) else None,
    )


def _from_tasks(context: RunContext, tasks: TaskGroups) -> Answer:
    text = (
        f"{percent(tasks.mixed)} of {tasks.groups:,} groups of {tasks.group_size} are mixed, "
        f"{percent(tasks.all_fail)} all fail, {percent(tasks.all_solved)} all succeed (trial files, unscored as 0)"
    )
    evidence = [Evidence(text=text, key="task", value=tasks.mixed)]
    return _mixed_answer(context, tasks.mixed, f"{text}.", evidence, n=tasks.groups, population="groups in trial files")


def _logged_zero_variance(context: RunContext) -> tuple[float, float] | None:
    flat, groups = context.steps.column(ZERO_VARIANCE), context.steps.column(*GROUPS)
    both = flat.notna() & groups.notna()
    whole = float(groups[both].sum())
    return (1 - float(flat[both].sum()) / whole, whole) if whole > 0 and flat[both].sum() > 0 else None


def _from_pass_at_k(context: RunContext, groups: GradientGroups, notes: tuple[str, ...]) -> Answer:
    model, n = groups.model, len(context.steps)
    assert groups.pass_at_k is not None
    certain = f"≥ {percent(groups.all_fail)} of groups all fail (1 − pass@{model.group_size})"
    evidence = [
        context.over_steps(f"{certain}; mean reward {number(groups.mean_reward, 4)}", key=REWARD, value=groups.all_fail)
    ]
    if n < context.minimum_steps:
        return not_measurable(f"{context.minimum_steps} steps with pass@k", evidence=evidence, n=n)
    if model.mixed is None:
        if groups.pass_at_k < context.value("R12", "mixed_warn"):
            return _mixed_answer(
                context, groups.pass_at_k, f"{certain}, so fewer are mixed.", evidence, n=n, notes=notes
            )
        return not_measurable(f"a model of the groups: {model.reason}", evidence=evidence, n=n, notes=notes)
    estimate = (
        f"≈ {percent(model.mixed, 0)} mixed (beta-binomial, a = {number(model.a)}, b = {number(model.b)}; "
        f"{percent(model.all_solved)} all succeed)"
    )
    per_step = f", {number(groups.mixed_per_step, 0)} of {number(groups.groups, 0)} per step" if groups.groups else ""
    evidence.append(context.over_steps(f"{estimate}{per_step}", key="beta-binomial", value=model.mixed))
    return _mixed_answer(context, model.mixed, f"{certain}; {estimate}{per_step}.", evidence, n=n, notes=notes)


def _mixed_answer(
    context: RunContext,
    mixed: float,
    summary: str,
    evidence: list[Evidence],
    *,
    n: int,
    population: str = STEPS_POPULATION,
    notes: tuple[str, ...] = (),
) -> Answer:
    if mixed >= context.value("R12", "mixed_warn"):
        return clear(summary, evidence, n=n, population=population, notes=notes)
    severity = HIGH if mixed < context.value("R12", "mixed_high") else MEDIUM
    return fired(summary, evidence, n=n, population=population, severity=severity, notes=notes)


@rule(
    "R19",
    "unscored-as-zero",
    severity=HIGH,
    title="Reward counts unscored trials as 0",
    threshold="masked ÷ trials in batch lines (else unscored ÷ trials) > {unscored_share}; or it varies: ten-step "
    "means differ by > {variation} (points) and the dispersion test gives p < {variation_p}",
    action="Print both rates; do not compare runs whose masked share differs.",
    overturned_by="A trainer that leaves masked samples out of the logged mean.",
)
def unscored_as_zero(context: RunContext) -> Answer:
    """The logged mean reward contains trials that nobody scored.

    Reads masked counts of batch lines (else outcomes of trial files), the logged mean, and scored rates. The variation
    needs counts by step. Needs the shared minimum of trials. Thresholds are proposals.
    """
    found = masking_of(context)
    if found.share is None or found.n < context.minimum_trials:
        return not_measurable(
            f"masked counts or {context.minimum_trials} trial files", n=found.n, population=found.population
        )
    evidence = _masking_evidence(context, found)
    high = found.share > context.value("R19", "unscored_share")
    varies = _varies(context, found)
    summary = (
        f"{percent(found.share)} of {found.population} are unscored and enter the mean as 0: {_rates_text(context)}."
    )
    if high or varies:
        return fired(summary, evidence, n=found.n, population=found.population)
    if found.share == 0:
        return clear("Every sample is scored.", evidence, n=found.n, population=found.population)
    if varies is None:
        missing = "the unscored share by step or time"
        return not_measurable(missing, summary=summary, evidence=evidence, n=found.n, population=found.population)
    return clear(summary, evidence, n=found.n, population=found.population)


def _varies(context: RunContext, found: Masking) -> bool | None:
    if found.range_of_means is None or found.dispersion_p is None:
        return None
    return found.range_of_means > context.value("R19", "variation") and found.dispersion_p < context.value(
        "R19", "variation_p"
    )


def _rates_text(context: RunContext) -> str:
    found = context.populations
    rows = plural(found.trained.n, "row")
    parts = [f"mean reward {number(found.trained.value)} with them"] if found.trained.value is not None else []
    mean, share = found.trained.value, context.masked.share
    parts += [f"{number(mean / (1 - share))} without"] if mean is not None and share and share < 1 else []
    parts = [f"{', '.join(parts)} (over all {rows} in the logs)"] if parts else []
    if found.scored.value is not None:
        parts.append(f"scored trials {number(found.scored.value)}")
    if found.solved_of_all.value is not None and found.upper_bound is not None:
        parts.append(f"bounds over all trials {number(found.solved_of_all.value)}–{number(found.upper_bound)}")
    return ", ".join(parts) or "rates not logged"


def _masking_evidence(context: RunContext, found: Masking) -> list[Evidence]:
    evidence = [Evidence(text=f"{found.masked:,} of {found.n:,} {found.population}", key="masked", value=found.share)]
    masked, populations = context.masked, context.populations
    if masked.step_share_min is not None:
        text = f"batch lines show {masked.step_min}–{masked.step_max} masked trials a step, at least between "
        text += f"{percent(masked.step_share_min, 0)} and {percent(masked.step_share_max, 0)} of its samples; "
        text += f"dispersion p = {significant(found.dispersion_p)}"
        evidence.append(context.over_steps(text, key="masked"))
    if found.range_of_means is not None:
        text = f"means over stretches of the run differ by {number(100 * found.range_of_means, 1)} points"
        evidence.append(Evidence(text=text, key="masked", value=found.range_of_means))
    if populations.scored.value is not None:
        trials = populations.unscored.n
        text = (
            f"{trials:,} trials: {percent(populations.unscored.value)} unscored, "
            f"{percent(populations.scored.value, 2)} of the scored solved"
        )
        evidence.append(Evidence(text=text, key="outcome", value=populations.scored.value))
    return evidence


@rule(
    "R28",
    "replayed-prompts",
    severity=MEDIUM,
    title="Repeated prompts in a batch",
    threshold="pass@k × groups is no integer within print precision while a smaller number of distinct prompts fits",
    action="Mark these steps and leave them out of comparisons; look at how buffer and data loader resume.",
    overturned_by="A batch of another size at these steps.",
)
def replayed_prompts(context: RunContext) -> Answer:
    """Batches that hold a prompt more than once, seen in the denominator of pass@k.

    Reads pass@k and the number of groups of every row. Rewards other than 0 and 1 in trial files are partial credit: a
    note, nothing is judged from the reward then. Needs one row with both numbers. By arithmetic, no threshold.
    """
    check = context.replays
    notes = _partial_credit(context)
    if check.reason is not None:
        return not_measurable(check.reason, population="step rows", notes=notes)
    n, population = check.checked, "step rows in all logs"
    if not check.replayed:
        text = f"pass@k of {check.fitting} of {n} rows fits its number of groups."
        return clear(text, n=n, population=population, notes=notes)
    rows = context.all_steps.rows
    evidence = []
    for replay in check.replayed:
        at = rows.index[(rows["global_step"] == replay.global_step) & (rows["job"] == replay.job)][0]
        fits = " or ".join(f"{solved}/{distinct}" for solved, distinct in replay.fits[:4])
        text = (
            f"step {replay.global_step}: {number(replay.pass_at_k, 4)} fits {fits}, not n/{replay.groups}: ≥ "
            f"{replay.repeats_at_least} repeats"
        )
        text += " (first step after a start)" if replay.first_after_start else ""
        evidence.append(context.at_step(text, int(at), key=check.metric, series=context.all_steps))
    steps = ", ".join(f"{replay.global_step} ({replay.fits[0][0]}/{replay.fits[0][1]})" for replay in check.replayed)
    summary = f"Steps {steps} hold repeated prompts; {check.fitting} of {n} rows fit their groups."
    return fired(summary, evidence, n=n, population=population, notes=notes)


def _partial_credit(context: RunContext) -> tuple[str, ...]:
    rewards = context.trials["reward"].dropna()
    partial = rewards[~rewards.isin([0.0, 1.0])]
    if partial.empty:
        return ()
    return (
        f"{len(partial):,} of {len(rewards):,} scored trials have partial credit; no duplicates are judged from "
        "reward.",
    )


@rule(
    "R33",
    "placeholder-tokens",
    severity=MEDIUM,
    title="Token averages contain placeholders",
    threshold="shortest response of one token in ≥ {placeholder_steps} of steps, with masked or unscored trials",
    action="Read the corrected mean; ask the trainer to leave placeholders out.",
    overturned_by="Real responses of one token.",
)
def placeholder_tokens(context: RunContext) -> Answer:
    """One-token placeholders of masked trials pull the averages of response length down.

    Reads `generate/min_num_tokens`, `generate/avg_num_tokens` and the masked share. Needs the shared minimum of steps.
    Corrected mean: (mean − s) ÷ (1 − s) with s the masked share. Threshold is a proposal.
    """
    shortest = context.steps.column(SHORTEST).dropna()
    n = len(shortest)
    if n < context.minimum_steps:
        return not_measurable(
            f"{context.minimum_steps} steps with {SHORTEST}; there are {n}", n=n, population=STEPS_POPULATION
        )
    share = float((shortest == 1).mean())
    masking = masking_of(context)
    text = f"the shortest response has one token in {percent(share)} of steps"
    evidence = [context.over_steps(text, key=SHORTEST, value=share)]
    if share < context.value("R33", "placeholder_steps"):
        return clear(f"{text.capitalize()}.", evidence, n=n, population=STEPS_POPULATION)
    if masking.share is None:
        return not_measurable("masked counts or trial files", evidence=evidence, n=n, population=STEPS_POPULATION)
    if masking.share == 0:
        return clear(f"{text.capitalize()}, and no sample is masked.", evidence, n=n, population=STEPS_POPULATION)
    summary, corrected = _corrected_tokens(context)
    evidence += [Evidence(text=summary, key=TOKENS, value=corrected)]
    return fired(f"{text.capitalize()}; {summary}.", evidence, n=n, population=STEPS_POPULATION)


def _corrected_tokens(context: RunContext) -> tuple[str, float | None]:
    means = context.tokens
    if means.logged is None or means.corrected is None:
        return f"no corrected mean: {means.reason or 'not logged'}", None
    rows = plural(len(context.all_steps), "row")
    text = f"over all {rows} in the logs average tokens {number(means.logged, 0)}, "
    text += f"without the placeholders ≈ {number(means.corrected, 0)}"
    if means.corrected_zero is not None:
        text += (
            f"; samples without reward {number(means.logged_zero, 0)}, corrected ≈ {number(means.corrected_zero, 0)}"
        )
    if means.failures_longer:
        text += f", longer than those with reward ({number(means.logged_non_zero, 0)})"
    return text, means.corrected
