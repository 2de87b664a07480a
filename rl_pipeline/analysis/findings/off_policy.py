"""R9–R11: how far the trained policy is from the one that generated, whether that is corrected, what is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.finding import MEDIUM, Answer, Evidence, clear, fired, not_measurable
from rl_pipeline.analysis.findings.logic import all_of, any_of
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent
from rl_pipeline.wording import plural

CLIP = ("policy/ppo_clip_ratio", "policy/loss_metrics/clip_ratio")
UPDATES = "policy/policy_update_steps"
RATIO = (
    "tis/imp_ratio_mean",
    "policy/tis/imp_ratio_mean",
    "policy/loss_metrics/is_ratio_mean",
    "policy/is_ratio_mean",
)
CAPPED_ENDINGS = ("capped_fraction", "clip_high_ratio", "lcs_fallback_fraction")
CORRECTION_PREFIXES = ("tis/", "policy/tis/")
CORRECTION_WORDS = ("is_ratio_", "tis_")
CAP_SETTINGS = ("max_staleness_steps", "max_staleness", "staleness_limit")
POPULATION = "canonical steps"
EDGE = 10


@rule(
    "R9",
    "importance-ratio",
    severity=MEDIUM,
    title="Clip fraction or importance ratio out of range",
    threshold="means of the last ten steps: clip fraction > {clip_fraction}; importance ratio outside "
    "{ratio_low}–{ratio_high} and > {ratio_change} off the run's own first ten; capped or fallback fraction > "
    "{capped_fraction}",
    action="Compare learning rate and clip limit; check that rollout and training log-probabilities belong to the "
    "same tokens.",
    overturned_by="The same values in a smoke run of the same model that is known to be sound (one showed .79).",
)
def importance_ratio(context: RunContext) -> Answer:
    """Too many tokens are clipped or capped, or the mean importance ratio is off.

    Reads clip fraction, importance ratio (`tis/*`, `is_ratio_*`) and capped or fallback fractions; means over the last
    ten steps that have them. Needs ten steps. A clip fraction of 0 throughout with one update per batch is 0 by
    construction and says nothing. Ranges from operating notes.
    """
    parts = [_clip_part(context), _ratio_part(context), *_capped_parts(context)]
    known = [part for part in parts if part[0] is not None]
    missing = [text for holds, text, _ in parts if holds is None]
    n = int(max((context.steps.column(key).notna().sum() for _, _, key in parts), default=0))
    if not known:
        return not_measurable(*missing, n=n, population=POPULATION)
    evidence = [_last_rows(context, text, key) for _, text, key in known]
    if any_of(*(holds for holds, _, _ in known)):
        summary = "; ".join(text for holds, text, _ in known if holds)
        return fired(f"Out of range: {summary}.", evidence, n=n, population=POPULATION, missing=missing)
    summary = "; ".join(text for _, text, _ in known)
    return clear(f"In range: {summary}.", evidence, n=n, population=POPULATION, missing=missing)


Part = tuple[bool | None, str, str]


def _last_rows(context: RunContext, text: str, key: str) -> Evidence:
    rows = context.steps.column(key).dropna().index[-EDGE:]
    return context.over_steps(text, rows, key=key, value=_late_mean(context.steps.column(key)))


def _late_mean(values: pd.Series[float]) -> float | None:
    known = values.dropna()
    return float(known.iloc[-EDGE:].mean()) if len(known) >= EDGE else None


def _clip_part(context: RunContext) -> Part:
    key = context.steps.name_of(*CLIP)
    if key is None:
        return None, f"clip fraction ({CLIP[0]})", CLIP[0]
    values = context.steps.column(key)
    updates = context.steps.column(UPDATES).dropna()
    if context.steps.is_structural_zero(values) and not (len(updates) and (updates > 1).all()):
        return None, f"{key} is 0 in every step: one update per batch clips nothing", key
    late = _late_mean(values)
    if late is None:
        return None, f"{EDGE} steps with {key}", key
    return late > context.value("R9", "clip_fraction"), f"clip fraction {percent(late, 2)}", key


def _ratio_part(context: RunContext) -> Part:
    key = context.steps.name_of(*RATIO)
    if key is None or context.steps.is_structural_zero(context.steps.column(key)):
        return None, "importance ratio (tis/imp_ratio_mean or is_ratio_mean)", key or RATIO[0]
    values = context.steps.column(key).dropna()
    late = _late_mean(values)
    if late is None:
        return None, f"{EDGE} steps with {key}", key
    early = float(values.iloc[:EDGE].mean())
    outside = not context.value("R9", "ratio_low") <= late <= context.value("R9", "ratio_high")
    moved = abs(late - early) > context.value("R9", "ratio_change") * abs(early)
    return outside and moved, f"importance ratio {number(late)}, first ten steps {number(early)}", key


def _capped_parts(context: RunContext) -> list[Part]:
    corrected = bool(correction_names(context))
    parts: list[Part] = []
    for key in context.steps.names:
        if not key.endswith(CAPPED_ENDINGS):
            continue
        values = context.steps.column(key)
        late = _late_mean(values)
        if late is None or (context.steps.is_structural_zero(values) and not corrected):
            parts.append((None, f"{EDGE} steps with {key} above 0", key))
        else:
            parts.append((late > context.value("R9", "capped_fraction"), f"{key} {percent(late, 2)}", key))
    return parts


def correction_names(context: RunContext) -> tuple[str, ...]:
    """Metrics that show an importance correction at work: logged, and not 0 throughout."""
    found = []
    for name in context.steps.names:
        last = name.rsplit("/", 1)[-1]
        if name.startswith(CORRECTION_PREFIXES) or last.startswith(CORRECTION_WORDS):
            values = context.steps.column(name).dropna()
            if len(values) and (values != 0).any():
                found.append(name)
    return tuple(found)


@rule(
    "R10",
    "stale-without-correction",
    severity=MEDIUM,
    title="Stale data without importance correction",
    threshold="mean staleness ≥ {staleness_mean}, or the largest at its configured cap in ≥ {capped_steps} of steps "
    "with a mean ≥ {capped_mean}; and no importance-correction metric",
    action="Turn on importance correction (truncated importance sampling), or lower the staleness cap; watch "
    "effective sample size and gradient norm.",
    overturned_by="A correction that is configured but not logged.",
)
def stale_without_correction(context: RunContext) -> Answer:
    """Training uses data of older policies and nothing shows that the loss corrects for it.

    Reads `async/staleness_{mean,max,ratio}` and the names of correction metrics (`tis/*`, `policy/tis/*`,
    `is_ratio_*`, `tis_*`) with values other than 0. Needs the shared minimum of steps. A synchronous run has no
    staleness and is clear. Threshold after arXiv 2602.17616.
    """
    mean = context.steps.column("async/staleness_mean").dropna()
    if len(mean) == 0:
        return _no_staleness(context)
    if len(mean) < context.minimum_steps:
        return not_measurable(f"{context.minimum_steps} steps with staleness; there are {len(mean)}", n=len(mean))
    level = float(mean.mean())
    stale, text, evidence = _stale(context, level)
    corrections = correction_names(context)
    text = f"Mean staleness {number(level, 2)} policy versions, {text}"
    if corrections:
        return clear(
            f"{text}; correction at work: {', '.join(corrections[:3])}.", evidence, n=len(mean), population=POPULATION
        )
    if not stale:
        return clear(f"{text}.", evidence, n=len(mean), population=POPULATION)
    summary = f"{text}; no importance-correction metric (tis/*, is_ratio_*) is logged."
    return fired(summary, evidence, n=len(mean), population=POPULATION)


def _no_staleness(context: RunContext) -> Answer:
    if context.is_async or len(context.steps) == 0:
        return not_measurable("async/staleness_mean in the metric blocks")
    return clear("A synchronous run: data are of the current policy.", n=len(context.steps), population=POPULATION)


def _stale(context: RunContext, level: float) -> tuple[bool, str, list[Evidence]]:
    largest = context.steps.column("async/staleness_max").dropna()
    share = context.steps.column("async/staleness_ratio").dropna()
    parts = []
    evidence = [context.over_steps(f"mean staleness {number(level, 2)}", key="async/staleness_mean", value=level)]
    if len(largest):
        parts.append(f"largest {number(float(largest.max()), 0)}")
    if len(share):
        parts.append(f"{percent(float(share.mean()))} of groups stale")
    cap = context.setting(*CAP_SETTINGS)
    at_cap = None
    if cap is not None and len(largest):
        capped = float((largest >= cap[0]).mean())
        parts.append(f"at its cap of {number(cap[0], 0)} in {percent(capped)} of steps")
        evidence.append(cap[1])
        at_cap = all_of(capped >= context.value("R10", "capped_steps"), level >= context.value("R10", "capped_mean"))
    high = level >= context.value("R10", "staleness_mean")
    return bool(high or at_cap), ", ".join(parts), evidence


@rule(
    "R11",
    "groups-dropped",
    severity=MEDIUM,
    title="Groups generated and dropped",
    threshold="dropped ÷ (kept + dropped) groups over the run, or the mean of the steps' shares > {dropped_share}",
    action="Look at the reasons: a staleness cap below what generation needs, or filters of the data.",
    overturned_by="Filters that drop groups on purpose (dynamic sampling).",
)
def groups_dropped(context: RunContext) -> Answer:
    """Rollout work that never reaches the loss.

    Reads `async/discarded_count` with `async/effective_batch_groups`; else `async/keep_rate` or `async/discard_rate`,
    which tell each step's share and not of how many; and `async/rejected_count/*`. Needs the shared minimum of steps.
    Threshold is a proposal.
    """
    found = _counted(context) if context.steps.name_of("async/discarded_count") else _rated(context)
    if isinstance(found, _Missing):
        return not_measurable(found.what, n=found.n, population=POPULATION)
    evidence = [context.over_steps(found.text, key=found.key, value=found.share), *_reject_reasons(context)]
    make = fired if found.share > context.value("R11", "dropped_share") else clear
    return make(f"{found.text}.", evidence, n=found.n, population=found.population)


class _Dropped(NamedTuple):
    share: float
    text: str
    key: str
    n: int
    population: str


class _Missing(NamedTuple):
    what: str
    n: int  # steps that have it


def _counted(context: RunContext) -> _Dropped | _Missing:
    """Groups of all steps together; or what is missing to count them."""
    key = "async/discarded_count"
    dropped, kept = context.steps.column(key), context.steps.column("async/effective_batch_groups")
    both = (dropped >= 0) & (kept >= 0)  # what is below 0 is no count
    if both.sum() < context.minimum_steps:
        return _Missing("counts of dropped and kept groups", int(both.sum()))
    lost, whole = float(dropped[both].sum()), float((dropped + kept)[both].sum())
    if not whole:
        return _Missing("a step with a dropped or kept group", 0)
    text = f"{lost:,.0f} of {whole:,.0f} groups dropped ({percent(lost / whole)})"
    return _Dropped(lost / whole, text, key, round(whole), "generated groups")


def _rated(context: RunContext) -> _Dropped | _Missing:
    """The mean of the steps' shares, where they are logged without the number of groups; or what is missing."""
    key = "async/keep_rate" if context.steps.name_of("async/keep_rate") else "async/discard_rate"
    rate = context.steps.column(key)
    rate = rate[(rate >= 0) & (rate <= 1)]  # what lies beyond is no share
    if len(rate) < context.minimum_steps:
        if not context.is_async and len(context.steps):
            return _Missing("counts of dropped groups (a synchronous run does not log them)", len(rate))
        return _Missing("counts of dropped and kept groups", len(rate))
    share = float((1 - rate if key == "async/keep_rate" else rate).mean())
    count = context.steps.column("async/num_groups_dropped")
    count = count[count >= 0]
    in_all = f", {count.sum():,.0f} in all" if len(count) else ""
    text = f"{percent(share)} of a step's groups dropped, mean of {plural(len(rate), 'step')}{in_all}"
    return _Dropped(share, text, key, len(rate), POPULATION)


def _reject_reasons(context: RunContext) -> Sequence[Evidence]:
    found = []
    for name in context.steps.prefixed("async/rejected_count/"):
        count = float(context.steps.column(name).sum())
        if count:
            text = f"{count:,.0f} rejected: {name.rsplit('/', 1)[-1]}"
            found.append(context.over_steps(text, key=name, value=count))
    return found
