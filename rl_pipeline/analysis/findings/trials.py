"""R15, R16, R20, R21, R38: what trials ran into, what the verifier did, and how many were wasted."""

from __future__ import annotations

import pandas as pd

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.failures import Failures, failures_of
from rl_pipeline.analysis.findings.finding import HIGH, LOW, MEDIUM, Answer, Evidence, clear, fired, not_measurable
from rl_pipeline.analysis.findings.logic import any_of
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.task_gains import chance_of_top_share, task_gains, top_share
from rl_pipeline.analysis.findings.wording import number, percent
from rl_pipeline.analysis.lineage import SAMPLES
from rl_pipeline.analysis.trial_outcomes import counts_by_task
from rl_pipeline.schema import AGENT_LIMIT, CONTEXT, UNSCORED, VERIFIER
from rl_pipeline.wording import plural

POPULATION = "training trials"
NO_TRIALS = "trial files (or batch lines with exception breakdowns)"
TRUNCATED = ("generate/trajectories_truncated", "generate/num_timeout_trajectories")


@rule(
    "R15",
    "context-overflow",
    severity=MEDIUM,
    title="Trials overflow the context",
    threshold="trials that end by a full context ÷ all trials > {overflow_share}",
    action="Longer context, summarisation, or a reward of 0 for such trials instead of masking; report the bias.",
    overturned_by="Overflows that come from a few broken tasks only.",
)
def context_overflow(context: RunContext) -> Answer:
    """Share of trials that end because the model's context is full.

    Reads exception classes of trial files; without them the exception breakdowns of the log, which are a lower bound.
    Needs the shared minimum of trials. Overflow is no cause of a hang; it matters because masking it flatters reward.
    Threshold is a proposal.
    """
    found = failures_of(context, CONTEXT)
    notes = _overflow_notes(context)
    return _share_answer(
        context, found, limit=context.value("R15", "overflow_share"), what="end by a full context", notes=notes
    )


def _overflow_notes(context: RunContext) -> tuple[str, ...]:
    over = context.trials[context.trials["exception_class"] == CONTEXT]
    if over.empty:
        return ()
    unscored = float((over["outcome"] == UNSCORED).mean())
    turns = over["n_turns"].dropna().astype("float64")
    text = f"{percent(unscored)} of them are unscored, so they are left out of the scored rate"
    mean = f"; mean {number(float(turns.mean()), 1)} turns (n = {len(turns):,})" if len(turns) else ""
    return (f"{text}{mean}.",)


def _share_answer(
    context: RunContext, found: Failures, *, limit: float, what: str, notes: tuple[str, ...] = ()
) -> Answer:
    if found.share is None or found.trials < context.minimum_trials:
        return not_measurable(f"{context.minimum_trials} trials; there are {found.trials}: {NO_TRIALS}", n=found.trials)
    bound = " (lower bound)" if found.is_bound else ""
    text = f"{found.count:,} of {found.trials:,} trials{bound} {what}: {percent(found.share)}"
    evidence = [Evidence(text=f"{found.text or 'none'} — {found.source}", key="exception_type", value=found.share)]
    if found.share > limit:
        return fired(f"{text}.", evidence, n=found.trials, population=POPULATION, notes=notes)
    if found.is_bound:
        missing = "trial files: the log's breakdowns are a lower bound"
        return not_measurable(
            missing, summary=f"{text}; the true share is not known.", evidence=evidence, n=found.trials
        )
    return clear(f"{text}.", evidence, n=found.trials, population=POPULATION, notes=notes)


@rule(
    "R16",
    "truncation-and-timeouts",
    severity=MEDIUM,
    title="Trials are cut short",
    threshold="agent time-outs ÷ trials > {truncated_share}, or logged truncated responses ÷ samples > "
    "{truncated_share}",
    action="Look at time and length limits, and set a limit on turns.",
    overturned_by="Time-outs that still earn a reward at the usual rate.",
)
def cut_short(context: RunContext) -> Answer:
    """Share of trials that hit the agent's time limit, and of responses cut at the length limit where that is logged.

    Reads exception types of trial files (else breakdowns, a lower bound), and counts of truncated trajectories in the
    metric blocks. Needs the shared minimum of trials. Threshold is a proposal; one public case stood at 55 %.
    """
    found = failures_of(context, AGENT_LIMIT, timeouts_only=True)
    limit = context.value("R16", "truncated_share")
    answer = _share_answer(context, found, limit=limit, what="hit the agent's time limit")
    share, key = _truncated_share(context)
    if share is None:
        return answer
    text = f"truncated responses {percent(share)} of samples"
    evidence = [*answer.evidence, context.over_steps(text, key=key, value=share)]
    if share > limit:
        return fired(f"{text.capitalize()}. {answer.summary}", evidence, n=found.trials, population=POPULATION)
    if answer.status == "not_measurable":
        return not_measurable(
            *answer.missing, summary=f"{answer.summary} {text.capitalize()}.", evidence=evidence, n=answer.n
        )
    make = fired if answer.status == "fired" else clear
    return make(f"{answer.summary} {text.capitalize()}.", evidence, n=found.trials, population=POPULATION)


def _truncated_share(context: RunContext) -> tuple[float | None, str]:
    key, samples = context.steps.name_of(*TRUNCATED), context.steps.name_of(*SAMPLES)
    if key is None or samples is None:
        return None, TRUNCATED[0]
    whole = float(context.steps.column(samples).sum())
    return (float(context.steps.column(key).sum()) / whole if whole else None), key


@rule(
    "R20",
    "verifier-faults",
    severity=MEDIUM,
    title="Verifier faults",
    threshold="trials with a verifier exception ÷ all trials > {fault_share}; or a verifier that ends after its "
    "trial was released in ≥ {race_trials} and ≥ {race_share} of trials",
    action="List the tasks with the highest share, repair their images or tests, and verify again.",
    overturned_by="Faults of one broken task that is taken out.",
)
def verifier_faults(context: RunContext) -> Answer:
    """Trials that could not be graded, or were graded after their sandbox was released.

    Reads exception classes and phase times of trial files; without them the breakdowns of the log, a lower bound. Needs
    the shared minimum of trials. Shares are proposals; the race is expected to be 0 (operating notes).
    """
    found = failures_of(context, VERIFIER)
    answer = _share_answer(
        context,
        found,
        limit=context.value("R20", "fault_share"),
        what="have a verifier fault",
        notes=_worst_tasks(context),
    )
    race, text = _release_race(context)
    if race:
        evidence = [*answer.evidence, Evidence(text=text, key="verifier_overrun_s")]
        return fired(f"{answer.summary} {text}.", evidence, n=found.trials, population=POPULATION, notes=answer.notes)
    if answer.status == "fired":
        head = f"{found.by_type[0][0]} {found.by_type[0][1]:,} ({percent(found.by_type[0][1] / found.trials)})"
        others = found.count - found.by_type[0][1]
        summary = (
            f"{head}{f' and {others:,} others' if others else ''}: {percent(found.share, 2)} of {found.trials:,} "
            "trials."
        )
        notes = (*answer.notes, f"{text}.") if text else answer.notes
        return fired(summary, answer.evidence, n=found.trials, population=POPULATION, notes=notes)
    if answer.status == "clear" and text:
        return clear(answer.summary, answer.evidence, n=answer.n, population=POPULATION, notes=(f"{text}.",))
    return answer


def _release_race(context: RunContext) -> tuple[bool | None, str]:
    trials = context.trials
    late = int((trials["verifier_overrun_s"].astype("float64") > 0).sum())
    if not late or not len(trials):
        return None, ""
    share = late / len(trials)
    holds = late >= context.value("R20", "race_trials") and share >= context.value("R20", "race_share")
    return holds, f"In {plural(late, 'trial')} ({percent(share, 2)}) the verifier ended after the trial was released"


def _worst_tasks(context: RunContext) -> tuple[str, ...]:
    trials = context.trials
    faults = trials["task"][trials["exception_class"] == VERIFIER].value_counts()
    if faults.empty:
        return ()
    first = ", ".join(f"{task} ({count})" for task, count in faults.head(3).items())
    return (f"Such a fault in {plural(len(faults), 'task')}; most: {first}.",)


@rule(
    "R21",
    "vacuous-verifier",
    severity=HIGH,
    title="Reward without work",
    threshold="a task with ≥ {task_trials}, all solved, of which ≥ {suspicious_share} ended with an exception or "
    "took one turn; or the {top_tasks} with the largest gain hold > {top_share} of all gain (≥ {concentration_tasks} "
    "with ≥ {concentration_attempts} in the first and in the last third), and more than an equal gain of all tasks "
    "gives by chance",
    action="Read these trials; quarantine the tasks until their tests are known to test.",
    overturned_by="Transcripts that show the work was done.",
)
def vacuous_verifier(context: RunContext) -> Answer:
    """Tasks that pay without being solved: tests that pass vacuously, or a loophole the policy found.

    Reads rewards, exceptions and turns by task, and the gain of each task from the first to the last third of trials by
    end time. Needs tasks with enough trials. Proposals, after public cases of skipped tests counted as passed.
    """
    vacuous, evidence, n = _vacuous_tasks(context)
    concentrated, text = _concentration(context)
    if any_of(vacuous, concentrated):
        hits = [f"always solved without visible work: {plural(len(evidence), 'task')}"] if vacuous else []
        hits += [text] if concentrated else []
        return fired(f"{'; '.join(hits)}.", [*evidence, Evidence(text=text)], n=n, population="trials with a task")
    missing = [] if vacuous is not None else [f"tasks with {context.count('R21', 'task_trials')} trials"]
    missing += [] if concentrated is not None else [f"the gain by task: {text}"]
    if missing:
        return not_measurable(*missing, n=n, population="trials with a task")
    return clear(f"No task pays without work; {text}.", n=n, population="trials with a task")


def _vacuous_tasks(context: RunContext) -> tuple[bool | None, list[Evidence], int]:
    trials = context.trials
    odd = trials["exception_type"].notna() | (trials["n_turns"].fillna(0) == 1)
    solved, strange = counts_by_task(trials), counts_by_task(trials, hits=odd.to_numpy(dtype=bool))
    n = int(solved.trials.sum())
    shares = {"solved": solved.hits / solved.trials, "odd": strange.hits / solved.trials}
    tasks = pd.DataFrame({"trials": solved.trials, **shares}, index=pd.Index(solved.names, dtype=object))
    judged = tasks[tasks["trials"] >= context.count("R21", "task_trials")]
    if judged.empty:
        return None, [], n
    found = judged[(judged["solved"] == 1) & (judged["odd"] >= context.value("R21", "suspicious_share"))]
    evidence = [
        Evidence(
            text=f"{task}: {int(row['trials'])} of {int(row['trials'])} solved, {percent(float(row['odd']))} with "
            "an exception or one turn",
            key="task",
            value=float(row["odd"]),
        )
        for task, row in found.sort_values("trials", ascending=False).head(10).iterrows()
    ]
    return len(found) > 0, evidence, n


def _concentration(context: RunContext) -> tuple[bool | None, str]:
    known = context.trials[["task", "finished_at", "reward"]]
    known = known[known.notna().all(axis=1)].sort_values("finished_at", kind="stable")
    third = len(known) // 3
    if third == 0:
        return None, "no scored trials with a task and an end time"
    gains = task_gains(known.iloc[:third], known.iloc[-third:], attempts=context.count("R21", "concentration_attempts"))
    needed = context.count("R21", "concentration_tasks")
    tasks = plural(len(gains), "task")
    if len(gains) < needed:
        attempts = context.count("R21", "concentration_attempts")
        return None, f"{tasks} with {attempts} attempts in the first and in the last third, {needed} needed"
    if gains["gain"].sum() <= 0:
        return False, f"no net gain over {tasks}"
    top = context.count("R21", "top_tasks")
    share, chance = top_share(gains["gain"].to_numpy(), top), chance_of_top_share(gains, top)
    text = f"the {top} tasks with the largest gain hold {percent(share)} of it ({tasks}; chance alone up to "
    return share > max(context.value("R21", "top_share"), chance), f"{text}{percent(chance)})"


@rule(
    "R38",
    "trial-waste",
    severity=LOW,
    title="Trials that trained nothing",
    threshold="(trials − trained samples) ÷ trials > {waste_share}",
    action="Over-generation, resume losses and discarded groups are where to look.",
    overturned_by="Trial folders of other runs below the same root.",
)
def trial_waste(context: RunContext) -> Answer:
    """Trials run beyond the samples that were trained.

    Reads the number of training trials and `async/effective_batch_samples` (else `generate/batch_num_seq`) of every
    row. Needs the shared minimum of trials. The same against canonical samples stands beside. Threshold is a proposal.
    """
    trials, key = len(context.trials), context.all_steps.name_of(*SAMPLES)
    if trials < context.minimum_trials:
        return not_measurable(
            f"{context.minimum_trials} trial files; there are {trials}", n=trials, population=POPULATION
        )
    if key is None:
        return not_measurable("samples per step in the metric blocks", n=trials, population=POPULATION)
    column = context.all_steps.column(key)
    trained = float(column.sum())
    useful = float(column[context.all_steps.rows["canonical"].astype(bool)].sum())
    waste, useless = trials - trained, trials - useful
    text = (
        f"{trials:,} trials, {trained:,.0f} trained samples: {waste:,.0f} beyond ({percent(waste / trials)}); "
        f"beyond the canonical samples {useless:,.0f} ({percent(useless / trials)})"
    )
    evidence = [context.over_steps(text, key=key, value=waste / trials)]
    if waste < 0:
        missing = "trial files of all trained samples: there are fewer trials than samples"
        return not_measurable(missing, evidence=evidence, n=trials, population=POPULATION)
    make = fired if waste / trials > context.value("R38", "waste_share") else clear
    return make(f"{text}.", evidence, n=trials, population=POPULATION)
