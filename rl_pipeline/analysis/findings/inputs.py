"""R31, R32, R34, R35, R39: what the inputs cannot tell, and what they should not hold."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rl_pipeline.analysis.findings.context import RunContext
from rl_pipeline.analysis.findings.finding import CRITICAL, INFO, Answer, Evidence, clear, fired, not_measurable
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent
from rl_pipeline.metric_catalog import missing_keys, recognised_form
from rl_pipeline.schema import BELOW_RESOLUTION, CONSOLE, PARTIAL
from rl_pipeline.wording import plural

LEARNING_RATE = "policy/policy_lr"
LEARNING_RATE_SETTINGS = ("lr", "learning_rate")
PRINT_STEP = 1e-4
NEAR_RESOLUTION = 10 * PRINT_STEP
ROUNDING = 1e-12  # what sums that are 0 leave in floating point
SHOWN = 8


@rule(
    "R31",
    "precision-underflow",
    severity=INFO,
    title="Values below print precision",
    threshold="a value printed as 0.0000 while another source (mirror line, jsonl, configuration, or the same metric "
    "in other steps, within ten print steps of 0) is not 0",
    action="Read the full-precision source; never chart the printed zeros.",
    overturned_by="A metric that is truly 0 in these steps.",
)
def precision_underflow(context: RunContext) -> Answer:
    """Numbers that four printed decimals destroy.

    Reads the state of every logged value, full-precision sources of the same step, the configured learning rate, and
    other steps of the same metric that stand just above print precision. Needs one such value. Without a second source
    a printed zero stays what its state says. No threshold but the print step of 1e-4.
    """
    printed = context.frames.step_metrics
    zeros = printed[(printed["source"] == CONSOLE) & (printed["state"] == BELOW_RESOLUTION)]
    n, population = len(printed), "logged values"
    if n == 0:
        return not_measurable("a metric block", population=population)
    if zeros.empty:
        return clear("No value is printed as 0.0000.", n=n, population=population)
    evidence = [
        *_against_precise_sources(context, zeros),
        *_learning_rate(context, zeros),
        *_near_resolution(context, zeros),
    ]
    if not evidence:
        return clear("No second source contradicts a printed 0.0000.", n=n, population=population)
    names = list(dict.fromkeys(item.key for item in evidence if item.key))
    shown = f"{', '.join(names[:SHOWN])}{f' and {len(names) - SHOWN} more' if len(names) > SHOWN else ''}"
    return fired(f"Printed as 0.0000 but not 0: {shown}.", evidence, n=n, population=population)


def _against_precise_sources(context: RunContext, zeros: pd.DataFrame) -> list[Evidence]:
    table = context.frames.step_metrics
    precise = table[(table["source"] != CONSOLE) & (table["value"].fillna(0.0).abs() > ROUNDING)]
    both = zeros.merge(precise, on=["job", "global_step", "metric"], suffixes=("", "_precise"))
    found = []
    for metric, part in both.groupby("metric", sort=False):
        row = part.iloc[0]
        text = (
            f"{metric}: {len(part)} printed zeros, e.g. {float(row['value_precise']):.4g} in the "
            f"{row['source_precise']} source"
        )
        value = float(row["value_precise"])
        found.append(context.at_line(text, row["job"], row["line"], key=str(metric), value=value))
    return found


def _learning_rate(context: RunContext, zeros: pd.DataFrame) -> list[Evidence]:
    printed = zeros[zeros["metric"] == LEARNING_RATE]
    setting = context.setting(*LEARNING_RATE_SETTINGS)
    if printed.empty or setting is None or setting[0] == 0:
        return []
    value, evidence = setting
    row = printed.iloc[0]
    text = f"{LEARNING_RATE}: {len(printed)} printed zeros; {evidence.text}"
    return [context.at_line(text, row["job"], row["line"], key=LEARNING_RATE, value=value)]


def _near_resolution(context: RunContext, zeros: pd.DataFrame) -> list[Evidence]:
    table = context.frames.step_metrics
    known = table[
        (table["source"] == CONSOLE) & table["metric"].isin(zeros["metric"].unique()) & table["value"].notna()
    ]
    largest = known.assign(size=known["value"].abs()).groupby("metric", sort=False)["size"].max()
    counts = zeros["metric"].value_counts()
    found = []
    for metric, size in zip(largest.index.astype(str), largest, strict=True):
        total = int((known["metric"] == metric).sum())
        if 0 < size <= NEAR_RESOLUTION and counts[metric] >= total / 2:
            row = zeros[zeros["metric"] == metric].iloc[0]
            text = f"{metric}: 0.0000 in {counts[metric]} of {total} values, the others at most {size:.4f}"
            found.append(context.at_line(text, row["job"], row["line"], key=metric, value=float(size)))
    return found


@rule(
    "R32",
    "never-logged",
    severity=INFO,
    title="Expected metrics that are absent",
    threshold="an expected key of the recognised form of log is absent in every step",
    action="Turn the metric on, or read the absence as the setting it shows.",
    overturned_by="A logger that writes the metric elsewhere.",
)
def never_logged(context: RunContext) -> Answer:
    """Metrics this kind of run usually logs and this one does not.

    Reads the names of all logged metrics against those that the recognised form of trainer is expected to log (in the
    metric catalogue, under any of their names). Needs one step. By definition, no threshold.
    """
    names = {str(name) for name in context.frames.step_metrics["metric"].unique()}
    n, population = len(names), "metric names"
    form = recognised_form(names)
    if not len(context.steps) or form is None:
        return not_measurable("a training block of a known form of trainer", n=n, population=population)
    absent = [key.replace("{*}", "*") for key in missing_keys(names, form)]
    if not absent:
        return clear(f"Every expected metric of the form {form} is logged.", n=n, population=population)
    evidence = [Evidence(text=f"{key} (expected in the form {form}) is in no block", key=key) for key in absent]
    return fired(f"Never logged: {', '.join(absent)}. Absent is not 0.", evidence, n=n, population=population)


@rule(
    "R34",
    "log-coverage",
    severity=INFO,
    title="The log shows only part of the trials",
    threshold="instances in batch lines ÷ trials that ended in the logs' time < {coverage} (a folded line counts once)",
    action="Count trials from their files; set RAY_DEDUP_LOGS=0 for the next run.",
    overturned_by="Trial folders of other runs below the same root.",
)
def log_coverage(context: RunContext) -> Answer:
    """How many of the trials the log's batch lines account for.

    Reads instances of batch lines and training trials (those attributed to a job, else all). Needs the shared minimum
    of trials. Ray folds alike lines, and what a hidden line said is unknown. Threshold is a proposal.
    """
    coverage = context.populations.coverage
    attributed = context.trials["job"].notna()
    trials = int(attributed.sum()) if attributed.any() else len(context.trials)
    if context.batches.empty:
        return not_measurable("batch completion lines in the logs", n=trials, population="training trials")
    if trials < context.minimum_trials:
        return not_measurable(f"{context.minimum_trials} trial files; there are {trials}", n=trials)
    logged = coverage.logged + coverage.unbooked
    share = logged / trials
    where = "that ended in the logs' time" if attributed.any() else "in all (no clocks)"
    text = f"batch lines hold {plural(logged, 'instance')}, {percent(share)} of {trials:,} trials {where}"
    evidence = [Evidence(text=text, key="rollout_batches", value=share), *_coverage_evidence(context)]
    make = fired if share < context.value("R34", "coverage") else clear
    booked = f"; {coverage.logged:,} of them in steps with a metric block" if coverage.unbooked else ""
    return make(f"{text[0].upper()}{text[1:]}{booked}.", evidence, n=trials, population="training trials")


def _coverage_evidence(context: RunContext) -> list[Evidence]:
    coverage, found = context.populations.coverage, []
    if coverage.unbooked and coverage.logged_of_trials is not None:
        text = f"{coverage.logged:,} of them in steps with a metric block ({percent(coverage.logged_of_trials)} of all "
        value = coverage.logged_of_trials
        found.append(Evidence(text=f"{text}{coverage.trials:,} trials)", key="rollout_batches", value=value))
    hidden = int((context.batches["total"] * (context.batches["repeat_count"] - 1)).sum())
    if hidden:
        found.append(Evidence(text=f"{plural(hidden, 'more instance')} in folded lines, contents unknown"))
    if coverage.trained:
        text = f"{coverage.trained:,} samples trained; lines of these steps hold {percent(coverage.logged_of_trained)}"
        found.append(Evidence(text=text, key="async/effective_batch_samples", value=coverage.logged_of_trained))
    return found


@rule(
    "R35",
    "log-damaged",
    severity=INFO,
    title="A log is cut or damaged",
    threshold="the last block incomplete, the file ends in mid-line, or runs of NUL or undecodable bytes",
    action="Fetch the log again.",
    overturned_by="A job that still writes.",
)
def log_damaged(context: RunContext) -> Answer:
    """Whether each log could be read to its end.

    Reads what the reader met: cut tail, NUL and undecodable bytes, early stop, and the last metric block. A missing end
    marker alone is the job's end state, not damage. Needs one log. By definition, no threshold.
    """
    jobs = context.frames.jobs
    if jobs.empty:
        return not_measurable("a job log", population="job logs")
    evidence = [item for _, row in jobs.iterrows() for item in _damage(context, row)]
    n = len(jobs)
    if not evidence:
        return clear("The log is whole." if n == 1 else f"{n} logs are whole.", n=n, population="job logs")
    names = list(dict.fromkeys(item.job for item in evidence if item.job))
    return fired(
        f"{len(names)} of {n} logs are cut or damaged: {', '.join(names)}.", evidence, n=n, population="job logs"
    )


def _damage(context: RunContext, row: pd.Series[Any]) -> list[Evidence]:
    job, running = str(row["job"]), row["end_state"] == "running"
    found = []
    if bool(row["cut_tail"]) and not running:
        found.append((f"{job}: the last line has no end", row["lines"]))
    for name, words in (("nul_bytes", "NUL bytes"), ("undecodable_bytes", "bytes that are not UTF-8")):
        count = 0 if pd.isna(row[name]) else int(row[name])
        found += [(f"{job}: {count:,} {words}", None)] if count else []
    if isinstance(row["read_error"], str) and row["read_error"]:
        found.append((f"{job}: reading stopped early ({row['read_error']})", row["lines"]))
    line = _cut_block(context, job)
    if line is not None and not running:
        found.append((f"{job}: the last metric block is incomplete", line))
    return [context.at_line(text, job, at) for text, at in found]


def _cut_block(context: RunContext, job: str) -> int | None:
    blocks = context.frames.step_metrics
    own = blocks[blocks["job"] == job]
    if own.empty:
        return None
    last = own.sort_values("line", kind="stable").iloc[-1]
    return int(last["line"]) if last["kind"] == PARTIAL else None


@rule(
    "R39",
    "secrets",
    severity=CRITICAL,
    title="Secrets in logs or trial files",
    threshold="any credential",
    action="Rotate the credential and remove it from the files; only its kind and place are kept here.",
    overturned_by="A token that was never valid.",
)
def secrets(context: RunContext) -> Answer:
    """Credentials that were found, and redacted before anything was stored.

    Reads the events and counters of the redaction: kind, file and line, never the text. Needs one log or trial file. By
    definition, no threshold.
    """
    events = context.frames.job_events
    logged = events[events["kind"] == "secret"]
    in_trials = context.frames.trials[context.frames.trials["secrets_redacted"].fillna(0) > 0]
    n = len(context.frames.jobs) + len(context.frames.trials)
    if n == 0:
        return not_measurable("a log or trial file", population="files")
    if logged.empty and in_trials.empty:
        return clear(f"None found in {plural(n, 'file')}.", n=n, population="files")
    evidence = [
        context.at_line(
            f"{row['name']} ({number(row['value'], 0)} ×) in {row['job']}", row["job"], row["line"], key="secret"
        )
        for _, row in logged.iterrows()
    ]
    evidence += [
        Evidence(text=f"{int(row['secrets_redacted'])} in trial {row['trial']}", file=str(row["path"]), key="secret")
        for _, row in in_trials.head(20).iterrows()
    ]
    count = int(logged["value"].fillna(1).sum()) + int(in_trials["secrets_redacted"].sum())
    summary = (
        f"{count} credentials in {logged['job'].nunique()} logs and {len(in_trials)} trial files, redacted in all "
        "outputs."
    )
    return fired(summary, evidence, n=n, population="files")
