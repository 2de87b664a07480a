"""R17, R18: errors of sandboxes and model service, in bursts or all the time."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.failures import Failures, failures_of
from rl_pipeline.analysis.findings.finding import LOW, MEDIUM, Answer, Evidence, clear, fired, not_measurable
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent
from rl_pipeline.schema import INFRASTRUCTURE
from rl_pipeline.wording import plural

BIN = "10min"
POPULATION = "training trials"
BINS_POPULATION = "ten-minute bins"
NO_CLOCK = "end times of trials"


@dataclass(frozen=True, slots=True)
class _Bins:
    """Infrastructure errors and trials per ten minutes, empty bins between the first and the last included."""

    errors: pd.Series[int]
    trials: pd.Series[int]


def _bins(context: RunContext) -> _Bins | None:
    trials = context.trials
    known = trials[trials["finished_at"].notna()]
    if known.empty or len(known) < 0.9 * len(trials):
        return None
    bins = pd.to_datetime(known["finished_at"]).dt.floor(BIN)
    span = pd.date_range(bins.min(), bins.max(), freq=BIN)
    failed = known["exception_class"] == INFRASTRUCTURE
    return _Bins(
        errors=bins[failed].value_counts().reindex(span, fill_value=0),
        trials=bins.value_counts().reindex(span, fill_value=0),
    )


@rule(
    "R17",
    "infrastructure-burst",
    severity=LOW,
    title="Burst of infrastructure errors",
    threshold="errors of sandbox or model service in ten minutes > {bin_ratio} × the median bin and ≥ {bin_events}",
    action="Note the window and leave it out of comparisons; a clustered authentication error passes by itself.",
    overturned_by="A burst that follows the number of trials.",
)
def infrastructure_burst(context: RunContext) -> Answer:
    """Errors of sandbox or model service that cluster in time.

    Reads class and end time of trial files, ten-minute bins on the hour; empty bins count as 0 for the median. Fewer
    errors in all than one burst needs is clear without any clock. Thresholds are proposals.
    """
    found = failures_of(context, INFRASTRUCTURE)
    needed = context.count("R17", "bin_events")
    evidence = _type_evidence(found)
    if found.trials < context.minimum_trials:
        return not_measurable(f"{context.minimum_trials} trials; there are {found.trials}", n=found.trials)
    if found.count < needed and not found.is_bound:
        errors = f"{plural(found.count, 'infrastructure error')} in {plural(found.trials, 'trial')}"
        text = f"{errors}, fewer than one burst needs."
        return clear(text, evidence, n=found.trials, population=POPULATION)
    bins = _bins(context)
    if bins is None:
        return not_measurable(NO_CLOCK, evidence=evidence, n=found.trials, population=POPULATION)
    median = float(bins.errors.median())
    bursts = bins.errors[(bins.errors > context.value("R17", "bin_ratio") * median) & (bins.errors >= needed)]
    n = len(bins.errors)
    if bursts.empty:
        text = f"Largest bin {int(bins.errors.max())} errors, median {number(median, 1)}."
        return clear(text, evidence, n=n, population=BINS_POPULATION)
    evidence += [
        Evidence(
            text=f"{start:%Y-%m-%d %H:%M}: {count} errors in {bins.trials[start]} trials",
            key="finished_at",
            value=float(count),
        )
        for start, count in bursts.sort_values(ascending=False).head(10).items()
        if isinstance(start, pd.Timestamp)
    ]
    text = (
        f"{len(bursts)} of {n} bins hold {int(bursts.sum())} of {int(bins.errors.sum())} errors (median bin "
        f"{number(median, 1)})."
    )
    return fired(text, evidence, n=n, population=BINS_POPULATION)


@rule(
    "R18",
    "infrastructure-errors",
    severity=MEDIUM,
    title="Steady infrastructure errors",
    threshold="more than {bins_share} of the ten-minute bins with ≥ {bin_trials} have errors in > {error_share} of "
    "trials",
    action="Look at sandbox quota, image and dependency drift; all trials failing alike is a problem of the container.",
    overturned_by="One broken image or task behind most of the errors.",
)
def infrastructure_errors(context: RunContext) -> Answer:
    """Errors of sandbox or model service that never stop.

    Reads class and end time of trial files, bins as in R17. Without clocks an overall share at or below the threshold
    is clear; above it, whether it is steady cannot be told. Thresholds are proposals.
    """
    found = failures_of(context, INFRASTRUCTURE)
    limit = context.value("R18", "error_share")
    evidence = _type_evidence(found)
    if found.share is None or found.trials < context.minimum_trials:
        return not_measurable(f"{context.minimum_trials} trials; there are {found.trials}", n=found.trials)
    overall = f"{found.count:,} of {found.trials:,} trials ({percent(found.share, 2)}) have an infrastructure error"
    bins = _bins(context)
    if bins is None:
        if found.share <= limit and not found.is_bound:
            return clear(f"{overall}.", evidence, n=found.trials, population=POPULATION, missing=(NO_CLOCK,))
        return not_measurable(NO_CLOCK, summary=f"{overall}.", evidence=evidence, n=found.trials)
    judged = bins.trials >= context.count("R18", "bin_trials")
    n = int(judged.sum())
    if n == 0:
        return not_measurable(
            f"ten minutes with {context.count('R18', 'bin_trials')} trials", evidence=evidence, n=found.trials
        )
    over = float(((bins.errors[judged] / bins.trials[judged]) > limit).mean())
    text = f"{overall}; {percent(over)} of {n} bins lie above {percent(limit)}."
    make = fired if over > context.value("R18", "bins_share") else clear
    return make(text, evidence, n=n, population=BINS_POPULATION)


def _type_evidence(found: Failures) -> list[Evidence]:
    return [Evidence(text=f"{found.text or 'none'} — {found.source}", key="exception_class", value=found.share)]
