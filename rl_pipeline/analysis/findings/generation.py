"""R1–R5: does generation keep up with training, and are the engines the reason?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rl_pipeline.analysis.engines import UNDER_FED, LoadReading, is_over_subscribed
from rl_pipeline.analysis.findings.context import STEP, WAIT, RunContext
from rl_pipeline.analysis.findings.finding import (
    HIGH,
    INFO,
    MEDIUM,
    Answer,
    Evidence,
    clear,
    fired,
    not_measurable,
)
from rl_pipeline.analysis.findings.logic import all_of, any_of
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent, signed
from rl_pipeline.analysis.thresholds import SHARED
from rl_pipeline.wording import plural

GENERATE, TRAINING = "timing/generate", "timing/run_training"
STEPS_POPULATION = "canonical steps"
LINES_POPULATION = "engine statistics lines"
NO_LINES = "statistics lines of the inference engines (they may go to another file)"


@rule(
    "R1",
    "generation-bound",
    severity=HIGH,
    title="Trainer waits for generation",
    threshold="wait ÷ step time, ratio of sums over canonical steps: ≥ {wait_share_warn} medium, ≥ {wait_share_high} "
    "high",
    action="Read the engine findings first; they say whether engines lack work, capacity or memory. Measure "
    "dispatch, sandbox duty cycle and trial duration before changing concurrency.",
    overturned_by="Timers that count something else as waiting (a save or weight sync inside the wait), or a run "
    "whose later steps no longer wait.",
)
def generation_bound(context: RunContext) -> Answer:
    """Share of step time in which the trainer waits for rollouts.

    Reads `timing/wait_for_generation_buffer` and `timing/step` of the canonical steps. Needs the shared minimum
    of steps. In synchronous runs generation stands in the step by design, so the share of `timing/generate`
    is told as a number only. Thresholds are proposals.
    """
    share, n = context.wait_share, _steps_with_wait(context)
    if share is None:
        return _no_wait(context)
    if n < context.minimum_steps:
        return not_measurable(f"{context.minimum_steps} steps with wait and step time; there are {n}", n=n)
    wait, step = context.steps.column(WAIT), context.steps.column(STEP)
    evidence = [context.over_steps(f"wait {wait.sum():,.0f} s of {step.sum():,.0f} s in steps", key=WAIT, value=share)]
    text = f"The trainer waits for rollouts in {percent(share)} of step time ({n} steps, ratio of sums)"
    if share < context.value("R1", "wait_share_warn"):
        return clear(f"{text}.", evidence, n=n, population=STEPS_POPULATION)
    ceiling = 1 / (1 - share) if share < 1 else float("inf")
    evidence += _wait_evidence(context, wait, step)
    severity = HIGH if share >= context.value("R1", "wait_share_high") else MEDIUM
    summary = f"{text}. Without any wait the run could be at most {number(ceiling, 2)} × faster. Cause not measured."
    return fired(summary, evidence, n=n, population=STEPS_POPULATION, severity=severity)


def _steps_with_wait(context: RunContext) -> int:
    return int((context.steps.column(WAIT).notna() & context.steps.column(STEP).notna()).sum())


def _no_wait(context: RunContext) -> Answer:
    generate, step = context.steps.column(GENERATE), context.steps.column(STEP)
    both = generate.notna() & step.notna()
    if not context.is_async and both.any() and step[both].sum() > 0:
        share = float(generate[both].sum() / step[both].sum())
        evidence = [context.over_steps(f"generation takes {percent(share)} of step time", key=GENERATE, value=share)]
        return not_measurable(
            f"a wait apart from generation: the run is synchronous, generation ({percent(share)} of step time) is "
            "in the step by design",
            evidence=evidence,
            n=int(both.sum()),
            population=STEPS_POPULATION,
        )
    return not_measurable(f"{WAIT} and {STEP} in the metric blocks")


def _wait_evidence(context: RunContext, wait: pd.Series[float], step: pd.Series[float]) -> list[Evidence]:
    found: list[Evidence] = []
    if len(wait.dropna()) > 2 and wait.std() > 0 and step.std() > 0:
        r = float(wait.corr(step))
        found.append(context.over_steps(f"wait and step time move together: r = {number(r, 3)}", key=WAIT, value=r))
    longest = int(np.nanargmax(wait.to_numpy()))
    at = context.steps.steps.iloc[longest]
    found.append(context.at_step(f"longest wait {wait.iloc[longest]:,.0f} s at step {at}", longest, key=WAIT))
    return found


@rule(
    "R2",
    "engines-under-fed",
    severity=HIGH,
    title="Engines under-fed",
    threshold="queue empty in ≥ {idle_queue_share} of lines, mean running ≤ {running_share} of max_num_seqs (else of "
    "the own 99th percentile), and R1 fired",
    action="Candidates, each with the measurement that decides: too few concurrent trials (n_concurrent_trials "
    "against trials in flight), dispatch processes bound by CPU (their CPU time), back-pressure of the staleness "
    "limit (buffer and staleness at its cap), long-tail trials (trial durations), tool time (duty cycle of "
    "sandboxes).",
    overturned_by="Running close to max_num_seqs where it is known, or engine lines of a part of the run that is not "
    "in these logs.",
)
def engines_under_fed(context: RunContext) -> Answer:
    """Engines have free capacity and no queue while the trainer waits.

    Reads `vllm_stats` (running, waiting) and R1. Needs the shared minimum of engine lines. Without engine lines it
    is clear when R1 is clear, since then it is false whatever the engines did. Thresholds are proposals.
    """
    load = context.engines.overall
    waits = _trainer_waits(context)
    enough = load.lines >= context.count(SHARED, "minimum_engine_lines")
    empty, share = (load.empty_queue_share, load.running_share) if enough else (None, None)
    idle = None if empty is None else empty >= context.value("R2", "idle_queue_share")
    low = None if share is None else share <= context.value("R2", "running_share")
    holds = all_of(waits, idle, low)
    evidence = _load_evidence(context)
    if holds is None:
        missing = NO_LINES if not enough else "the trainer's wait (R1)"
        return not_measurable(missing, evidence=evidence, n=load.lines, population=LINES_POPULATION)
    if not holds:
        text = "R1 did not fire." if waits is False else f"{_load_text(load)}.{_single_jobs(context)}"
        return clear(f"Engines are not under-fed: {text}", evidence, n=load.lines, population=LINES_POPULATION)
    return fired(
        f"Engines have room while the trainer waits: {_load_text(load)}. Cause not measured.",
        evidence,
        n=load.lines,
        population=LINES_POPULATION,
        missing=("GPU power and utilisation", "what holds requests back"),
        notes=_confidence_notes(load),
    )


def _single_jobs(context: RunContext) -> str:
    """Jobs that are under-fed by themselves where the whole run is not."""
    own = [
        f"{load.job} ({percent(load.running_share)} of capacity)"
        for load in context.engines.jobs
        if load.verdict == UNDER_FED
    ]
    return f" By itself under-fed: {', '.join(own)}; the rule judges all jobs together." if own else ""


def _trainer_waits(context: RunContext) -> bool | None:
    if context.wait_share is None or _steps_with_wait(context) < context.minimum_steps:
        return None
    return context.wait_share >= context.value("R1", "wait_share_warn")


def _load_text(load: LoadReading) -> str:
    if load.running_mean is None or load.capacity is None or load.running_share is None:
        return "no running requests printed"
    queue = f"queue empty in {percent(load.empty_queue_share)} of lines" if load.empty_queue_share is not None else ""
    parts = [
        f"running {number(load.running_mean, 1)} of {number(load.capacity, 0)} ({load.capacity_source}; "
        f"{percent(load.running_share)}; largest {number(load.running_max, 0)})",
        queue,
        f"KV cache {percent(load.kv_cache_mean)}" if load.kv_cache_mean is not None else "",
        f"{number(load.throughput_mean, 0)} of own peak {number(load.throughput_peak, 0)} tokens/s "
        f"({percent(load.throughput_share, 0)})"
        if load.throughput_mean is not None
        else "",
    ]
    return ", ".join(part for part in parts if part)


def _load_evidence(context: RunContext) -> list[Evidence]:
    found = []
    for load in context.engines.jobs:
        lines, engines = plural(load.lines, "line"), plural(load.engines, "engine")
        text = f"{lines} of {engines} ({percent(load.folded_share)} of lines folded away): "
        found.append(
            context.at_line(
                f"{text}{_load_text(load)}, waiting mean {number(load.waiting_mean, 2)}: {load.verdict}",
                load.job,
                load.first_line,
                key="running",
                value=load.running_mean,
            )
        )
    return found


def _confidence_notes(load: LoadReading) -> tuple[str, ...]:
    notes = []
    if load.capacity_source != "max_num_seqs":
        notes.append("max_num_seqs is not in the inputs; the own 99th percentile stands in for capacity.")
    if load.kv_cache_mean is not None and load.kv_cache_mean > 0.1:
        notes.append("The KV cache is not near 0, which lowers the confidence: requests are long.")
    notes.append("Sources disagree whether more concurrency helps; measure dispatch and back-pressure first.")
    return tuple(notes)


@rule(
    "R3",
    "engines-over-subscribed",
    severity=MEDIUM,
    title="Engines over-subscribed",
    threshold="median waiting ≥ median running, and throughput gained from the 10th to the 90th percentile of "
    "running < {flat_gain} of its median",
    action="Raise max_num_seqs or add engines together with concurrency, or lower concurrency.",
    overturned_by="Throughput that still rises with running requests.",
)
def engines_over_subscribed(context: RunContext) -> Answer:
    """More requests wait than run and more concurrency buys no throughput.

    Reads `vllm_stats` (running, waiting, generation throughput). Needs the shared minimum of engine lines. The slope
    is Theil–Sen's. Threshold from operating notes.
    """
    load = context.engines.overall
    if load.lines < context.count(SHARED, "minimum_engine_lines") or load.waiting_median is None:
        return not_measurable(NO_LINES, n=load.lines, population=LINES_POPULATION)
    holds = is_over_subscribed(
        {
            "waiting_median": load.waiting_median,
            "running_median": load.running_median,
            "throughput_gain": load.throughput_gain,
        },
        context.thresholds,
    )
    queue = f"median waiting {number(load.waiting_median, 1)}, median running {number(load.running_median, 1)}"
    gain = f"throughput gain {percent(load.throughput_gain)}" if load.throughput_gain is not None else ""
    evidence = _load_evidence(context)
    if holds is None:
        return not_measurable("generation throughput on the engine lines", evidence=evidence, n=load.lines)
    if not holds:
        return clear(f"No over-subscription: {queue}.", evidence, n=load.lines, population=LINES_POPULATION)
    return fired(f"Requests queue for nothing: {queue}, {gain}.", evidence, n=load.lines, population=LINES_POPULATION)


@rule(
    "R4",
    "kv-pressure",
    severity=MEDIUM,
    title="KV cache under pressure",
    threshold="KV cache ≥ {kv_full} with requests waiting in > {kv_full_lines} of lines, or preemptions in > "
    "{preemption_lines} of lines where they are printed",
    action="Give the KV cache more memory, shorten contexts, or run fewer sequences at once.",
    overturned_by="Preemption counters of the engines' metrics pages that stay at 0.",
)
def kv_pressure(context: RunContext) -> Answer:
    """The KV cache is full while requests wait, or requests are preempted.

    Reads `vllm_stats` (KV usage, waiting, preemptions). Needs the shared minimum of engine lines. Engines of current
    versions never print preemptions in these lines, so their absence is told and not read as zero. Thresholds are
    proposals.
    """
    load = context.engines.overall
    if load.lines < context.count(SHARED, "minimum_engine_lines"):
        return not_measurable(NO_LINES, n=load.lines, population=LINES_POPULATION)
    full = load.kv_full_share > context.value("R4", "kv_full_lines") if load.kv_full_share is not None else None
    preempted = (
        load.preemption_share > context.value("R4", "preemption_lines") if load.preemption_share is not None else None
    )
    evidence = _load_evidence(context)
    missing = () if preempted is not None else ("preemptions: no engine line prints them",)
    cache = f"full with requests waiting in {percent(load.kv_full_share)} of lines, peak {percent(load.kv_cache_max)}"
    counts = f"; preemptions in {percent(load.preemption_share)} of lines" if preempted is not None else ""
    if full is None and not preempted:
        return not_measurable("KV cache usage on the engine lines", *missing, evidence=evidence, n=load.lines)
    if any_of(full, preempted):
        summary = f"KV cache {cache}{counts}."
        return fired(summary, evidence, n=load.lines, population=LINES_POPULATION, missing=missing)
    summary = f"KV cache {cache}{counts or '; preemptions are not printed'}."
    return clear(summary, evidence, n=load.lines, population=LINES_POPULATION, missing=missing)


@rule(
    "R5",
    "training-bound",
    severity=INFO,
    title="Training is the limit",
    threshold="wait < {wait_share} and run_training > {training_share} of step time (ratios of sums)",
    action="More trainer GPUs, or fewer engines; a sawtooth of running requests is harmless here.",
    overturned_by="Steps in which the trainer waits again.",
)
def training_bound(context: RunContext) -> Answer:
    """Generation is off the critical path and training fills the step.

    Reads `timing/wait_for_generation_buffer`, `timing/run_training` and `timing/step`. Needs the shared minimum of
    steps. Buffer and staleness are notes. Thresholds are proposals.
    """
    training, step = context.steps.column(TRAINING), context.steps.column(STEP)
    both = training.notna() & step.notna()
    n = int(both.sum())
    share = float(training[both].sum() / step[both].sum()) if n and step[both].sum() > 0 else None
    enough = n >= context.minimum_steps
    trains = share > context.value("R5", "training_share") if share is not None and enough else None
    waits = context.wait_share < context.value("R5", "wait_share") if context.wait_share is not None else None
    holds = all_of(trains, waits)
    evidence = [context.over_steps(f"run_training {percent(share)} of step time", key=TRAINING, value=share)]
    wait_text = "wait not logged" if context.wait_share is None else f"wait {percent(context.wait_share)}"
    if holds is None:
        missing = TRAINING if share is None else WAIT if waits is None else f"{context.minimum_steps} steps"
        return not_measurable(missing, evidence=evidence if n else (), n=n, population=STEPS_POPULATION)
    summary = f"run_training takes {percent(share)} of step time, {wait_text}."
    if not holds:
        return clear(summary, evidence, n=n, population=STEPS_POPULATION)
    return fired(summary, evidence, n=n, population=STEPS_POPULATION, notes=_buffer_notes(context))


def _buffer_notes(context: RunContext) -> tuple[str, ...]:
    staleness = context.steps.column("async/staleness_mean").dropna()
    return (f"Mean staleness {signed(staleness.mean(), 2).lstrip('+')} policy versions.",) if len(staleness) else ()
