"""R22–R24, R40: saves, host memory, silence, and the spread of load over engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from rl_pipeline.analysis.findings.context import STEP, RunContext
from rl_pipeline.analysis.findings.finding import (
    CRITICAL,
    LOW,
    MEDIUM,
    Answer,
    Evidence,
    clear,
    fired,
    not_measurable,
)
from rl_pipeline.analysis.findings.rulebook import rule
from rl_pipeline.analysis.findings.wording import number, percent, significant
from rl_pipeline.analysis.trends import trend

SAVES = {"save_checkpoints": "checkpoint saves", "save_hf_model": "model exports"}
RSS, USED, TOTAL = "system/process_rss_gb", "system/ram_used_gb", "system/ram_total_gb"
TRAINER_EVENTS = ("checkpoint_saving", "checkpoint_saved", "export_saved", "step_marker", "end")


@rule(
    "R22",
    "checkpoint-overhead",
    severity=LOW,
    title="Saves cost time",
    threshold="saves ÷ accounted wall time > {wall_share}, or one save > {outlier_ratio} × the median of ≥ "
    "{outlier_saves}; exports of the model are judged apart by the same numbers",
    action="Look at the storage at that time; save asynchronously, or less often.",
    overturned_by="A save that waited for something else, such as a slow clean-up.",
)
def checkpoint_overhead(context: RunContext) -> Answer:
    """Time spent on checkpoints and exports, and single saves that hang.

    Reads `timing/save_checkpoints` and `timing/save_hf_model` of every row; accounted wall time is the steps and the
    spans beside them. An outlier needs enough saves for a median. Thresholds are proposals.
    """
    wall = context.time.accounted_seconds
    columns = {name: context.all_steps.column(f"timing/{name}").dropna() for name in SAVES}
    columns = {name: values[values > 0] for name, values in columns.items()}
    n = sum(len(values) for values in columns.values())
    if not wall:
        return not_measurable(f"{STEP} in the metric blocks", population="saves")
    if n == 0:
        return not_measurable("timing/save_checkpoints: no save is logged", population="saves")
    evidence: list[Evidence] = []
    hits: list[str] = []
    for name, values in columns.items():
        if len(values):
            text = (
                f"{len(values)} {SAVES[name]}: {number(float(values.sum()), 1)} s = "
                f"{percent(float(values.sum()) / wall, 2)}"
            )
            share = float(values.sum()) / wall
            evidence.append(context.over_steps(f"{text} of accounted wall time", key=f"timing/{name}", value=share))
            hits += [f"{text} of accounted wall time"] if share > context.value("R22", "wall_share") else []
            hits += _outlying_saves(context, name, values, evidence)
    summary = f"{'; '.join(hits)}." if hits else f"{evidence[0].text}."
    make = fired if hits else clear
    return make(summary, evidence, n=n, population="saves")


def _outlying_saves(context: RunContext, name: str, values: pd.Series[float], evidence: list[Evidence]) -> list[str]:
    if len(values) < context.count("R22", "outlier_saves"):
        return []
    median, mean = float(values.median()), float(values.mean())
    texts = []
    large = values[values > context.value("R22", "outlier_ratio") * median]
    for row, seconds in zip(large.index.astype(int), large, strict=True):
        step = context.all_steps.steps.iloc[row]
        text = (
            f"the save at step {step} took {number(float(seconds), 1)} s, {number(float(seconds) / mean, 0)} × the "
            f"mean and {number(float(seconds) / median, 0)} × the median"
        )
        evidence.append(context.at_step(text, row, key=f"timing/{name}", series=context.all_steps))
        texts.append(text)
    return texts


@rule(
    "R23",
    "host-memory-growth",
    severity=MEDIUM,
    title="Host memory grows towards its limit",
    threshold="within a link of ≥ {link_steps}: Theil–Sen slope > 0, Mann–Kendall p < {p_value}, and projected to "
    "the planned end of the link (else twice its length) above {limit_share} of the host's memory",
    action="Hunt the leak on the driver's host; plan a restart before the projected step.",
    overturned_by="A plateau in later steps.",
)
def host_memory_growth(context: RunContext) -> Answer:
    """The driver's memory rises by step and would reach the host's limit inside the job.

    Reads `system/process_rss_gb` (else `system/ram_used_gb`) and `system/ram_total_gb` (GiB, driver's host only). The
    projection adds the growth of the process to what the host uses. Thresholds are proposals.
    """
    key = context.all_steps.name_of(RSS, USED)
    minimum = context.count("R23", "link_steps")
    if key is None:
        return not_measurable(f"{RSS} in the metric blocks", population="links")
    links = [found for found in (_memory(context, key, rows) for _, _, rows in context.all_steps.links()) if found]
    if not links:
        return not_measurable(f"a link of {minimum} steps with {key}", population="links")
    evidence = [found.evidence for found in links]
    n = sum(found.n for found in links)
    worst = max(links, key=lambda found: found.projected_share or 0.0)
    limit = context.value("R23", "limit_share")
    growing = [found for found in links if found.grows]
    if any(found.projected_share is not None and found.projected_share > limit for found in growing):
        return fired(f"{worst.evidence.text}.", evidence, n=n, population="steps with host memory")
    if any(found.projected_share is None for found in growing):
        return not_measurable(f"{TOTAL}: memory grows, but the host's limit is not logged", evidence=evidence, n=n)
    return clear(
        f"No growth towards the limit: {worst.evidence.text}.", evidence, n=n, population="steps with host memory"
    )


@dataclass(frozen=True, slots=True)
class _Memory:
    n: int
    grows: bool
    projected_share: float | None
    evidence: Evidence


def _memory(context: RunContext, key: str, rows: pd.Index) -> _Memory | None:
    frame = context.all_steps.rows.loc[rows]
    known = frame[frame[key].notna()]
    if len(known) < context.count("R23", "link_steps"):
        return None
    steps = known["global_step"].astype("float64").to_numpy()
    found = trend(known[key].to_numpy(), steps)
    slope, p = found.slope.value or 0.0, found.test.p_value
    grows = slope > 0 and p is not None and p < context.value("R23", "p_value")
    total = known[TOTAL].dropna() if TOTAL in known else pd.Series(dtype="float64")
    used = known[USED].dropna() if USED in known else known[key]
    ahead = _steps_ahead(context, int(steps[0]), int(steps[-1]))
    now = float(used.iloc[-1]) if len(used) else float(known[key].iloc[-1])
    share = (now + slope * ahead) / float(total.iloc[-1]) if len(total) and total.iloc[-1] > 0 else None
    job = str(known["job"].iloc[0])
    text = (
        f"{job}: {key} {number(float(known[key].iloc[0]), 1)} → {number(float(known[key].iloc[-1]), 1)} GiB, "
        f"{number(slope, 3)} GiB per step (p = {significant(p)})"
    )
    text += f", projected {percent(share)} of the host in {ahead:.0f} steps" if share is not None and grows else ""
    return _Memory(
        n=len(known),
        grows=grows,
        projected_share=share,
        evidence=Evidence(
            text=text,
            job=job,
            file=context.file_of(job),
            line=int(known["line"].iloc[0]),
            step_range=(int(steps[0]), int(steps[-1])),
            key=key,
            value=slope,
        ),
    )


def _steps_ahead(context: RunContext, first: int, last: int) -> float:
    """Steps to the planned end, at most as many as the link has made (a job ends before that)."""
    events = context.frames.job_events
    planned = events[(events["kind"] == "planned_steps") & events["value"].notna()]
    made = float(last - first + 1)
    if planned.empty:
        return made
    return max(0.0, min(made, float(planned["value"].iloc[-1]) - last))


@rule(
    "R24",
    "stall",
    severity=CRITICAL,
    title="Training stands still",
    threshold="silence of the trainer > {silence_ratio} × the median step time and > the {silence_percentile} "
    "quantile of the job's own intervals between blocks",
    action="Capture stacks of trainer and engines while they live. Nothing is stopped by this finding; a person "
    "decides.",
    overturned_by="A new block, or a save or evaluation that is known to take so long.",
)
def stall(context: RunContext) -> Answer:
    """No step for far longer than a step takes.

    Reads the time of the last block, of the trainer's timers and of its saves against the last line of the log
    (finished jobs), or against the time of looking (running ones). Lines of engines and rollouts prove that these live,
    not that the policy moves. Needs clocks and the shared minimum of steps in the job. Ratio from operating notes.
    """
    silences = [found for found in (_silence(context, job) for job in context.jobs_by_name) if found]
    if not silences:
        return not_measurable("times of the metric blocks and of the end of the log", population="jobs")
    n = len(silences)
    evidence = [found.evidence for found in silences]
    stalled = [found for found in silences if found.stalled]
    if stalled:
        worst = max(stalled, key=lambda found: found.seconds)
        return fired(f"{worst.evidence.text}.", evidence, n=n, population="jobs with clocks")
    blind = [job for job, row in context.jobs_by_name.items() if row["end_state"] == "running" and context.now is None]
    if blind:
        return not_measurable(f"the time of looking, for {', '.join(blind)}, which runs", evidence=evidence, n=n)
    longest = max(silences, key=lambda found: found.seconds)
    return clear(f"No stall: {longest.evidence.text}.", evidence, n=n, population="jobs with clocks")


@dataclass(frozen=True, slots=True)
class _Silence:
    seconds: float
    stalled: bool
    evidence: Evidence


def _silence(context: RunContext, job: str) -> _Silence | None:
    row = context.jobs_by_name[job]
    steps = context.all_steps.rows
    own = steps[(steps["job"] == job) & steps["logged_at"].notna()]
    if len(own) < context.minimum_steps:
        return None
    blocks = pd.to_datetime(own["logged_at"])
    running = row["end_state"] == "running"
    until = context.now if running and context.now is not None else _moment(row["last_logged_at"])
    ended = _end_of_training(context, job)
    until = ended if ended is not None and not running else until
    if until is None:
        return None
    alive = max([blocks.max().to_pydatetime(), *_signs_of_life(context, job, until)])
    seconds = (until - alive).total_seconds()
    intervals = blocks.sort_values().diff().dropna().dt.total_seconds()
    median = float(own[STEP].median()) if STEP in own and own[STEP].notna().any() else float(intervals.median())
    limit = max(
        context.value("R24", "silence_ratio") * median,
        float(intervals.quantile(context.value("R24", "silence_percentile"))),
    )
    last = own.iloc[int(np.argmax(blocks.to_numpy()))]
    text = (
        f"{job}: {number(seconds, 0)} s of silence after step {int(last['global_step'])}, median step "
        f"{number(median, 0)} s, limit {number(limit, 0)} s"
    )
    return _Silence(seconds, seconds > limit, context.at_line(text, job, last["line"], key=STEP, value=seconds))


def _moment(value: object) -> datetime | None:
    return None if value is None or pd.isna(value) else pd.Timestamp(value).to_pydatetime()  # type: ignore[arg-type, call-overload]


def _end_of_training(context: RunContext, job: str) -> datetime | None:
    events = context.frames.job_events
    ends = events[(events["job"] == job) & (events["kind"] == "end") & events["logged_at"].notna()]
    return _moment(ends["logged_at"].iloc[-1]) if len(ends) else None


def _signs_of_life(context: RunContext, job: str, until: datetime) -> Iterator[datetime]:
    """Times at which the trainer itself did something, not later than `until`."""
    timers = context.frames.phase_timings
    own = timers[
        (timers["job"] == job) & timers["started_at"].notna() & (timers["name"] != "wait_for_generation_buffer")
    ]
    done = own["started_at"] + pd.to_timedelta(own["seconds"].astype("float64").fillna(0.0), unit="s")
    events = context.frames.job_events
    kept = events[(events["job"] == job) & events["kind"].isin(TRAINER_EVENTS) & events["logged_at"].notna()]
    for times in (done, kept["logged_at"]):
        past = times[times <= until]
        if len(past):
            yield past.max().to_pydatetime()


@rule(
    "R40",
    "engine-imbalance",
    severity=LOW,
    title="Engines unevenly loaded",
    threshold="ten-minute means of engines with ≥ {bin_lines}: largest ÷ smallest > {imbalance} in ≥ "
    "{consecutive_bins} in a row with the same engine at the same end; not judged when > {folded_share} of lines are "
    "folded away",
    action="Look at the router and at the node of the odd engine.",
    overturned_by="Engines of different size.",
)
def engine_imbalance(context: RunContext) -> Answer:
    """One engine does much more, or much less, than the others for more than ten minutes.

    Reads running requests and generation throughput per (job, pid, ip). That the same engine stands at the same end in
    all bins tells a fault from chance. Thresholds are proposals.
    """
    found = context.engines.imbalance
    if not found.measurable:
        return not_measurable(found.reason, n=context.engines.overall.lines, population="engine statistics lines")
    n, population = found.bins, "ten-minute bins of jobs"
    run = found.longest_run
    uneven = f"{len({(bin_.job, bin_.started_at) for bin_ in found.uneven})} of {n} bins uneven"
    if len(run) < context.count("R40", "consecutive_bins"):
        return clear(f"No lasting imbalance: {uneven}.", n=n, population=population)
    evidence = [
        Evidence(
            text=f"{bin_.started_at:%Y-%m-%d %H:%M}: {bin_.quantity} {number(bin_.lowest, 1)} on "
            f"{bin_.lowest_engine}, {number(bin_.highest, 1)} on {bin_.highest_engine} ({number(bin_.ratio, 1)} ×)",
            job=bin_.job,
            file=context.file_of(bin_.job),
            key="running" if bin_.quantity.startswith("running") else "generation_throughput",
            value=bin_.ratio,
        )
        for bin_ in run
    ]
    summary = (
        f"{run[0].quantity.capitalize()} differ by more than {number(context.value('R40', 'imbalance'), 1)} × for "
        f"{10 * len(run)} min; {uneven}."
    )
    return fired(summary, evidence, n=n, population=population)
