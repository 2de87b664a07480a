"""R6–R9: entropy, gradient, divergence and importance ratios; what shows first when a policy breaks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.finding import HIGH, MEDIUM, Answer, Evidence, clear, fired, not_measurable
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent, steps_text
from rl_pipeline.analysis.outliers import robust_z
from rl_pipeline.wording import plural

ENTROPY = ("policy/policy_entropy", "policy/entropy")
GRADIENT = ("policy/raw_grad_norm", "policy/grad_norm")
UPDATES = "policy/policy_update_steps"
KL = ("policy/policy_kl", "loss/avg_kl", "reward/policy_ref_kl")
LOG_RATIO = ("policy/log_ratio_abs_mean",)
LOG_RATIO_MAX = ("policy/log_ratio_abs_max",)
POPULATION = "canonical steps"
START = 5
EDGE = 10


@rule(
    "R6",
    "entropy-collapse",
    severity=HIGH,
    title="Entropy collapse or burst",
    threshold="> {window_deviation} off the median of the {window_steps} before, in ≥ {consecutive_steps} in a row "
    "of a link; or below {floor_of_start} of the median of the first five steps",
    action="Look at gradient norm, KL and clip fraction of the same steps. Two signs in one step: stop, keep the "
    "last checkpoint before it, lower the learning rate or add an entropy term.",
    overturned_by="A deliberate change of temperature or entropy term at these steps, as in ablations of spike "
    "mitigation.",
)
def entropy_collapse(context: RunContext) -> Answer:
    """The policy's entropy leaves its own recent range, or falls to a fraction of where it began.

    Reads `policy/policy_entropy`. Needs so many steps that windows exist; the floor alone needs six. The deviation is
    from operating notes, the floor a proposal.
    """
    values = context.steps.column(*ENTROPY)
    n = int(values.notna().sum())
    if n == 0 or context.steps.is_structural_zero(values):
        return not_measurable(f"{ENTROPY[0]} with a value above print precision", n=n, population=POPULATION)
    known = values.dropna()
    start = float(known.iloc[:START].median())
    medians = context.steps.window_median(values)
    away = ((values - medians).abs() > context.value("R6", "window_deviation") * medians).where(medians > 0, False)
    runs = list(context.steps.runs(away.astype(bool), at_least=context.count("R6", "consecutive_steps")))
    floor = known[known < context.value("R6", "floor_of_start") * start] if n > START else known.iloc[:0]
    mean = float(known.mean())
    spread = f"CV {percent(float(known.std() / mean))}, " if mean else ""
    facts = f"entropy {number(known.min())}–{number(known.max())}, {spread}n = {n}"
    evidence = [context.over_steps(facts, key=ENTROPY[0], value=float(known.median()))]
    if not runs and floor.empty:
        if int(medians.notna().sum()) < context.count("R6", "consecutive_steps"):
            return not_measurable(
                "enough steps in one link for a window", evidence=evidence, n=n, population=POPULATION
            )
        return clear(f"Entropy stays in its range: {facts}.", evidence, n=n, population=POPULATION)
    evidence += [_run_evidence(context, rows, values, medians, ENTROPY[0]) for rows in runs]
    if len(floor):
        low = int(floor.index[0])
        evidence.append(
            context.at_step(f"{number(float(floor.iloc[0]))} against {number(start)} at the start", low, key=ENTROPY[0])
        )
    steps = sorted(
        {int(context.steps.steps[row]) for rows in runs for row in rows} | set(context.steps.steps[floor.index])
    )
    fell = bool(len(floor)) or bool((values[runs[0]] < medians[runs[0]]).all())
    return fired(
        f"Entropy {'falls out of' if fell else 'leaves'} its range at steps {steps_text(steps)}: {facts}; first "
        f"five steps {number(start)}, last {number(float(known.iloc[-1]))}.",
        evidence,
        n=n,
        population=POPULATION,
        title="Entropy collapse" if fell else "Entropy burst",
    )


def _run_evidence(
    context: RunContext, rows: pd.Index, values: pd.Series[float], medians: pd.Series[float], key: str
) -> Evidence:
    worst = int(np.argmax((values[rows] - medians[rows]).abs().to_numpy()))
    row = rows[worst]
    text = (
        f"{number(float(values[row]))} at step {context.steps.steps[row]}, window median {number(float(medians[row]))}"
    )
    return context.over_steps(text, rows, key=key, value=float(values[row]))


@rule(
    "R7",
    "gradient-spike",
    severity=MEDIUM,
    title="Gradient spike",
    threshold="> {absolute} and > {window_ratio} × the median of the {window_steps} before, or > {lone_ratio} × it, "
    "in ≥ {consecutive_steps} in a row of a link (below a median of {tiny_median} only the latter); vanished: median "
    "of the last ten < {vanish_ratio} of the first ten; a value that is not finite (one step with robust z > "
    "{note_z} is a note)",
    action="Look at the batch of these steps (length, reward, staleness), the learning rate and the clip limit.",
    overturned_by="A known change of loss scale or batch size at these steps.",
)
def gradient_spike(context: RunContext) -> Answer:
    """The gradient norm leaves its own recent range for more than one step, vanishes, or is not finite.

    Reads `policy/raw_grad_norm` (later `policy/grad_norm`). Needs so many steps that windows exist. A single step with
    a large robust z is a note: gradient norms have heavy tails. Thresholds from operating notes; sequence-normalised
    losses have norms near 1e-5, so their absolute part is left out.
    """
    values = context.steps.column(*GRADIENT)
    key = context.steps.name_of(*GRADIENT) or GRADIENT[0]
    broken = context.not_finite(*GRADIENT)
    if broken:
        return fired(
            f"The gradient norm is not a finite number in {plural(len(broken), 'step')}.",
            broken,
            n=len(context.steps),
            population=POPULATION,
            severity=HIGH,
            title="Gradient is not finite",
        )
    n = int(values.notna().sum())
    if n == 0 or context.steps.is_structural_zero(values):
        return not_measurable(f"{GRADIENT[0]} with a value above print precision", n=n, population=POPULATION)
    medians = context.steps.window_median(values)
    runs = list(
        context.steps.runs(_spikes(context, values, medians), at_least=context.count("R7", "consecutive_steps"))
    )
    vanished = _vanished(context, values)
    known = values.dropna()
    facts = f"median {number(float(known.median()), 4)}, largest {number(float(known.max()), 4)}, n = {n}"
    evidence = [context.over_steps(f"gradient norm: {facts}", key=key, value=float(known.max()))]
    if vanished:
        return fired(
            f"The gradient has vanished: {vanished}.", evidence, n=n, population=POPULATION, title="Gradient vanished"
        )
    if runs:
        evidence += [_run_evidence(context, rows, values, medians, key) for rows in runs]
        steps = [int(context.steps.steps[row]) for rows in runs for row in rows]
        lasting = int(known.index[-1]) in set(runs[-1])
        summary = f"Gradient norm far above its window at steps {steps_text(steps)}: {facts}."
        summary = f"{summary} It still stands there at the last step." if lasting else summary
        return fired(summary, evidence, n=n, population=POPULATION, severity=HIGH if lasting else MEDIUM)
    if int(medians.notna().sum()) < context.count("R7", "consecutive_steps"):
        return not_measurable("enough steps in one link for a window", evidence=evidence, n=n, population=POPULATION)
    return clear(
        f"No lasting spike: {facts}.", evidence, n=n, population=POPULATION, notes=_lone_spikes(context, known)
    )


def _spikes(context: RunContext, values: pd.Series[float], medians: pd.Series[float]) -> pd.Series[bool]:
    alone = values > context.value("R7", "lone_ratio") * medians
    both = (values > context.value("R7", "absolute")) & (values > context.value("R7", "window_ratio") * medians)
    tiny = float(values.median()) < context.value("R7", "tiny_median")
    return (alone if tiny else alone | both) & (medians > 0)


def _vanished(context: RunContext, values: pd.Series[float]) -> str:
    known = values[~context.steps.warmup].dropna()
    if len(known) < 2 * EDGE:
        return ""
    first, last = float(known.iloc[:EDGE].median()), float(known.iloc[-EDGE:].median())
    if last >= context.value("R7", "vanish_ratio") * first:
        return ""
    return f"median of the last ten steps {last:.3g}, of the first ten {first:.3g}"


def _lone_spikes(context: RunContext, known: pd.Series[float]) -> tuple[str, ...]:
    z, mean, spread = robust_z(known.to_numpy()), float(known.mean()), float(known.std())
    notes = []
    for place in np.flatnonzero(z > context.value("R7", "note_z")):
        step, value = context.steps.steps.loc[known.index].iloc[place], float(known.iloc[place])
        scores = f"z {number((value - mean) / spread if spread else None, 1)}, robust z {number(float(z[place]), 1)}"
        times = number(value / mean if mean else None, 1)
        notes.append(f"Step {step}: {number(value, 4)} = {times} × the mean ({scores}), one step only.")
    return tuple(notes)


@rule(
    "R8",
    "kl-blow-up",
    severity=HIGH,
    title="KL or log-ratio blow-up",
    threshold="KL: median of the last five steps > {kl_ratio} × the median of steps 3–12 and > {kl_absolute}; mean "
    "absolute log-ratio > {log_ratio_ratio} × its window's median and > {log_ratio_absolute} in ≥ "
    "{consecutive_steps} in a row",
    action="Check that weights reach the engines, token alignment between rollout and training, and the learning rate.",
    overturned_by="A reference model that was refreshed, or another precision of the engines at these steps.",
)
def kl_blow_up(context: RunContext) -> Answer:
    """The policy moves away from its reference, or from the policy that generated the data.

    Reads `policy/policy_kl` and `policy/log_ratio_abs_mean`. KL needs 13 steps, log-ratios a window. Zeros throughout
    (one update on freshly recomputed log-probabilities gives a ratio of 1) say nothing. The largest log-ratio alone
    never fires: 2–4.5 is ordinary. Sources disagree on the ordinary mean (.005–.02 and .06–.094), hence the own window.
    Thresholds from operating notes.
    """
    kl, kl_text, kl_evidence = _kl_part(context)
    ratio, ratio_text, ratio_evidence = _log_ratio_part(context)
    n = int(max(context.steps.column(*KL).notna().sum(), context.steps.column(*LOG_RATIO).notna().sum()))
    evidence = [*kl_evidence, *ratio_evidence]
    missing = [text for part, text in ((kl, kl_text), (ratio, ratio_text)) if part is None]
    if kl is None and ratio is None:
        return not_measurable(*missing, n=n, population=POPULATION, notes=_largest_log_ratio(context))
    summary = "; ".join(text for part, text in ((kl, kl_text), (ratio, ratio_text)) if part is not None) + "."
    if kl or ratio:
        return fired(summary, evidence, n=n, population=POPULATION, missing=missing)
    return clear(summary, evidence, n=n, population=POPULATION, missing=missing, notes=_largest_log_ratio(context))


def _kl_part(context: RunContext) -> tuple[bool | None, str, list[Evidence]]:
    values = context.steps.column(*KL)
    key = context.steps.name_of(*KL)
    if key is None:
        return None, "KL is not logged (policy/policy_kl)", []
    known = values.dropna()
    if context.steps.is_structural_zero(known):
        return None, f"{key} is 0 in every step", []
    if len(known) < 13:
        return None, f"13 steps with {key}; there are {len(known)}", []
    early, late = float(known.iloc[2:12].median()), float(known.iloc[-START:].median())
    holds = late > context.value("R8", "kl_ratio") * early and late > context.value("R8", "kl_absolute")
    text = f"KL median of the last five steps {number(late, 4)} nats, of steps 3–12 {number(early, 4)}"
    return holds, text, [context.over_steps(text, known.index[-START:], key=key, value=late)]


def _log_ratio_part(context: RunContext) -> tuple[bool | None, str, list[Evidence]]:
    values = context.steps.column(*LOG_RATIO)
    if values.notna().sum() == 0:
        return None, f"{LOG_RATIO[0]} is not logged", []
    if context.steps.is_structural_zero(values):
        once = bool((context.steps.column(UPDATES).dropna() == 1).all())
        why = " by construction: one update on freshly recomputed log-probabilities" if once else ""
        return None, f"{LOG_RATIO[0]} is 0 in every step{why}", []
    medians = context.steps.window_median(values)
    if medians.notna().sum() < context.count("R8", "consecutive_steps"):
        return None, f"enough steps in one link for a window of {LOG_RATIO[0]}", []
    high = (values > context.value("R8", "log_ratio_ratio") * medians) & (
        values > context.value("R8", "log_ratio_absolute")
    )
    runs = list(context.steps.runs(high, at_least=context.count("R8", "consecutive_steps")))
    evidence = [_run_evidence(context, rows, values, medians, LOG_RATIO[0]) for rows in runs]
    text = f"mean absolute log-ratio {number(float(values.min()), 4)}–{number(float(values.max()), 4)} nats"
    if runs:
        steps = steps_text(int(context.steps.steps[row]) for rows in runs for row in rows)
        return True, f"{text}, far above its window at steps {steps}", evidence
    return False, text, [context.over_steps(text, key=LOG_RATIO[0], value=float(values.median()))]


def _largest_log_ratio(context: RunContext) -> tuple[str, ...]:
    largest = context.steps.column(*LOG_RATIO_MAX).max()
    if pd.isna(largest) or largest == 0:
        return ()
    return (f"Largest absolute log-ratio {number(float(largest), 2)} nats; alone it decides nothing.",)
